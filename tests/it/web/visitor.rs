//! Makes the calls of a visitor's browser: sessions, messages and streams.

use std::time::Duration;

use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use seven::onboard;
use seven_settings::Worker;
pub(crate) use seven_testkit::sse::Frame;
use seven_testkit::sse::Unread;
use tokio::time::timeout;
use uuid::Uuid;

use crate::harness::{House, Wanted, house};

/// A page of the casino's website.
pub(crate) const PAGE: &str = "https://www.birch.example";
/// Maximum time that a test waits for a frame.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts a fleet with two each of gate, swarm, envelope and sender, and with two web gateways.
pub(crate) async fn with_gateways(name: &str, extra: &str) -> House {
    with_gateways_at(name, extra, 0.0).await
}

/// Like [`with_gateways`], but at this time scale; with 1.0, all waits have their full length.
pub(crate) async fn with_gateways_at(name: &str, extra: &str, scale: f64) -> House {
    let workers = [
        &Worker::ALL[..],
        &[
            Worker::ComplianceGate,
            Worker::AgentSwarm,
            Worker::PersonaEnvelope,
            Worker::OutboundSender,
        ],
    ]
    .concat();
    let wanted = Wanted {
        workers,
        scale,
        extra: format!("web.casino = \"silver_birch\"\n{extra}"),
        ..Wanted::default()
    };
    let mut house = house(name, wanted).await;
    birch(&mut house).await;
    for _ in 0..2 {
        house.stack.spawn(Worker::WebGateway, None).await.unwrap();
    }
    house
}

/// Adds the website of [`PAGE`] to the casino's document.
pub(crate) async fn birch(house: &mut House) {
    house.config.operational.web_domains = vec!["www.birch.example".to_owned()];
    onboard::add_casino(&house.stack.fleet, &house.config, "test")
        .await
        .unwrap();
}

/// An open stream; comments and `retry` lines are skipped.
#[derive(Debug)]
pub(crate) struct Streaming {
    response: Response,
    unread: Unread,
    /// All bytes that the socket delivered, including comments.
    bytes: String,
}

impl Streaming {
    pub(crate) async fn open(request: RequestBuilder) -> Self {
        let response = request
            .header("accept", "text/event-stream")
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self {
            response,
            unread: Unread::default(),
            bytes: String::new(),
        }
    }

    /// Returns the next frame; `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = self.unread.frame() {
                return Some(frame);
            }
            let chunk = timeout(PATIENCE, self.response.chunk()).await.unwrap();
            let chunk = chunk.ok().flatten()?;
            self.bytes.push_str(&String::from_utf8_lossy(&chunk));
            self.unread.push(&chunk);
        }
    }

    /// Reads until all bytes received so far contain `wanted`. [`Self::next`] still returns the
    /// frames that are read on the way.
    pub(crate) async fn until_bytes(&mut self, wanted: &str) {
        while !self.bytes.contains(wanted) {
            let chunk = timeout(PATIENCE, self.response.chunk()).await.unwrap();
            let chunk = chunk.unwrap().expect("the stream goes on");
            self.bytes.push_str(&String::from_utf8_lossy(&chunk));
            self.unread.push(&chunk);
        }
    }

    pub(crate) fn bytes(&self) -> &str {
        &self.bytes
    }

    pub(crate) async fn all(mut self) -> Vec<Frame> {
        let mut frames = Vec::new();
        while let Some(frame) = self.next().await {
            frames.push(frame);
        }
        frames
    }

    /// Reads until a frame of this kind, and returns the frames up to it.
    pub(crate) async fn until(&mut self, event: &str) -> Vec<Frame> {
        let mut frames = Vec::new();
        while frames
            .last()
            .is_none_or(|frame: &Frame| frame.event != event)
        {
            frames.push(self.next().await.unwrap());
        }
        frames
    }
}

pub(crate) fn events(frames: &[Frame]) -> Vec<&str> {
    let mut events: Vec<&str> = frames.iter().map(|frame| frame.event.as_str()).collect();
    events.dedup();
    events
}

/// Joins the contents of the `token` frames.
pub(crate) fn joined(frames: &[Frame]) -> String {
    let tokens = frames.iter().filter(|frame| frame.event == "token");
    tokens
        .map(|frame| frame.data["content"].as_str().unwrap())
        .collect()
}

/// A visitor's browser with the token of its session.
#[derive(Debug, Clone)]
pub(crate) struct Visitor {
    pub(crate) client: Client,
    pub(crate) token: String,
}

impl Visitor {
    pub(crate) async fn new(gateway: &str) -> Self {
        let client = Client::new();
        let response = init(&client, gateway, Some(PAGE), "silver_birch").await;
        assert_eq!(response.status(), StatusCode::OK);
        let begun: Value = response.json().await.unwrap();
        Self {
            client,
            token: begun["token"].as_str().unwrap().to_owned(),
        }
    }

    fn call(&self, request: RequestBuilder) -> RequestBuilder {
        request.bearer_auth(&self.token).header("origin", PAGE)
    }

    /// Sends a message and returns the stream of its answer.
    pub(crate) async fn ask(&self, gateway: &str, message: &str, id: Uuid) -> Streaming {
        Streaming::open(self.say(gateway, message, id)).await
    }

    pub(crate) fn say(&self, gateway: &str, message: &str, id: Uuid) -> RequestBuilder {
        let body = json!({ "message": message, "message_id": id });
        let url = format!("{gateway}/api/v1/chat/stream");
        self.call(self.client.post(url).json(&body))
    }

    /// Opens the session's stream. With `after`, the stream begins after the frame that has this
    /// id.
    pub(crate) async fn listen(&self, gateway: &str, after: Option<&str>) -> Streaming {
        let mut call = self.call(self.client.get(format!("{gateway}/api/v1/chat/stream")));
        if let Some(after) = after {
            call = call.header("last-event-id", after);
        }
        Streaming::open(call).await
    }

    pub(crate) async fn history(&self, gateway: &str) -> Value {
        let call = self.client.get(format!("{gateway}/api/v1/chat/history"));
        self.call(call).send().await.unwrap().json().await.unwrap()
    }

    pub(crate) async fn ack(&self, gateway: &str, seq: i64) -> Value {
        let call = self.client.post(format!("{gateway}/api/v1/chat/ack"));
        let call = self.call(call.json(&json!({ "seq": seq })));
        call.send().await.unwrap().json().await.unwrap()
    }
}

pub(crate) async fn init(
    client: &Client,
    gateway: &str,
    origin: Option<&str>,
    casino: &str,
) -> Response {
    let mut call = client
        .post(format!("{gateway}/api/v1/chat/init"))
        .json(&json!({ "tenant_id": casino }));
    if let Some(origin) = origin {
        call = call.header("origin", origin);
    }
    call.send().await.unwrap()
}

//! A stand-in, over real HTTP, for the services that notify people of alerts: Slack's webhooks and
//! PagerDuty's Events API v2. It refuses what these services refuse, fails on demand, and keeps the
//! bodies that it accepts.
//!
//! ```no_run
//! # async fn demo() -> anyhow::Result<()> {
//! use seven_testkit::pagers::{Fault, Pagers, Side};
//!
//! let pagers = Pagers::start().await?;
//! pagers.fail(Side::Slack, Fault::Status(500), 2);
//! // ... point settings at pagers.slack_url() and pagers.pagerduty_url(), raise an alert ...
//! assert_eq!(pagers.taken(Side::Slack).len(), 1);
//! # Ok(())
//! # }
//! ```

use std::{
    collections::VecDeque,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::{Context, Result};
use axum::{
    Json, Router,
    body::Bytes,
    extract::State,
    http::{StatusCode, header::RETRY_AFTER},
    response::{IntoResponse, Response},
    routing::post,
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};

/// The only routing key that the PagerDuty side accepts.
pub const ROUTING_KEY: &str = "0123456789abcdef0123456789abcdef";
const SLACK_PATH: &str = "/services/T00000000/B00000000/secret";

/// The service that a request is meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// `POST /services/...`
    Slack,
    /// `POST /v2/enqueue`
    PagerDuty,
}

/// A fault that the double applies to one request. Only with `Slow` is the request accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Answers with this status and the service's usual error body.
    Status(u16),
    /// Answers 429 with `Retry-After` in seconds.
    Throttled(u64),
    /// Never answers.
    Silence,
    /// Accepts the request after this many milliseconds.
    Slow(u64),
}

/// A running double of both services; dropping it stops it.
#[derive(Debug)]
pub struct Pagers {
    address: SocketAddr,
    desk: Arc<Mutex<[Inbox; 2]>>,
    serving: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Inbox {
    faults: VecDeque<Fault>,
    requests: usize,
    taken: Vec<Value>,
}

type Desks = Arc<Mutex<[Inbox; 2]>>;

impl Pagers {
    /// Starts listening on a free port of 127.0.0.1.
    pub async fn start() -> Result<Self> {
        Self::start_at((Ipv4Addr::LOCALHOST, 0).into()).await
    }

    /// Starts at a given address, such as that of a double that was stopped.
    pub async fn start_at(address: SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind(address)
            .await
            .context("binding the pagers' double")?;
        let address = listener.local_addr().context("reading the double's port")?;
        let desk = Desks::default();
        let app = Router::new()
            .route(
                SLACK_PATH,
                post(|desk, body| answer(Side::Slack, desk, body)),
            )
            .route(
                "/v2/enqueue",
                post(|desk, body| answer(Side::PagerDuty, desk, body)),
            )
            .with_state(Arc::clone(&desk));
        let serving = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, app).await {
                tracing::error!(%error, "the pagers' double ended");
            }
        });
        Ok(Self {
            address,
            desk,
            serving,
        })
    }

    /// Returns the address on which the double listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL to use in place of Slack's incoming webhook.
    #[must_use]
    pub fn slack_url(&self) -> String {
        format!("http://{}{SLACK_PATH}", self.address)
    }

    /// Returns the URL to use in place of `https://events.pagerduty.com/v2/enqueue`.
    #[must_use]
    pub fn pagerduty_url(&self) -> String {
        format!("http://{}/v2/enqueue", self.address)
    }

    /// Makes the next `times` requests to this side fail, after the faults already queued.
    pub fn fail(&self, side: Side, fault: Fault, times: usize) {
        lock(&self.desk)[side as usize]
            .faults
            .extend(std::iter::repeat_n(fault, times));
    }

    /// Returns the bodies that this side accepted, oldest first.
    #[must_use]
    pub fn taken(&self, side: Side) -> Vec<Value> {
        lock(&self.desk)[side as usize].taken.clone()
    }

    /// Returns the number of requests to this side, including failed ones.
    #[must_use]
    pub fn requests(&self, side: Side) -> usize {
        lock(&self.desk)[side as usize].requests
    }
}

impl Drop for Pagers {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn lock(desk: &Desks) -> MutexGuard<'_, [Inbox; 2]> {
    desk.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn answer(side: Side, State(desk): State<Desks>, body: Bytes) -> Response {
    let fault = {
        let mut desks = lock(&desk);
        desks[side as usize].requests += 1;
        desks[side as usize].faults.pop_front()
    };
    match fault {
        Some(Fault::Silence) => return std::future::pending().await,
        Some(Fault::Status(status)) => return refusal(side, status, "as told"),
        Some(Fault::Throttled(seconds)) => {
            let mut response = refusal(side, 429, "throttle exceeded");
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
            return response;
        }
        Some(Fault::Slow(millis)) => tokio::time::sleep(Duration::from_millis(millis)).await,
        None => {}
    }
    let Ok(body) = serde_json::from_slice::<Value>(&body) else {
        return refusal(side, 400, "invalid_payload");
    };
    let objection = match side {
        Side::Slack => slack_objects(&body),
        Side::PagerDuty => pagerduty_objects(&body),
    };
    if let Some(objection) = objection {
        return refusal(side, 400, objection);
    }
    let key = body["dedup_key"].clone();
    lock(&desk)[side as usize].taken.push(body);
    match side {
        Side::Slack => "ok".into_response(),
        Side::PagerDuty => {
            let taken =
                json!({ "status": "success", "message": "Event processed", "dedup_key": key });
            (StatusCode::ACCEPTED, Json(taken)).into_response()
        }
    }
}

/// Builds an error answer: plain words from Slack, an object from PagerDuty.
fn refusal(side: Side, status: u16, why: &str) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    match side {
        Side::Slack => (status, why.to_owned()).into_response(),
        Side::PagerDuty => {
            let body = json!({
                "status": "invalid event",
                "message": "Event object is invalid",
                "errors": [why],
            });
            (status, Json(body)).into_response()
        }
    }
}

fn slack_objects(body: &Value) -> Option<&'static str> {
    let text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    if !text(&body["text"]) {
        return Some("no_text");
    }
    let blocks = body["blocks"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let odd = blocks.iter().any(|block| match block["type"].as_str() {
        Some("section") => {
            !text(&block["text"]["text"])
                || block["text"]["text"]
                    .as_str()
                    .is_some_and(|t| t.chars().count() > 3_000)
        }
        Some("header") => {
            block["text"]["type"] != "plain_text"
                || !text(&block["text"]["text"])
                || block["text"]["text"]
                    .as_str()
                    .is_some_and(|t| t.chars().count() > 150)
        }
        Some("actions") => block["elements"].as_array().is_none_or(|all| {
            let is_button = |one: &Value| {
                one["type"] == "button"
                    && one["text"]["type"] == "plain_text"
                    && one["text"]["text"]
                        .as_str()
                        .is_some_and(|t| (1..=75).contains(&t.chars().count()))
                    && one["url"].as_str().is_some_and(|url| url.len() <= 3_000)
            };
            all.is_empty() || !all.iter().all(is_button)
        }),
        Some("context") => block["elements"].as_array().is_none_or(Vec::is_empty),
        _ => true,
    });
    odd.then_some("invalid_blocks")
}

fn pagerduty_objects(body: &Value) -> Option<&'static str> {
    if body["routing_key"] != ROUTING_KEY {
        return Some("'routing_key' is missing or invalid");
    }
    let key = body["dedup_key"].as_str();
    if key.is_some_and(|key| key.chars().count() > 255) {
        return Some("'dedup_key' is longer than 255 characters");
    }
    match body["event_action"].as_str() {
        Some("acknowledge" | "resolve") if key.is_none() => Some("'dedup_key' is missing or blank"),
        Some("acknowledge" | "resolve") => None,
        Some("trigger") => {
            let payload = &body["payload"];
            let blank = |field: &str| payload[field].as_str().is_none_or(str::is_empty);
            if blank("summary") || blank("source") {
                return Some("'payload.summary' or 'payload.source' is missing or blank");
            }
            if payload["summary"]
                .as_str()
                .is_some_and(|summary| summary.chars().count() > 1_024)
            {
                return Some("'payload.summary' is longer than 1024 characters");
            }
            let known = ["critical", "error", "warning", "info"];
            let severity = payload["severity"]
                .as_str()
                .is_some_and(|severity| known.contains(&severity));
            (!severity).then_some("'payload.severity' is missing or invalid")
        }
        _ => Some("'event_action' is missing or invalid"),
    }
}

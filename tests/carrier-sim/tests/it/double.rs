//! A double of the fleet: a webhook that records calls and gives scripted answers, and a client for
//! sends.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode, Uri},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use ed25519_dalek::{Signature, VerifyingKey};
use serde_json::{Value, json};
use seven_carrier_sim::{Settings, Sim};
use tokio::{net::TcpListener, sync::Notify, task::AbortHandle};

pub(crate) const KEY: &str = "KEY-for-tests";
pub(crate) const GUEST: &str = "+18605550142";
pub(crate) const CASINO: &str = "+18605550100";
const CALL_TIMEOUT: Duration = Duration::from_secs(10);

/// A webhook call as the double received it.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) path: String,
    pub(crate) timestamp: String,
    pub(crate) signature: Option<String>,
    pub(crate) raw: Vec<u8>,
    pub(crate) body: Value,
}

/// The webhook's answer to its next call; 200 when the script is empty.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Answer {
    Status(u16),
    Slow(Duration),
}

#[derive(Debug, Default)]
struct Shared {
    calls: Mutex<Vec<Call>>,
    script: Mutex<VecDeque<Answer>>,
    came: Notify,
}

#[derive(Debug)]
pub(crate) struct Fleet {
    pub(crate) url: String,
    shared: Arc<Shared>,
    server: AbortHandle,
}

/// A simulator and the fleet's double that it calls.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) sim: Sim,
    pub(crate) fleet: Fleet,
    pub(crate) http: reqwest::Client,
}

// === impl Call ===

impl Call {
    pub(crate) fn verifies(&self, public_key_b64: &str) -> bool {
        let key: [u8; 32] = STANDARD.decode(public_key_b64).unwrap().try_into().unwrap();
        let signature = STANDARD
            .decode(self.signature.as_deref().unwrap_or_default())
            .unwrap();
        let Ok(signature) = Signature::from_slice(&signature) else {
            return false;
        };
        let message = [self.timestamp.as_bytes(), b"|", &self.raw].concat();
        VerifyingKey::from_bytes(&key)
            .unwrap()
            .verify_strict(&message, &signature)
            .is_ok()
    }

    pub(crate) fn event_type(&self) -> &str {
        self.body["data"]["event_type"].as_str().unwrap()
    }
}

// === impl Fleet ===

impl Fleet {
    async fn start() -> Self {
        let shared = Arc::new(Shared::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/webhooks/telnyx", listener.local_addr().unwrap());
        let app = Router::new().fallback(receive).with_state(shared.clone());
        let server =
            tokio::spawn(async move { axum::serve(listener, app).await.unwrap() }).abort_handle();
        Self {
            url,
            shared,
            server,
        }
    }

    pub(crate) fn will_answer(&self, answers: impl IntoIterator<Item = Answer>) {
        self.shared.script.lock().unwrap().extend(answers);
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.shared.calls.lock().unwrap().clone()
    }

    /// Waits for `count` calls and returns them.
    pub(crate) async fn await_calls(&self, count: usize) -> Vec<Call> {
        tokio::time::timeout(CALL_TIMEOUT, async {
            loop {
                let came = self.shared.came.notified();
                let calls = self.calls();
                if calls.len() >= count {
                    return calls;
                }
                came.await;
            }
        })
        .await
        .unwrap_or_else(|_| panic!("{count} calls expected, came: {:#?}", self.calls()))
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn receive(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    raw: Bytes,
) -> StatusCode {
    let header = |name: &str| {
        headers
            .get(name)
            .map(|value| value.to_str().unwrap().to_owned())
    };
    shared.calls.lock().unwrap().push(Call {
        path: uri.to_string(),
        timestamp: header("telnyx-timestamp").unwrap(),
        signature: header("telnyx-signature-ed25519"),
        raw: raw.to_vec(),
        body: serde_json::from_slice(&raw).unwrap_or(Value::Null),
    });
    shared.came.notify_waiters();
    let answer = shared.script.lock().unwrap().pop_front();
    match answer {
        None => StatusCode::OK,
        Some(Answer::Status(status)) => StatusCode::from_u16(status).unwrap(),
        Some(Answer::Slow(time)) => {
            tokio::time::sleep(time).await;
            StatusCode::OK
        }
    }
}

// === impl World ===

impl World {
    pub(crate) async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    /// Starts a world in which waits take a hundredth of their time and webhooks have 150 ms to
    /// acknowledge a call.
    pub(crate) async fn start_with(change: impl FnOnce(&mut Settings)) -> Self {
        let fleet = Fleet::start().await;
        let mut settings = Settings::new(fleet.url.clone(), KEY, [9; 32]);
        settings.ack_deadline = Duration::from_millis(150);
        settings.time_scale = 0.01;
        settings.casino_number = CASINO.to_owned();
        change(&mut settings);
        let sim = seven_carrier_sim::start(settings).await.unwrap();
        Self {
            sim,
            fleet,
            http: reqwest::Client::builder().no_proxy().build().unwrap(),
        }
    }

    fn at(&self, path: &str) -> String {
        format!("{}{path}", self.sim.url())
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        let response = self
            .http
            .get(self.at(path))
            .bearer_auth(KEY)
            .send()
            .await
            .unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let response = self
            .http
            .post(self.at(path))
            .bearer_auth(KEY)
            .json(body)
            .send()
            .await
            .unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }

    /// Sends one text and returns the raw result, so that the caller can check failures.
    pub(crate) async fn try_send(
        &self,
        text: &str,
        timeout: Duration,
    ) -> reqwest::Result<reqwest::Response> {
        let body = self.message(text);
        self.http
            .post(self.at("/v2/messages"))
            .bearer_auth(KEY)
            .json(&body)
            .timeout(timeout)
            .send()
            .await
    }

    /// Builds a send. Its webhook URL carries an attempt id, as in the fleet's sends (D5).
    pub(crate) fn message(&self, text: &str) -> Value {
        json!({
            "from": CASINO,
            "to": GUEST,
            "text": text,
            "webhook_url": format!("{}?attempt=a1", self.fleet.url),
        })
    }

    pub(crate) async fn rules(&self, rules: Value) -> (u16, Value) {
        let response = self
            .http
            .put(self.at("/sim/rules"))
            .json(&rules)
            .send()
            .await
            .unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }

    pub(crate) async fn delete(&self, path: &str) -> u16 {
        self.http
            .delete(self.at(path))
            .send()
            .await
            .unwrap()
            .status()
            .as_u16()
    }

    pub(crate) async fn raw(&self, query: &str, body: &str) -> Value {
        let request = self
            .http
            .post(self.at(&format!("/sim/raw{query}")))
            .body(body.to_owned());
        request.send().await.unwrap().json().await.unwrap()
    }

    /// Waits until `ready` accepts the ledger, and returns the ledger.
    pub(crate) async fn await_ledger(&self, ready: impl Fn(&Value) -> bool) -> Value {
        let mut news = self.sim.ledger().subscribe();
        tokio::time::timeout(CALL_TIMEOUT, async {
            loop {
                let (_, ledger) = self.get("/sim/ledger").await;
                if ready(&ledger) {
                    return ledger;
                }
                news.recv().await.unwrap();
            }
        })
        .await
        .expect("the ledger never got there")
    }
}

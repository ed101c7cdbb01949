//! Settings that a simulator is started with.

use std::{
    fmt,
    future::Future,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use serde_json::Value;
use uuid::Uuid;

/// One simulator. [`Settings::new`] fills in what Telnyx documents; every field may be changed.
#[derive(Clone)]
pub struct Settings {
    pub listen: SocketAddr,
    /// The fleet's `POST /webhooks/telnyx`: inbound texts go there, and receipts of messages that name no URL of their own.
    pub webhook_url: String,
    /// How long a webhook may take to answer 2xx. Never scaled: it measures real work, not a wait.
    pub ack_deadline: Duration,
    /// Waits between the tries of one event at one URL; the number of tries is one more.
    pub retry_delays: Vec<Duration>,
    /// When `message.sent` and `message.finalized` are called, counted from acceptance.
    pub receipt_delays: (Duration, Duration),
    /// The bearer token senders must present.
    pub api_key: String,
    /// The same simulator as Twilio.
    pub twilio: TwilioSide,
    /// Seed of the Ed25519 key that signs webhooks.
    pub signing_seed: [u8; 32],
    /// Scales every wait but `ack_deadline`: 1 is real time.
    pub time_scale: f64,
    /// Where the ledger is appended as JSON lines; read back at start, so a killed simulator forgets nothing.
    pub ledger_file: Option<PathBuf>,
    /// The casino the handset page texts.
    pub casino_number: String,
    pub casino_name: String,
    /// The function that `GET /sim/path` calls; without it the handset shows no path.
    pub explain: Option<Explain>,
}

/// The account the simulator has as Twilio.
#[derive(Clone)]
pub struct TwilioSide {
    pub account_sid: String,
    /// Password of basic authentication, and the key of webhook signatures.
    pub auth_token: String,
    /// The fleet's `POST /webhooks/twilio`.
    pub webhook_url: String,
}

// === impl Settings ===

impl Settings {
    pub fn new(webhook_url: impl Into<String>, api_key: impl Into<String>, signing_seed: [u8; 32]) -> Self {
        let webhook_url = webhook_url.into();
        Self {
            twilio: TwilioSide {
                account_sid: "AC00000000000000000000000000000000".to_owned(),
                auth_token: "carrier-sim-token".to_owned(),
                webhook_url: webhook_url.replace("/webhooks/telnyx", "/webhooks/twilio"),
            },
            listen: (Ipv4Addr::LOCALHOST, 0).into(),
            webhook_url,
            ack_deadline: Duration::from_secs(2),
            retry_delays: vec![Duration::from_secs(1), Duration::from_secs(3)],
            receipt_delays: (Duration::from_millis(40), Duration::from_millis(150)),
            api_key: api_key.into(),
            signing_seed,
            time_scale: 1.0,
            ledger_file: None,
            casino_number: "+18605550100".to_owned(),
            casino_name: "Casino".to_owned(),
            explain: None,
        }
    }
}

impl fmt::Debug for TwilioSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { account_sid, webhook_url, .. } = self;
        f.debug_struct("TwilioSide")
            .field("account_sid", account_sid)
            .field("webhook_url", webhook_url)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("listen", &self.listen)
            .field("webhook_url", &self.webhook_url)
            .field("ack_deadline", &self.ack_deadline)
            .field("retry_delays", &self.retry_delays)
            .field("receipt_delays", &self.receipt_delays)
            .field("api_key", &"[redacted]")
            .field("twilio", &self.twilio)
            .field("signing_seed", &"[redacted]")
            .field("time_scale", &self.time_scale)
            .field("ledger_file", &self.ledger_file)
            .field("casino_number", &self.casino_number)
            .field("casino_name", &self.casino_name)
            .field("explain", &self.explain)
            .finish()
    }
}

type Answer = Pin<Box<dyn Future<Output = Option<Value>> + Send>>;

/// Answers which path led to a send attempt, in the words of the fleet; none when it does not know the attempt. The
/// simulator hands the answer on unread: it stays free of the fleet's store.
#[derive(Clone)]
pub struct Explain(pub(crate) Arc<dyn Fn(Uuid) -> Answer + Send + Sync>);

impl Explain {
    pub fn new<F>(explain: impl Fn(Uuid) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Option<Value>> + Send + 'static,
    {
        Self(Arc::new(move |attempt| Box::pin(explain(attempt))))
    }
}

impl fmt::Debug for Explain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Explain(..)")
    }
}

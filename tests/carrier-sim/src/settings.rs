//! Settings with which a simulator is started.

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

/// Settings of one simulator. [`Settings::new`] fills in the values that Telnyx documents. Callers
/// may change every field.
#[derive(Clone)]
pub struct Settings {
    pub listen: SocketAddr,
    /// URL of the fleet's `POST /webhooks/telnyx`. Gets inbound texts, and the receipts of messages
    /// that name no webhook URL.
    pub webhook_url: String,
    /// Time within which a webhook must answer 2xx. `time_scale` does not change it, because the
    /// webhook does real work.
    pub ack_deadline: Duration,
    /// Waits between the tries of one event at one URL. The number of tries is one more than that
    /// of waits.
    pub retry_delays: Vec<Duration>,
    /// Delays of `message.sent` and `message.finalized`, counted from acceptance.
    pub receipt_delays: (Duration, Duration),
    /// The bearer token that senders must present.
    pub api_key: String,
    /// The Twilio account that the simulator stands in for.
    pub twilio: TwilioSide,
    /// Seed of the Ed25519 key that signs webhooks.
    pub signing_seed: [u8; 32],
    /// Factor by which every wait except `ack_deadline` is multiplied: 1 is real time.
    pub time_scale: f64,
    /// File to which the ledger is appended as JSON Lines. The simulator reads the file at the
    /// start, so a killed simulator loses nothing.
    pub ledger_file: Option<PathBuf>,
    /// Number of the casino that the handset page writes to.
    pub casino_number: String,
    pub casino_name: String,
    /// The function that `GET /sim/path` calls to explain how a reply came about. If it is `None`,
    /// the handset page shows no explanation.
    pub explain: Option<Explain>,
}

/// The Twilio account that the simulator stands in for.
#[derive(Clone)]
pub struct TwilioSide {
    pub account_sid: String,
    /// The password of basic authentication, and the key of webhook signatures.
    pub auth_token: String,
    /// URL of the fleet's `POST /webhooks/twilio`.
    pub webhook_url: String,
}

// === impl Settings ===

impl Settings {
    pub fn new(
        webhook_url: impl Into<String>,
        api_key: impl Into<String>,
        signing_seed: [u8; 32],
    ) -> Self {
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
        let Self {
            account_sid,
            webhook_url,
            ..
        } = self;
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

/// A function that explains a send attempt: it returns the steps that led to the attempt, or `None`
/// for an unknown attempt. The simulator forwards the result unparsed, and so does not depend on
/// the fleet's store.
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

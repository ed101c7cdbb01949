//! Calls webhooks as Telnyx does. Each call is signed anew. The webhook has 2 s to answer 2xx.
//! After three tries, the failover URL is called.

use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::header::CONTENT_TYPE;
use serde_json::{Value, json};
use tokio::{sync::oneshot, time::Instant};
use uuid::Uuid;

use crate::{
    core::Core,
    record::{Attempt, DeliveryState, Entry},
    signing::{SIGNATURE_HEADER, TIMESTAMP_HEADER},
    twilio_webhook,
};

/// Shortest wait between tries. Without it, a small time scale would overload a failing webhook.
const SHORTEST_RETRY: Duration = Duration::from_millis(20);

/// One event to be delivered to a webhook.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) delivery: Uuid,
    pub(crate) says: Says,
    pub(crate) urls: Vec<String>,
    /// Notified when the first call has ended, also if it failed.
    pub(crate) first_call: Option<oneshot::Sender<()>>,
}

/// The content of a call, in the provider's own format.
#[derive(Debug)]
pub(crate) enum Says {
    /// The envelope's `data`; `meta` is added per attempt.
    Telnyx(Value),
    /// The form's fields.
    Twilio(Vec<(String, String)>),
}

/// Builds the envelope's `data` for one message event.
pub(crate) fn event_data(
    event_id: &str,
    event_type: &str,
    occurred_at: chrono::DateTime<chrono::Utc>,
    payload: &Value,
) -> Value {
    json!({
        "event_type": event_type,
        "id": event_id,
        "occurred_at": occurred_at,
        "payload": payload,
        "record_type": "event",
    })
}

/// Calls the webhook until it acknowledges the event or no tries are left. Records each call in the
/// ledger when the call ends.
pub(crate) async fn deliver(core: &Core, mut job: Job) -> DeliveryState {
    let state = if core.swallows() {
        DeliveryState::Swallowed
    } else {
        try_all(core, &mut job).await
    };
    core.ledger.record(Entry::Settled {
        delivery: job.delivery,
        state,
    });
    if state == DeliveryState::GaveUp {
        tracing::warn!(delivery = %job.delivery, "webhook never acknowledged");
    }
    state
}

async fn try_all(core: &Core, job: &mut Job) -> DeliveryState {
    for url in &job.urls {
        // Twilio retries only if the URL's fragment asks for it (`#rc=3`), and calls the URL
        // without the fragment.
        let (called, again) = match &job.says {
            Says::Telnyx(_) => (url.as_str(), usize::MAX),
            Says::Twilio(_) => twilio_webhook::overrides(url),
        };
        let waits =
            std::iter::once(None).chain(core.settings.retry_delays.iter().map(Some).take(again));
        for (number, wait) in (1u32..).zip(waits) {
            if let Some(wait) = wait {
                tokio::time::sleep(core.scale.at_least(*wait, SHORTEST_RETRY)).await;
            }
            let attempt = match &job.says {
                Says::Telnyx(data) => {
                    let envelope =
                        json!({"data": data, "meta": {"attempt": number, "delivered_to": url}});
                    call(
                        core,
                        url,
                        number,
                        envelope.to_string().into_bytes(),
                        Signing::default(),
                    )
                    .await
                }
                Says::Twilio(fields) => twilio_webhook::call(core, called, number, fields).await,
            };
            let acknowledged = attempt.acknowledged();
            core.ledger.record(Entry::Attempt {
                delivery: job.delivery,
                attempt,
            });
            if let Some(first_call) = job.first_call.take() {
                // Sending fails when the waiting task has already ended.
                let _waiting = first_call.send(());
            }
            if acknowledged {
                return DeliveryState::Acknowledged;
            }
        }
    }
    DeliveryState::GaveUp
}

/// Changes that `/sim/raw` makes to the signature; the default is a valid signature.
#[derive(Debug, Clone, Default)]
pub(crate) struct Signing {
    /// Timestamp to send in place of the current second.
    pub(crate) timestamp: Option<i64>,
    /// Signature to send in place of the true one; empty omits the header.
    pub(crate) signature: Option<String>,
}

/// Calls the webhook once, with the current time and a valid signature, unless `signing` replaces
/// them.
pub(crate) async fn call(
    core: &Core,
    url: &str,
    attempt: u32,
    body: Vec<u8>,
    signing: Signing,
) -> Attempt {
    let at = core.now();
    let started = Instant::now();
    let timestamp = signing.timestamp.unwrap_or_else(|| at.timestamp());
    let header = timestamp.to_string();
    let signature = signing
        .signature
        .unwrap_or_else(|| core.signer.sign(&header, &body));
    let mut request = core
        .client
        .post(url)
        .header(CONTENT_TYPE, "application/json")
        .header(TIMESTAMP_HEADER, header);
    if !signature.is_empty() {
        request = request.header(SIGNATURE_HEADER, signature);
    }
    finish(request.body(body), attempt, url, at, timestamp, started).await
}

/// Sends the request and returns its outcome.
pub(crate) async fn finish(
    request: reqwest::RequestBuilder,
    attempt: u32,
    url: &str,
    at: DateTime<Utc>,
    timestamp: i64,
    started: Instant,
) -> Attempt {
    let outcome = request.send().await;
    let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let (status, error) = match outcome {
        Ok(response) => (Some(response.status().as_u16()), None),
        Err(error) => (None, Some(describe(&error))),
    };
    Attempt {
        attempt,
        url: url.to_owned(),
        at,
        timestamp,
        status,
        millis,
        error,
    }
}

fn describe(error: &reqwest::Error) -> String {
    let what = if error.is_timeout() {
        "no answer in time"
    } else if error.is_connect() {
        "no connection"
    } else {
        "connection broke"
    };
    what.to_owned()
}

//! Types of the ledger: entries in the order of events, and the records built from them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

/// One event. The ledger's file holds one event per line. The ledger rebuilds its records from
/// these events.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Entry {
    /// A guest sent a text.
    Inbound(Inbound),
    /// The simulator accepted a send.
    Accepted(Outbound),
    /// The simulator refused a send, or left it without an answer.
    Refused(Refusal),
    /// An accepted message changed its status at the carrier, whether or not a webhook reports it.
    Status {
        message_id: String,
        status: String,
        at: DateTime<Utc>,
        errors: Vec<Value>,
    },
    /// A receipt was created; its webhook calls follow.
    Receipt {
        message_id: String,
        receipt: Receipt,
    },
    /// One webhook call ended.
    Attempt { delivery: Uuid, attempt: Attempt },
    /// A delivery ended: it was acknowledged, given up or dropped.
    Settled {
        delivery: Uuid,
        state: DeliveryState,
    },
}

/// A guest's text and the delivery of its webhook.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Inbound {
    #[serde(default = "telnyx")]
    pub provider: String,
    pub event_id: String,
    pub message_id: String,
    pub from: String,
    pub to: String,
    pub text: Option<String>,
    pub media: Vec<Value>,
    pub encoding: String,
    pub parts: u32,
    pub occurred_at: DateTime<Utc>,
    /// When the simulator got the text. Differs from `occurred_at` if a test has set `occurred_at`.
    pub at: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autoresponse_type: Option<String>,
    pub delivery: Delivery,
}

/// An accepted send.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Outbound {
    /// The provider whose API the sender used: `telnyx` or `twilio`.
    #[serde(default = "telnyx")]
    pub provider: String,
    pub id: String,
    pub from: Option<String>,
    pub to: String,
    pub text: Option<String>,
    pub media_urls: Vec<String>,
    pub subject: Option<String>,
    pub encoding: String,
    pub parts: u32,
    pub messaging_profile_id: Option<String>,
    /// The webhook URL that the request gave.
    pub webhook_url: Option<String>,
    pub webhook_failover_url: Option<String>,
    pub tags: Vec<String>,
    pub accepted_at: DateTime<Utc>,
    pub sent_at: Option<DateTime<Utc>>,
    pub completed_at: Option<DateTime<Utc>>,
    /// Status of the only recipient in Telnyx's words: queued, sent, delivered, delivery_failed.
    pub status: String,
    pub errors: Vec<Value>,
    /// The faults applied to this send, as written in the rules.
    pub faults: Vec<String>,
    pub receipts: Vec<Receipt>,
}

/// A refused send. With this record, tests can tell a refused send from one that was never tried.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Refusal {
    #[serde(default = "telnyx")]
    pub provider: String,
    pub at: DateTime<Utc>,
    pub from: Option<String>,
    pub to: Option<String>,
    pub text: Option<String>,
    pub webhook_url: Option<String>,
    /// HTTP status of the answer; `None` when no answer was given.
    pub http_status: Option<u16>,
    pub code: Option<String>,
    pub fault: Option<String>,
}

/// One receipt: `message.sent` or `message.finalized`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Receipt {
    pub event_id: String,
    pub event_type: String,
    pub status: String,
    pub occurred_at: DateTime<Utc>,
    pub delivery: Delivery,
}

/// The webhook calls that deliver one event.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Delivery {
    pub id: Uuid,
    /// URLs in the order in which they are tried: the webhook URL, then the failover URL.
    pub urls: Vec<String>,
    pub state: DeliveryState,
    pub attempts: Vec<Attempt>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    Pending,
    Acknowledged,
    GaveUp,
    /// The webhook was never called, because `swallow_webhooks_percent` dropped the event.
    Swallowed,
}

/// One webhook call.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Attempt {
    /// Number of the call, counted from 1 for each URL; sent as `meta.attempt`.
    pub attempt: u32,
    pub url: String,
    pub at: DateTime<Utc>,
    /// The signed `telnyx-timestamp`.
    pub timestamp: i64,
    /// HTTP status of the answer; `None` when none came in time.
    pub status: Option<u16>,
    pub millis: u64,
    pub error: Option<String>,
}

/// Returns the default of `provider`. Older ledgers lack this field, because the simulator did not
/// support Twilio then.
fn telnyx() -> String {
    "telnyx".to_owned()
}

// === impl Delivery ===

impl Delivery {
    pub fn new(id: Uuid, urls: Vec<String>) -> Self {
        Self {
            id,
            urls,
            state: DeliveryState::Pending,
            attempts: Vec::new(),
        }
    }
}

// === impl Attempt ===

impl Attempt {
    /// Returns whether the answer was 2xx. An answer that came after the deadline is recorded as an
    /// error, without a status.
    pub fn acknowledged(&self) -> bool {
        self.status
            .is_some_and(|status| (200..300).contains(&status))
    }
}

// === impl Inbound ===

impl Inbound {
    /// Builds `data.payload` of `message.received`.
    pub fn payload(&self) -> Value {
        let mut payload = json!({
            "record_type": "message", "direction": "inbound", "id": self.message_id,
            "type": if self.media.is_empty() { "SMS" } else { "MMS" },
            "messaging_profile_id": null, "organization_id": null,
            "from": {
                "phone_number": self.from,
                "carrier": "Simulated Wireless",
                "line_type": "Wireless",
                "status": "received",
            },
            "to": [{
                "phone_number": self.to,
                "carrier": "Telnyx",
                "line_type": "long_code",
                "status": "webhook_delivered",
            }],
            "cc": [], "text": self.text, "subject": null, "media": self.media,
            "encoding": self.encoding, "parts": self.parts,
            "cost": cost(self.parts), "errors": [], "tags": [],
            "received_at": self.occurred_at, "sent_at": null, "completed_at": null,
            "valid_until": null,
            "webhook_url": null, "webhook_failover_url": null,
        });
        if let (Some(kind), Some(fields)) = (&self.autoresponse_type, payload.as_object_mut()) {
            fields.insert("autoresponse_type".to_owned(), kind.as_str().into());
        }
        payload
    }
}

/// Builds a message detail record as `GET /v2/detail_records` returns it. It does not contain the
/// text.
fn detail_record(
    id: &str,
    direction: &str,
    from: &str,
    to: &str,
    status: &str,
    at: DateTime<Utc>,
    parts: u32,
) -> Value {
    json!({
        "record_type": "message_detail_record", "uuid": id, "direction": direction, "cli": from,
        "cld": to, "status": status,
        "message_type": "SMS", "parts": parts, "created_at": at, "currency": "USD",
        "cost": cost(parts)["amount"],
    })
}

impl Inbound {
    pub(crate) fn detail_record(&self) -> Value {
        detail_record(
            &self.message_id,
            "inbound",
            &self.from,
            &self.to,
            "received",
            self.at,
            self.parts,
        )
    }
}

// === impl Outbound ===

impl Outbound {
    pub(crate) fn detail_record(&self) -> Value {
        let from = self.from.as_deref().unwrap_or_default();
        detail_record(
            &self.id,
            "outbound",
            from,
            &self.to,
            &self.status,
            self.accepted_at,
            self.parts,
        )
    }

    /// Builds the message as Telnyx shows it in answers, receipts and look-ups.
    pub fn payload(&self) -> Value {
        let queued = self.status == "queued";
        let sender = self.from.as_ref().map(
            |from| json!({"phone_number": from, "carrier": "Telnyx", "line_type": "Wireless"}),
        );
        json!({
            "record_type": "message", "direction": "outbound", "id": self.id,
            "type": if self.media_urls.is_empty() { "SMS" } else { "MMS" },
            "messaging_profile_id": self.messaging_profile_id, "organization_id": null,
            "from": sender,
            "to": [{
                "phone_number": self.to,
                "carrier": "Simulated Wireless",
                "line_type": "Wireless",
                "status": self.status,
            }],
            "cc": [], "text": self.text, "subject": self.subject,
            "media": self.media_urls.iter().map(|url| json!({"url": url})).collect::<Vec<_>>(),
            "encoding": self.encoding, "parts": self.parts, "smart_encoding_applied": false,
            "cost": cost(self.parts), "errors": self.errors, "tags": self.tags,
            "received_at": self.accepted_at, "sent_at": self.sent_at,
            "completed_at": self.completed_at,
            "valid_until": queued.then(|| self.accepted_at + chrono::TimeDelta::hours(1)),
            "webhook_url": self.webhook_url, "webhook_failover_url": self.webhook_failover_url,
        })
    }
}

/// Returns a made-up price of 0.0040 per part in Telnyx's format: a decimal as a string.
fn cost(parts: u32) -> Value {
    let ten_thousandths = u64::from(parts) * 40;
    json!({
        "amount": format!("{}.{:04}", ten_thousandths / 10_000, ten_thousandths % 10_000),
        "currency": "USD",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_is_a_decimal_string() {
        assert_eq!(cost(3), json!({"amount": "0.0120", "currency": "USD"}));
        assert_eq!(cost(300)["amount"], "1.2000");
    }
}

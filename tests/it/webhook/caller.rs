//! Calls our webhook as Telnyx does: with events in its format, and with a new signature for each
//! call.

use std::time::Duration;

use chrono::SecondsFormat;
use serde_json::{Value, json};
use seven_carrier_sim::Signer;
use seven_domain::Clock;
use seven_lab::stack::SIGNING_SEED;

use crate::harness::House;

pub(crate) struct Caller {
    pub(crate) url: String,
    signer: Signer,
    client: reqwest::Client,
    clock: Clock,
    casino_number: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) body: Value,
}

pub(crate) const TIMESTAMP: &str = "telnyx-timestamp";
pub(crate) const SIGNATURE: &str = "telnyx-signature-ed25519";

// === impl Caller ===

impl Caller {
    pub(crate) fn of(house: &House) -> Self {
        Self {
            url: format!("{}/webhooks/telnyx", house.stack.ingress_url),
            signer: Signer::from_seed(&SIGNING_SEED),
            client: reqwest::Client::builder()
                .no_proxy()
                .timeout(Duration::from_secs(20))
                .build()
                .unwrap(),
            clock: house.stack.fleet.clock.clone(),
            casino_number: house
                .config
                .operational
                .telnyx_phone_number
                .as_str()
                .to_owned(),
        }
    }

    pub(crate) fn now(&self) -> i64 {
        self.clock.now().timestamp()
    }

    pub(crate) fn sign(&self, timestamp: &str, body: &[u8]) -> String {
        self.signer.sign(timestamp, body)
    }

    /// Makes one call that is signed with the current time.
    pub(crate) async fn post(&self, body: &[u8]) -> Answer {
        self.post_signed(&self.url, self.now(), body).await
    }

    pub(crate) async fn post_signed(&self, url: &str, at: i64, body: &[u8]) -> Answer {
        let at = at.to_string();
        let signature = self.sign(&at, body);
        self.post_with(url, &[(TIMESTAMP, &at), (SIGNATURE, &signature)], body)
            .await
    }

    /// Makes one call. It sets only these headers and the content type.
    pub(crate) async fn post_with(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let request = headers
            .iter()
            .fold(self.client.post(url), |request, (name, value)| {
                request.header(*name, *value)
            });
        let response = request
            .header("content-type", "application/json")
            .body(body.to_vec())
            .send()
            .await
            .unwrap();
        let code = response.status().as_u16();
        let text = response.text().await.unwrap();
        Answer {
            code,
            body: serde_json::from_str(&text).unwrap_or(Value::String(text)),
        }
    }

    /// Returns a `message.received` event; its ids are made from `n`.
    pub(crate) fn received(&self, n: &str, from: &str, text: &str) -> Value {
        let now = self
            .clock
            .now()
            .to_rfc3339_opts(SecondsFormat::Millis, false);
        json!({"data": {"event_type": "message.received", "id": format!("event-{n}"),
            "occurred_at": now, "record_type": "event", "payload": {
            "record_type": "message", "direction": "inbound", "id": format!("message-{n}"),
            "type": "SMS", "messaging_profile_id": null,
            "from": {
                "phone_number": from,
                "carrier": "Simulated Wireless",
                "line_type": "Wireless",
                "status": "received",
            },
            "to": [{
                "phone_number": self.casino_number,
                "carrier": "Telnyx",
                "line_type": "long_code",
                "status": "webhook_delivered",
            }],
            "cc": [], "text": text, "media": [], "encoding": "GSM-7", "parts": 1,
            "cost": {"amount": "0.0040", "currency": "USD"},
            "errors": [], "tags": [], "received_at": now, "webhook_url": null}},
            "meta": {"attempt": 1, "delivered_to": self.url}})
    }

    /// Returns a `message.finalized` event for a text that has no row in our database.
    pub(crate) fn finalized(&self, n: &str, status: &str) -> Value {
        let mut event = self.received(n, &self.casino_number, "out");
        event["data"]["event_type"] = json!("message.finalized");
        event["data"]["payload"]["direction"] = json!("outbound");
        event["data"]["payload"]["to"] =
            json!([{"phone_number": crate::harness::GUEST, "status": status}]);
        event["data"]["payload"]["errors"] = json!([{"code": "40008", "title": "Undeliverable"}]);
        event
    }
}

// === impl Answer ===

impl Answer {
    pub(crate) fn of(code: u16, body: Value) -> Self {
        Self { code, body }
    }

    pub(crate) fn accepted() -> Self {
        Self::of(200, json!({"status": "accepted"}))
    }

    pub(crate) fn dead(reason: &str) -> Self {
        Self::of(200, json!({"status": "dead_lettered", "reason": reason}))
    }

    pub(crate) fn error(code: u16, error: &str) -> Self {
        Self::of(code, json!({"error": error}))
    }

    pub(crate) fn status(&self) -> &str {
        self.body["status"].as_str().unwrap_or_default()
    }
}

/// Returns how many messages a stream has taken since its creation. That is its last sequence
/// number, since no test deletes a message.
pub(crate) async fn published(house: &House, stream: &str) -> u64 {
    let stored = async |sequence| {
        house
            .stack
            .fleet
            .bus
            .stored(stream, sequence)
            .await
            .unwrap()
            .is_some()
    };
    let mut above = 1;
    while stored(above).await {
        above *= 2;
    }
    let mut there = above / 2;
    while there + 1 < above {
        let middle = there + (above - there) / 2;
        if stored(middle).await {
            there = middle;
        } else {
            above = middle;
        }
    }
    there
}

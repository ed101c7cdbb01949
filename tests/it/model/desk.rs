//! State that the carrier and the world share: the test's clock, the calls to ingress, and the
//! book.

use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicI64, AtomicUsize, Ordering},
    },
};

use chrono::{DateTime, SecondsFormat, TimeDelta, Timelike, Utc};
use serde_json::json;
use seven_carrier_sim::Signer;
use seven_lab::stack::SIGNING_SEED;

use super::{
    book::Book,
    steps::{Said, Who},
};
use crate::harness::House;

/// Phones of guests A and B, from the fictional numbers 555-01xx.
pub(crate) const PHONES: [&str; 2] = ["+18605550142", "+18605550143"];
const NOON: i64 = 12;

pub(crate) struct Workers {
    pub(crate) numbers: [String; 2],
    url: String,
    signer: Signer,
    client: reqwest::Client,
    book: Mutex<Book>,
    /// Milliseconds by which the test's clock is ahead of the machine's. When the test's clock
    /// jumps, the times in all rows move back.
    ahead: AtomicI64,
    texts: AtomicUsize,
    /// Number of this sequence's first text. The numbers go on from sequence to sequence, so that
    /// no message id is used twice.
    first: AtomicUsize,
    counts: Mutex<HashMap<String, u32>>,
}

// === impl Workers ===

impl Workers {
    pub(crate) fn new(house: &House, numbers: [String; 2]) -> Self {
        Self {
            numbers,
            url: format!("{}/webhooks/telnyx", house.stack.ingress_url),
            signer: Signer::from_seed(&SIGNING_SEED),
            client: reqwest::Client::builder().no_proxy().build().unwrap(),
            book: Mutex::default(),
            ahead: AtomicI64::new(0),
            texts: AtomicUsize::new(0),
            first: AtomicUsize::new(0),
            counts: Mutex::default(),
        }
    }

    /// Begins a new sequence: empties the book and sets the test's clock to the machine's.
    pub(crate) fn begin(&self) {
        *self.book() = Book::default();
        self.ahead.store(0, Ordering::Relaxed);
        self.first
            .store(self.texts.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    pub(crate) fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap()
    }

    pub(crate) fn count(&self, what: &str) {
        *self
            .counts
            .lock()
            .unwrap()
            .entry(what.to_owned())
            .or_default() += 1;
    }

    /// Returns how often each counted event happened.
    pub(crate) fn counted(&self) -> HashMap<String, u32> {
        self.counts.lock().unwrap().clone()
    }

    // --- time ---

    pub(crate) fn now(&self) -> i64 {
        Utc::now().timestamp_millis() + self.ahead.load(Ordering::Relaxed)
    }

    pub(crate) fn jump(&self, millis: i64) {
        self.ahead.fetch_add(millis, Ordering::Relaxed);
    }

    /// Converts a time of the test's clock to the machine's clock, which the fleet uses.
    pub(crate) fn real(&self, at: i64) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(at - self.ahead.load(Ordering::Relaxed)).unwrap()
    }

    /// Returns the offset of the guests' zone from UTC in whole hours. Every sequence begins at
    /// noon in that zone, and jumps of the clock change the zone.
    fn hours_ahead_of_utc(&self) -> i64 {
        let hour = NOON + self.ahead.load(Ordering::Relaxed) / 3_600_000;
        (hour - i64::from(Utc::now().hour()) + 12).rem_euclid(24) - 12
    }

    pub(crate) fn local_hour(&self) -> i64 {
        i64::from((Utc::now() + TimeDelta::hours(self.hours_ahead_of_utc())).hour())
    }

    /// Returns the time zone that now has the test's local hour. The sign is reversed, because the
    /// names `Etc/GMT` count hours west of Greenwich.
    pub(crate) fn zone(&self) -> String {
        format!("Etc/GMT{:+}", -self.hours_ahead_of_utc())
    }

    // --- texts ---

    /// Returns the number of a new text.
    pub(crate) fn next_text(&self) -> usize {
        self.texts.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the `nth` text of this sequence, counted back from the newest. The count is from the
    /// end, because then `nth` names the same text after earlier steps are left out.
    pub(crate) fn nth_text(&self, nth: usize) -> Option<usize> {
        let (first, next) = (
            self.first.load(Ordering::Relaxed),
            self.texts.load(Ordering::Relaxed),
        );
        (nth < next - first).then(|| next - 1 - nth)
    }

    /// Returns the `message.received` event that Telnyx would send now.
    pub(crate) fn event(&self, n: usize, who: Who, said: Said, at: i64) -> Vec<u8> {
        let at = self.real(at).to_rfc3339_opts(SecondsFormat::Millis, true);
        // The number makes the words differ: a text with the same words is treated as a copy and is
        // not answered.
        let text = if said == Said::Ordinary {
            format!("{} {n}", said.text())
        } else {
            said.text().to_owned()
        };
        json!({"data": {"event_type": "message.received", "id": format!("event-{n}"),
            "occurred_at": at, "record_type": "event", "payload": {
            "record_type": "message", "direction": "inbound", "id": message_id(n), "type": "SMS",
            "from": {"phone_number": PHONES[who.phone]},
            "to": [{"phone_number": self.numbers[who.casino]}],
            "text": text, "media": [], "errors": [], "received_at": at}}})
        .to_string()
        .into_bytes()
    }

    /// Delivers the text to ingress, and records it in the book once the answer is 2xx.
    pub(crate) async fn post(&self, n: usize, who: Who, said: Said, at: i64) -> Result<(), String> {
        let body = self.event(n, who, said, at);
        let timestamp = Utc::now().timestamp().to_string();
        let signature = self.signer.sign(&timestamp, &body);
        let call = self
            .client
            .post(&self.url)
            .header("telnyx-timestamp", &timestamp)
            .header("telnyx-signature-ed25519", signature);
        let answer = call
            .body(body)
            .send()
            .await
            .map_err(|e| format!("ingress: {e}"))?;
        if !answer.status().is_success() {
            return Err(format!(
                "ingress answered {} to {:?}",
                answer.status(),
                said.text()
            ));
        }
        self.book().taken(n, who, said, at, self.now());
        Ok(())
    }
}

fn message_id(n: usize) -> String {
    format!("message-{n}")
}

/// Returns the number of the text that a message id names.
pub(crate) fn text_of(message_id: &str) -> Option<usize> {
    message_id.strip_prefix("message-")?.parse().ok()
}

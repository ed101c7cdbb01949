//! Defines the events of the consent chain (D8). Each event holds the previous event's hash. An
//! event is stored as canonical JSON, from which its own hash is computed. A sealed head records
//! the chain's length.

mod canonical;
#[cfg(test)]
mod tests;
mod verify;

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

pub use self::{
    canonical::canonical,
    verify::{Head, Report, Stored, verify},
};

/// The value that the first event of a chain has as its previous hash.
pub const GENESIS: &str = "GENESIS";

/// The kind of change to a consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Granted,
    Revoked,
    Updated,
}

impl Action {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Granted => "granted",
            Self::Revoked => "revoked",
            Self::Updated => "updated",
        }
    }
}

/// One change of consent, before it gets its position in the chain.
#[derive(Debug, Clone)]
pub struct Change {
    pub action: Action,
    pub casino_id: String,
    /// Keyed hash of the phone number, with its algorithm and key id; never the number itself.
    pub guest_phone_hash: String,
    /// How the consent changed, such as `sms_stop_keyword`, `natural_language` or `web_form`.
    pub method: String,
    pub previous_state: Value,
    pub new_state: Value,
    pub at: DateTime<Utc>,
    /// Evidence of the change, such as the wording, the text that prompted it, or the operator.
    pub metadata: Option<Value>,
}

/// A change at its position in the chain: the event as it is stored, and its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    pub position: u64,
    pub event: String,
    pub content_hash: String,
}

impl Change {
    /// Makes the link that follows the event whose hash is `previous_hash`; the first event of a
    /// chain follows [`GENESIS`].
    pub fn link(&self, position: u64, previous_hash: &str) -> Link {
        let event = canonical(&self.payload(position, previous_hash));
        let content_hash = hash(&event);
        Link {
            position,
            event,
            content_hash,
        }
    }

    fn payload(&self, position: u64, previous_hash: &str) -> Value {
        let mut payload: Map<String, Value> = Map::new();
        let mut put = |key: &str, value: Value| payload.insert(key.to_owned(), value);
        put("action", json!(self.action.as_str()));
        put("casino_id", json!(self.casino_id));
        put("chain_position", json!(position));
        put(
            "event_type",
            json!(format!("consent_{}", self.action.as_str())),
        );
        put("guest_phone_hash", json!(self.guest_phone_hash));
        put("method", json!(self.method));
        put("new_state", self.new_state.clone());
        put("previous_hash", json!(previous_hash));
        put("previous_state", self.previous_state.clone());
        put(
            "timestamp",
            json!(self.at.to_rfc3339_opts(SecondsFormat::Millis, true)),
        );
        if let Some(metadata) = &self.metadata {
            put("metadata", metadata.clone());
        }
        Value::Object(payload)
    }
}

/// Returns the SHA-256 of an event as it is stored, in hex.
pub fn hash(event: &str) -> String {
    hex::encode(Sha256::digest(event.as_bytes()))
}

/// Returns the string over which a chain head's seal is computed.
pub fn seal_input(casino_id: &str, guest_phone_hash: &str, length: u64, head_hash: &str) -> String {
    format!("consent-head:{casino_id}:{guest_phone_hash}:{length}:{head_hash}")
}

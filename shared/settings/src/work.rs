//! `[worker]`, `[gate]`, `[packs]`, `[guest_hash]`, `[time]`: settings of the workers' own work.

use std::path::PathBuf;

use secrecy::SecretString;
use serde::Deserialize;

use crate::error::Faults;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Work {
    pub concurrency: usize,
    pub sender_concurrency: usize,
    pub handler_deadline_seconds: u64,
    pub model_deadline_seconds: u64,
    pub index_megabytes: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// Whether a language model in the gate's own process also reads suspicious texts (D20).
    pub second_reader: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Packs {
    /// Folder with further packs; if empty, only the compiled-in packs are used.
    pub directory: PathBuf,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestHash {
    pub id: i16,
    pub secret: Option<SecretString>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Time {
    pub scale: f64,
    /// Factor that scales the quiet window and the typing delay in addition to `scale`.
    pub pauses: f64,
    /// The start time (RFC 3339) of the clock that guests see, for example for opening hours.
    /// `None` means the real time.
    pub at: Option<chrono::DateTime<chrono::Utc>>,
}

impl Work {
    pub(crate) fn check(&self, faults: &mut Faults) {
        faults.need(
            self.model_deadline_seconds < self.handler_deadline_seconds,
            "worker.model_deadline_seconds",
            self.model_deadline_seconds.to_string(),
            "less than worker.handler_deadline_seconds",
        );
        for (key, concurrency) in [
            ("worker.concurrency", self.concurrency),
            ("worker.sender_concurrency", self.sender_concurrency),
        ] {
            faults.need(concurrency > 0, key, "0", "at least 1");
        }
    }
}

impl Time {
    pub(crate) fn check(&self, faults: &mut Faults) {
        faults.need(
            (0.0..=10.0).contains(&self.scale),
            "time.scale",
            self.scale.to_string(),
            "0 to 10",
        );
        faults.need(
            (0.0..=1.0).contains(&self.pauses),
            "time.pauses",
            self.pauses.to_string(),
            "0 to 1",
        );
    }
}

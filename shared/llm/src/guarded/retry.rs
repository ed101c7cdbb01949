//! The number of retries of a model call and the waits before them.

use std::time::Duration;

use serde::Deserialize;

use crate::chat::{Error, Retry};

/// delay = min(initial x multiplier^retry, max) +- jitter, but at least zero and at least the wait
/// that the provider asked for.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RetryPolicy {
    pub initial_ms: u64,
    pub multiplier: f64,
    pub max_ms: u64,
    /// Maximum number of calls after the first.
    pub retries: u32,
    pub jitter_ms: u64,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            initial_ms: 1_000,
            multiplier: 2.0,
            max_ms: 30_000,
            retries: 3,
            jitter_ms: 500,
        }
    }
}

impl RetryPolicy {
    /// Returns the wait before retry number `retry`, counted from 0; `chance` in -1..=1 scales the
    /// jitter.
    pub fn delay(&self, retry: u32, error: &Error, chance: f64) -> Duration {
        let grown = self.initial_ms as f64
            * self
                .multiplier
                .powi(i32::try_from(retry).unwrap_or(i32::MAX));
        let millis = grown.min(self.max_ms as f64) + chance * self.jitter_ms as f64;
        let own = Duration::try_from_secs_f64(millis.max(0.0) / 1_000.0).unwrap_or_default();
        match error.retry() {
            Retry::After(asked) => own.max(asked),
            Retry::Backoff | Retry::Never => own,
        }
    }
}

//! Observers of calls: metrics, and the turn's record.

use std::time::Duration;

use seven_cache::Transition;

use super::NanoUsd;
use crate::chat::{Error, Usage};

/// One guarded call, ended.
#[derive(Debug)]
pub struct Finished<'a> {
    /// Provider and model.
    pub model: &'a str,
    /// Requests that went out; 0 when the breaker or the limiter said no.
    pub attempts: u32,
    /// Over all attempts, failed ones that were billed included.
    pub usage: Usage,
    pub cost: NanoUsd,
    pub took: Duration,
    pub error: Option<&'a Error>,
}

/// Hears of what happens; must not block.
pub trait Observer: Send + Sync {
    fn finished(&self, _call: &Finished<'_>) {}

    /// Called before the wait, with what went wrong.
    fn retried(&self, _model: &str, _error: &Error) {}

    /// AGENT-70: every transition that one of our calls caused. Opening is what pages (PROD-11).
    fn breaker(&self, _name: &str, _moved: Transition) {}
}

impl Observer for () {}

impl Finished<'_> {
    pub(super) fn log(&self) {
        tracing::debug!(
            model = self.model,
            attempts = self.attempts,
            input_tokens = self.usage.input_tokens,
            output_tokens = self.usage.output_tokens,
            cost_nano_usd = self.cost.0,
            took_ms = u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX),
            error = self.error.map_or("none", Error::kind),
            "asked the model"
        );
    }
}

//! The interface through which metrics follow the calls of hosted models.

use std::time::Duration;

use seven_cache::Transition;

use super::NanoUsd;
use crate::chat::{Error, Usage};

/// A guarded call that has ended.
#[derive(Debug)]
pub struct Finished<'a> {
    /// Provider and model.
    pub model: &'a str,
    /// Requests that were sent; 0 if the breaker or the rate limiter refused.
    pub attempts: u32,
    /// Sum over all attempts, including failed ones that were billed.
    pub usage: Usage,
    pub cost: NanoUsd,
    pub took: Duration,
    pub error: Option<&'a Error>,
}

/// Receives the events of guarded calls. Its methods must not block.
pub trait Observer: Send + Sync {
    fn finished(&self, _call: &Finished<'_>) {}

    /// Called before the wait for a retry, with the error that caused the retry.
    fn retried(&self, _model: &str, _error: &Error) {}

    /// Called for every transition of the breaker that this process caused.
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

//! The guard's settings; the defaults are those of the specification.

use std::{num::NonZeroU32, time::Duration};

use serde::Deserialize;
use seven_cache::BreakerSettings;

use super::{Price, RetryPolicy};

/// The guard's settings for one model.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Timeout of one request, even if the call's deadline leaves more time.
    pub call_timeout_ms: u64,
    pub retry: RetryPolicy,
    pub limit: Limit,
    /// The breaker opens after this many failures within `breaker_window_ms`.
    pub breaker_failures: u32,
    pub breaker_window_ms: u64,
    pub breaker_cooldown_ms: u64,
    pub breaker_successes: u32,
    pub price: Price,
}

/// Maximum rate at which this process sends requests to one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limit {
    pub per_minute: NonZeroU32,
    /// Maximum number of requests that may be sent in a burst, without a wait between them.
    pub burst: NonZeroU32,
}

impl Default for Settings {
    fn default() -> Self {
        let breaker = BreakerSettings::default();
        let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        Self {
            call_timeout_ms: 10_000,
            retry: RetryPolicy::default(),
            limit: Limit::default(),
            breaker_failures: breaker.failures,
            breaker_window_ms: millis(breaker.window),
            breaker_cooldown_ms: millis(breaker.cooldown),
            breaker_successes: breaker.successes,
            price: Price::default(),
        }
    }
}

impl Default for Limit {
    fn default() -> Self {
        const PER_MINUTE: NonZeroU32 = NonZeroU32::new(600).expect("not zero");
        const BURST: NonZeroU32 = NonZeroU32::new(50).expect("not zero");
        Self {
            per_minute: PER_MINUTE,
            burst: BURST,
        }
    }
}

impl From<&Settings> for BreakerSettings {
    fn from(settings: &Settings) -> Self {
        Self {
            failures: settings.breaker_failures,
            window: Duration::from_millis(settings.breaker_window_ms),
            cooldown: Duration::from_millis(settings.breaker_cooldown_ms),
            successes: settings.breaker_successes,
        }
    }
}

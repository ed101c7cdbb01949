//! Redis: the cheap answer (D3). Idempotency keys, refusals, shared pacing, inbound limits, breakers.
//!
//! Losing all or part of Redis costs speed, never correctness: a missing key is not a permission, a refusal is only ever added.
//! Every call has a short deadline; after a failure Redis is left alone for a second and then asked again (PROD-4).

mod breaker;
mod connection;
mod idempotency;
mod limit;
mod limits;
mod local;
mod pace;
mod pacing;
mod refusals;

pub use breaker::{Admission, Breaker, BreakerSettings, BreakerState, Outcome, Permit, Transition};
pub use connection::{Cache, Settings};
pub use limit::{Limit, LimitVerdict};
pub use pace::{Ask, Level, Pace, Pacer};

#[derive(Debug, thiserror::Error)]
#[error("opening the Redis client")]
pub struct Error(#[from] redis::RedisError);

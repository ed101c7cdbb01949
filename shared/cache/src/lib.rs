//! Redis access (D3): idempotency keys, refusals, shared pacing, inbound limits, breakers.
//!
//! Losing all or part of Redis costs speed, never correctness: a missing key is not a permission,
//! and a refusal is only ever added. Every call has a short deadline. After a failure Redis is not
//! called for a second, and then again (PROD-4).

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

//! Redis access (D3): idempotency keys, refusals, shared pacing, inbound limits, breakers.
//!
//! Losing Redis costs speed, never correctness: a missing key grants no permission, and Redis can
//! only add a refusal. Every call has a short deadline, and a failure pauses calls for a second.

mod breaker;
mod connection;
mod idempotency;
mod limit;
mod limits;
mod local;
mod pace;
mod pacing;
mod presence;
mod refusals;

pub use breaker::{Admission, Breaker, BreakerSettings, BreakerState, Outcome, Permit, Transition};
pub use connection::{Cache, Settings};
pub use limit::{Limit, LimitVerdict};
pub use pace::{Ask, Level, Pace, Pacer};
pub use presence::Presence;

#[derive(Debug, thiserror::Error)]
#[error("opening the Redis client")]
pub struct Error(#[from] redis::RedisError);

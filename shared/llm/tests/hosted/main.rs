//! Hosted models against a double that speaks both wire formats over real HTTP, with the breaker in
//! a real Redis.
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

mod breaker;
mod embeddings;
mod faults;
mod forms;
mod house;
mod loops;
mod retries;
mod wire;

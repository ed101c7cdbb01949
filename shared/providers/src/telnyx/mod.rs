//! Telnyx messaging v2.

mod errors;
mod send;
pub mod signature;
pub mod webhook;

pub use errors::classify;
pub use send::{Settings, Telnyx};

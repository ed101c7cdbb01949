//! Telnyx messaging v2.

mod records;
mod send;
pub mod signature;
pub mod webhook;

pub use send::{Settings, Telnyx};

/// The word for this provider in rows, labels and settings.
pub const NAME: &str = seven_domain::TELNYX;

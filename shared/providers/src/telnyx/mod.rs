//! Telnyx messaging v2.

mod send;
pub mod signature;
pub mod webhook;

pub use send::{Settings, Telnyx};

/// The word for this provider in rows, labels and settings.
pub const NAME: &str = seven_domain::TELNYX;

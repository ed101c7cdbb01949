//! Telnyx's messaging API, version 2.

mod records;
mod send;
pub mod signature;
pub mod webhook;

pub use send::{Settings, Telnyx};

/// The name of this provider in rows, labels and settings.
pub const NAME: &str = seven_domain::TELNYX;

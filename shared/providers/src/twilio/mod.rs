//! Twilio's messaging API (REST, 2010-04-01), the second provider.

mod send;
pub mod signature;
pub mod webhook;

pub use send::{Settings, Twilio};

/// The name of this provider in rows, labels and settings.
pub const NAME: &str = seven_domain::TWILIO;

//! Twilio Programmable Messaging, REST API of 2010-04-01: the second provider (SMS-39).

mod send;
pub mod signature;
pub mod webhook;

pub use send::{Settings, Twilio};

/// The word for this provider in rows, labels and settings.
pub const NAME: &str = seven_domain::TWILIO;

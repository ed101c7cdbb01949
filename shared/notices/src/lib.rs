//! Notices about cases to a casino's own people (D28): their wording, their channels, and the
//! signed link by which a person acknowledges one case.

pub mod address;
mod channels;
mod link;
mod message;
pub mod outage;
mod quiet;
mod words;

pub use channels::{Error, Mail, Senders};
pub use link::{LINK_HOURS, link_token, read_link};
pub use message::{CaseMessage, Line, code_text, shown_line};
pub use quiet::quiet_wait;
pub use words::{Words, reason_name};

/// The reasons of cases in which a life may be in danger. A casino's security contacts are notified
/// of such cases at once.
pub const DANGERS: [&str; 4] = ["crisis", "emergency", "guest_safety", "cry_missed"];

//! Alerts: how grave each is and who hears of it (`policy`), when figures of delivery are bad or a carrier blocks us (`delivery`), both as
//! data and pure; and the channels that are told (`channels`): log, Slack-compatible webhook, PagerDuty.
//!
//! Nothing here knows a guest: an alert holds names, codes, counts and our own sentences.

pub mod channels;
pub mod delivery;
mod filing;
mod policy;

pub use channels::{Action, Again, Channels, Notice, Notifier, Untold};
pub use filing::{file, file_all, file_one};
pub use policy::{Policy, Route, policy};

/// The key of an alert: one is open under it at a time.
pub fn key(name: &str, casino: &str, provider: &str, code: &str) -> String {
    format!("{name}/{casino}/{provider}/{code}")
}

/// The name of the alert about a case (`seven escalation list`); its id is the case's.
pub const CASE: &str = "case";

/// Channels by name, as routes and rows name them.
pub const LOG: &str = "log";
/// The Slack-compatible webhook.
pub const WEBHOOK: &str = "webhook";
/// PagerDuty Events v2.
pub const PAGERDUTY: &str = "pagerduty";

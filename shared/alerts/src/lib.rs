//! Alerts: their severities and routes (`policy`), the judgement on delivery figures (`delivery`),
//! and the channels that people watch (`channels`).
//!
//! No alert contains data of a guest, only names, codes, counts and our own sentences.

pub mod channels;
pub mod delivery;
mod filing;
mod policy;

pub use channels::{Action, Again, Channels, Notice, Notifier, Untold};
pub use filing::{file, file_all, file_one};
pub use policy::{Policy, Route, policy};

/// Returns the key of an alert. At most one alert is open under a key.
pub fn key(name: &str, casino: &str, provider: &str, code: &str) -> String {
    format!("{name}/{casino}/{provider}/{code}")
}

/// Name of the alert about a case (`seven escalation list`); the alert has the case's id.
pub const CASE: &str = "case";

/// The channels' names in routes and rows.
pub const LOG: &str = "log";
/// The Slack-compatible webhook.
pub const WEBHOOK: &str = "webhook";
/// PagerDuty Events v2.
pub const PAGERDUTY: &str = "pagerduty";

//! Alerts: severities and routes (`policy`), the evaluation of delivery figures (`delivery`), and
//! the channels through which people are notified (`channels`).
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

/// Name of an alert about a case (`seven escalation list`). The alert's id is the case's id.
pub const CASE: &str = "case";

/// Name of the log as a channel, in routes and rows.
pub const LOG: &str = "log";
/// Name of the Slack-compatible webhook as a channel.
pub const WEBHOOK: &str = "webhook";
/// Name of PagerDuty (Events API v2) as a channel.
pub const PAGERDUTY: &str = "pagerduty";

//! The pause of the host after a case is opened, and the promise to the guest about when a person
//! writes.

use chrono::{DateTime, Datelike, TimeDelta, Timelike, Utc, Weekday};
use chrono_tz::Tz;

/// How long the host says nothing after a case is opened.
pub const CASE_PAUSE: TimeDelta = TimeDelta::minutes(30);

/// A period in which the host does not answer a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// When the pause ends; `None` if it lasts until a person ends it.
    pub until: Option<DateTime<Utc>>,
    /// Whether the holding text ("the team will answer you") was already sent in this pause.
    pub held: bool,
}

/// The host's reaction to an inbound text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Automation {
    Run,
    /// Sends the holding text, once per pause.
    Hold,
    Silent,
}

/// The promise to the guest about when a person will write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// Within 15 minutes; made during business hours.
    Shortly,
    /// Within 4 hours; made during the day on weekends and holidays.
    WithinHours,
    /// In the morning; made at night.
    Tomorrow,
}

// === impl Pause ===

impl Pause {
    pub fn from(opened: DateTime<Utc>) -> Self {
        Self {
            until: Some(opened + CASE_PAUSE),
            held: false,
        }
    }

    /// Decides what the host does about an inbound text. STOP, HELP and cries for help never get
    /// here, because the gate answers them.
    pub fn on_text(self, now: DateTime<Utc>) -> Automation {
        match self.until {
            Some(until) if now >= until => Automation::Run,
            _ if self.held => Automation::Silent,
            _ => Automation::Hold,
        }
    }
}

// === impl Promise ===

impl Promise {
    /// Returns the longest wait that the promise allows, in minutes; `None` for a promise made at
    /// night.
    pub fn minutes(self) -> Option<u32> {
        match self {
            Self::Shortly => Some(15),
            Self::WithinHours => Some(240),
            Self::Tomorrow => None,
        }
    }
}

/// Returns the promise that can be kept at this moment. Business hours are Monday to Friday, 9:00
/// to 21:00 in the casino's time zone.
pub fn promise(now: DateTime<Utc>, zone: Tz, holiday: bool) -> Promise {
    let local = now.with_timezone(&zone);
    let day = (9..21).contains(&local.hour());
    let weekend = [Weekday::Sat, Weekday::Sun].contains(&local.weekday());
    match (day, weekend || holiday) {
        (true, false) => Promise::Shortly,
        (true, true) => Promise::WithinHours,
        (false, _) => Promise::Tomorrow,
    }
}

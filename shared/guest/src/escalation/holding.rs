//! The pause after a case is opened (SEC-104, SEC-109, C-31) and the promise made to the guest
//! (CONV-44, C-29).

use chrono::{DateTime, Datelike, TimeDelta, Timelike, Utc, Weekday};
use chrono_tz::Tz;

/// How long automation stays silent after a case is opened.
pub const PAUSE: TimeDelta = TimeDelta::minutes(30);

/// A period in which automation does not answer the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// When the pause ends; `None` means that it lasts until a person ends it.
    pub until: Option<DateTime<Utc>>,
    /// The holding text was already sent in this pause.
    pub held: bool,
}

/// The action that automation may take on an inbound text.
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
        Self { until: Some(opened + PAUSE), held: false }
    }

    /// Decides what happens to an inbound text during the pause. STOP, HELP and cries for help
    /// never get here: the gate answers them.
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
    /// Returns the longest wait this promise allows, in minutes; `None` at night, when the guest
    /// waits until the morning.
    pub fn minutes(self) -> Option<u32> {
        match self {
            Self::Shortly => Some(15),
            Self::WithinHours => Some(240),
            Self::Tomorrow => None,
        }
    }
}

/// Returns the promise that can be made at this moment. Business hours are 9:00 to 21:00 casino
/// time, Monday to Friday.
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

//! The pause that follows a case (SEC-104, SEC-109, C-31) and what the guest is promised (CONV-44, C-29).

use chrono::{DateTime, Datelike, TimeDelta, Timelike, Utc, Weekday};
use chrono_tz::Tz;

/// How long automation stays silent after a case was opened.
pub const PAUSE: TimeDelta = TimeDelta::minutes(30);

/// A conversation without automation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// `None`: until a person ends it.
    pub until: Option<DateTime<Utc>>,
    /// The holding text went out in this pause.
    pub held: bool,
}

/// The action automation may take on an inbound text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Automation {
    Run,
    /// The one holding text of this pause.
    Hold,
    Silent,
}

/// The promise to the guest about when a person writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// Business hours: within 15 minutes.
    Shortly,
    /// Weekends and holidays by day: within 4 hours.
    WithinHours,
    /// At night.
    Tomorrow,
}

// === impl Pause ===

impl Pause {
    pub fn from(opened: DateTime<Utc>) -> Self {
        Self { until: Some(opened + PAUSE), held: false }
    }

    /// STOP, HELP and cries for help never come here: the gate answers them.
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
    /// The longest a guest waits for a person under this promise; at night until the morning.
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

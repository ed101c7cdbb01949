//! Computes how long the host pauses after a case is opened, and when a person is promised to
//! write.

use chrono::{DateTime, Datelike, TimeDelta, Timelike, Utc, Weekday};
use chrono_tz::Tz;

/// The shortest pause of the host after a case is opened.
pub const CASE_PAUSE: TimeDelta = TimeDelta::minutes(30);
/// The hour, in the casino's local time, by which a person must write after `Promise::Tomorrow`.
const MORNING_HOUR: u32 = 10;

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

/// Returns how long the host is silent after a case is opened (D28). This is the longest of
/// `CASE_PAUSE`, `respond_minutes` and, for `Promise::Tomorrow`, the time until the promised hour.
pub fn case_pause(
    promise: Promise,
    respond_minutes: Option<u32>,
    now: DateTime<Utc>,
    zone: Tz,
) -> TimeDelta {
    let respond = TimeDelta::minutes(i64::from(respond_minutes.unwrap_or_default()));
    let morning = if promise == Promise::Tomorrow {
        until_hour(now, zone, MORNING_HOUR)
    } else {
        TimeDelta::zero()
    };
    CASE_PAUSE.max(respond).max(morning)
}

/// Returns the time from `now` to the next moment at which the local clock shows this hour.
fn until_hour(now: DateTime<Utc>, zone: Tz, hour: u32) -> TimeDelta {
    let local = now.with_timezone(&zone).naive_local();
    let today = local.date().and_hms_opt(hour, 0, 0).unwrap_or(local);
    if today > local {
        today - local
    } else {
        today + TimeDelta::days(1) - local
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

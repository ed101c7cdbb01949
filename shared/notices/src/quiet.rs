//! The quiet hours of a contact.

use std::time::Duration;

use chrono::{DateTime, NaiveTime, Utc};
use chrono_tz::Tz;

/// Returns how long a notice must wait for the end of the contact's quiet hours; `None` outside of
/// them. `from` and `to` are local times and may span midnight; if they are equal, there are no
/// quiet hours.
pub fn quiet_wait(
    now: DateTime<Utc>,
    zone: Tz,
    (from, to): (NaiveTime, NaiveTime),
) -> Option<Duration> {
    let time = now.with_timezone(&zone).time();
    let is_quiet = if from <= to {
        from <= time && time < to
    } else {
        time >= from || time < to
    };
    let rest = to - time;
    let rest = if rest < chrono::TimeDelta::zero() {
        rest + chrono::TimeDelta::days(1)
    } else {
        rest
    };
    is_quiet.then(|| rest.to_std().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use chrono_tz::America::New_York;

    use super::*;

    #[test] // D28
    fn a_notice_waits_for_the_end_of_the_quiet_hours() {
        let at = |hour, minute| NaiveTime::from_hms_opt(hour, minute, 0).unwrap();
        let night = (at(22, 0), at(7, 0));
        // New York is five hours behind UTC in November.
        for (now, hours, wait) in [
            ("2026-11-27T02:59:00Z", night, None),
            ("2026-11-27T03:00:00Z", night, Some(9 * 60)),
            ("2026-11-27T06:30:00Z", night, Some(5 * 60 + 30)),
            ("2026-11-27T11:59:00Z", night, Some(1)),
            ("2026-11-27T12:00:00Z", night, None),
            ("2026-11-27T17:15:00Z", (at(12, 0), at(13, 0)), Some(45)),
            ("2026-11-27T18:00:00Z", (at(12, 0), at(13, 0)), None),
            ("2026-11-27T18:00:00Z", (at(13, 0), at(13, 0)), None),
        ] {
            let waited = quiet_wait(now.parse().unwrap(), New_York, hours);
            assert_eq!(waited, wait.map(|m| Duration::from_secs(m * 60)), "{now}");
        }
    }
}

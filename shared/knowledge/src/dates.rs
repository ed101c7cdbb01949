//! Reads dates in content files: absolute, or relative to the moment of loading, so that demo
//! content never becomes outdated.

use chrono::{DateTime, Datelike, Days, NaiveDate, NaiveDateTime, NaiveTime, Utc, Weekday};
use chrono_tz::Tz;

use crate::hours::instant;

use seven_text::fold;

/// The moment and time zone from which relative dates count.
#[derive(Debug, Clone, Copy)]
pub struct Reference {
    pub now: DateTime<Utc>,
    pub zone: Tz,
}

pub(crate) const MOMENT_FIX: &str = "write `2026-12-01 20:00`, `12/1/2026 8pm`, `today 20:00`, `tomorrow 19:30`, `in 3 days 20:00` or `next saturday 20:00`";
pub(crate) const DAY_FIX: &str =
    "write `2026-12-31`, `12/31/2026`, `today`, `tomorrow` or `in 30 days`";

/// Reads a point in time. A time in RFC 3339 form, as stored items have it, needs no `reference`.
pub(crate) fn moment(text: &str, reference: Option<Reference>) -> Option<DateTime<Utc>> {
    if let Ok(at) = DateTime::parse_from_rfc3339(text.trim()) {
        return Some(at.to_utc());
    }
    let reference = reference?;
    let text = fold(text.trim());
    let iso = text
        .split_once('t')
        .filter(|(date, _)| date.parse::<NaiveDate>().is_ok());
    // Splits the date from the time at the last blank. If this fails, splits at the blank before
    // it, because "8 pm" contains a blank.
    let split = |(at, _)| (&text[..at], &text[at + 1..]);
    let blanks = text.rmatch_indices(' ').map(split);
    let mut parts = iso.into_iter().chain(blanks.take(2));
    let wall = parts.find_map(|(date, time)| {
        let date = date.trim_end_matches([',', ' ']);
        Some(NaiveDateTime::new(
            day(date, Some(reference))?,
            clock(time)?,
        ))
    })?;
    Some(instant(wall, reference.zone, DateTime::<Utc>::MIN_UTC))
}

/// The forms in which people and spreadsheets of the United States write a day.
const AMERICAN: [&str; 4] = ["%m/%d/%Y", "%B %d, %Y", "%B %d %Y", "%m-%d-%Y"];

/// Reads a calendar day in the casino's time zone.
pub(crate) fn day(text: &str, reference: Option<Reference>) -> Option<NaiveDate> {
    let text = fold(text.trim());
    if let Ok(date) = text.parse::<NaiveDate>() {
        return Some(date);
    }
    let american = |form: &&str| NaiveDate::parse_from_str(&text, form).ok();
    let american = AMERICAN.iter().find_map(american);
    // "%Y" also accepts the two digits of "12/3/26", as the year 26.
    if let Some(date) = american.filter(|date| date.year() > 1_999) {
        return Some(date);
    }
    let reference = reference?;
    let today = reference.now.with_timezone(&reference.zone).date_naive();
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        ["today"] => Some(today),
        ["tomorrow"] => today.checked_add_days(Days::new(1)),
        ["in", n, "day" | "days"] => {
            today.checked_add_days(Days::new(n.parse().ok().filter(|n| *n <= 3_650)?))
        }
        ["in", n, "week" | "weeks"] => {
            today.checked_add_days(Days::new(7 * n.parse::<u64>().ok().filter(|n| *n <= 520)?))
        }
        ["next", name] => {
            let weekday: Weekday = name.parse().ok()?;
            let ahead =
                (weekday.num_days_from_monday() + 6 - today.weekday().num_days_from_monday()) % 7
                    + 1;
            today.checked_add_days(Days::new(ahead.into()))
        }
        _ => None,
    }
}

fn clock(text: &str) -> Option<NaiveTime> {
    // chrono cannot parse an hour without minutes.
    let hour = |text: &str, half: &str| {
        let hour = text.strip_suffix(half)?.trim_end();
        let only = hour.bytes().all(|b| b.is_ascii_digit());
        only.then(|| format!("{hour}:00 {half}"))
    };
    let whole = hour(text, "am").or_else(|| hour(text, "pm"));
    let text = whole.as_deref().unwrap_or(text);
    ["%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M%p"]
        .iter()
        .find_map(|format| NaiveTime::parse_from_str(text, format).ok())
}

#[cfg(test)]
mod tests {
    use chrono::TimeZone;
    use chrono_tz::America::New_York;

    use super::*;

    #[test]
    fn relative_dates_count_from_the_property_day() {
        // Friday 2026-03-06, 22:30 in New York, is already Saturday in UTC.
        let reference = Some(Reference {
            now: Utc.with_ymd_and_hms(2026, 3, 7, 3, 30, 0).unwrap(),
            zone: New_York,
        });
        let shown = |text: &str| {
            moment(text, reference)
                .map(|t| t.with_timezone(&New_York).format("%m-%d %H:%M").to_string())
        };
        for (text, expected) in [
            ("today 20:00", "03-06 20:00"),
            ("Tomorrow 19:30", "03-07 19:30"),
            ("in 3 days 20:00", "03-09 20:00"),
            ("next saturday 20:00", "03-07 20:00"),
            ("next friday 20:00", "03-13 20:00"),
            ("2026-12-01 20:00", "12-01 20:00"),
            ("2026-12-01T20:00", "12-01 20:00"),
            ("2026-12-01 8pm", "12-01 20:00"),
            ("12/3/2026 8:30 PM", "12-03 20:30"),
            ("Dec 3, 2026, 8 pm", "12-03 20:00"),
            ("December 3 2026 12:15am", "12-03 00:15"),
            ("12-03-2026 19:00", "12-03 19:00"),
            ("2026-03-08 02:30", "03-08 03:00"),
        ] {
            assert_eq!(shown(text).as_deref(), Some(expected), "{text}");
        }
        for bad in [
            "soon",
            "today",
            "in x days 20:00",
            "in 99999999999 days 20:00",
            "next payday 20:00",
            "today 25:00",
            "today 13pm",
            "12/3/26 8pm",
            "31/12/2026 8pm",
            "Dec 3 8pm",
            "",
        ] {
            assert_eq!(shown(bad), None, "{bad}");
        }
        assert_eq!(day("in 30 days", reference), "2026-04-05".parse().ok());
    }
}

//! Dates and times as models write them, in the casino's calendar.

use chrono::{
    DateTime, Datelike, Days, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone, Utc,
    Weekday,
};
use chrono_tz::Tz;
use seven_domain::Language;
use seven_knowledge::hours::{Moment, clock};
use seven_text::{calendar, fold};

use crate::fault::Fault;

/// Maximum number of days from today to an accepted day; content does not reach further.
const MOST_DAYS: i64 = 400;

/// Parses a day that is not before `today`: 2026-12-25, "today", "tomorrow" or a weekday, in
/// English or Spanish.
pub(crate) fn day(text: &str, today: NaiveDate) -> Result<NaiveDate, Fault> {
    let folded = fold(text.trim());
    let word = folded
        .trim_start_matches("next ")
        .trim_start_matches("este ")
        .trim_start_matches("el ");
    let named = || {
        Some(match word {
            "today" | "tonight" | "now" | "hoy" | "esta noche" => today,
            "tomorrow" | "tomorrow night" | "manana" => today.succ_opt()?,
            word => {
                let wanted = weekday(word)?.num_days_from_monday();
                let ahead = (wanted + 7 - today.weekday().num_days_from_monday()) % 7;
                today.checked_add_days(Days::new(ahead.into()))?
            }
        })
    };
    let shown: String = text.chars().take(40).collect();
    let Some(date) = folded.parse::<NaiveDate>().ok().or_else(named) else {
        return Err(Fault::new(
            "bad_date",
            format!("`{shown}` is no date"),
            "write it as 2026-12-25, or today, tomorrow, friday",
        ));
    };
    match (date - today).num_days() {
        0..=MOST_DAYS => Ok(date),
        i64::MIN..0 => Err(Fault::new(
            "past_date",
            format!("{date} is over; today is {today}"),
            "ask for today or a later day",
        )),
        _ => Err(Fault::new(
            "far_date",
            format!("{date} is too far away"),
            "say that dates so far ahead are not known yet",
        )),
    }
}

/// Parses a time of day, such as 19:00, 7pm or 7:30 pm.
pub(crate) fn time(text: &str) -> Result<NaiveTime, Fault> {
    let plain: String = fold(text)
        .chars()
        .filter(|c| !c.is_whitespace() && *c != '.')
        .collect();
    let read = || {
        let (digits, half) = match plain.strip_suffix("am") {
            Some(digits) => (digits, Some(0)),
            None => plain
                .strip_suffix("pm")
                .map_or((plain.as_str(), None), |digits| (digits, Some(12))),
        };
        let (hour, minute) = digits.split_once(':').unwrap_or((digits, "0"));
        let (hour, minute): (u32, u32) = (
            hour.parse().ok()?,
            minute.get(..2).unwrap_or(minute).parse().ok()?,
        );
        let hour = match half {
            Some(half) => (1..=12).contains(&hour).then(|| hour % 12 + half)?,
            // A bare number may mean morning or evening.
            None if !digits.contains(':') => return None,
            None => hour,
        };
        NaiveTime::from_hms_opt(hour, minute, 0)
    };
    let shown: String = text.chars().take(40).collect();
    let bad = || {
        Fault::new(
            "bad_time",
            format!("`{shown}` is no time of day"),
            "write it as 19:00 or 7pm",
        )
    };
    match plain.as_str() {
        "noon" | "mediodia" => Ok(NaiveTime::from_hms_opt(12, 0, 0).unwrap_or_default()),
        "midnight" | "medianoche" => Ok(NaiveTime::MIN),
        _ => read().ok_or_else(bad),
    }
}

/// Converts a local time to an instant. If the clocks skip this time, takes the time one hour
/// later. If the time occurs twice, takes the first.
pub(crate) fn instant(wall: NaiveDateTime, zone: Tz) -> DateTime<Utc> {
    let read = |wall: NaiveDateTime| {
        zone.from_local_datetime(&wall)
            .earliest()
            .map(|at| at.to_utc())
    };
    read(wall)
        .or_else(|| read(wall + TimeDelta::hours(1)))
        .unwrap_or_else(|| wall.and_utc())
}

/// Formats a moment as "Friday at 5pm". If the day is more than six days away: "Friday Dec 25 at
/// 5pm".
pub(crate) fn show(moment: &Moment, today: NaiveDate, language: Language) -> String {
    let (name, date) = (
        calendar::weekday_name(moment.wall.weekday(), language),
        moment.wall.date(),
    );
    let at = if language == Language::En {
        "at"
    } else {
        "a las"
    };
    let far = (date - today).num_days() > 6;
    let date = if far {
        format!(
            " {}",
            date.format(if language == Language::En {
                "%b %-d"
            } else {
                "%-d/%-m"
            })
        )
    } else {
        String::new()
    };
    format!("{name}{date} {at} {}", clock(moment.minute()))
}

fn weekday(word: &str) -> Option<Weekday> {
    calendar::weekday(word).or_else(|| calendar::short_weekday(word, Language::En))
}

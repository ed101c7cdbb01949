//! A period of whole days in a casino's time zone.

use std::ops::RangeInclusive;

use chrono::{DateTime, Datelike, Days, NaiveDate, NaiveTime, TimeDelta, Utc};
use chrono_tz::Tz;

/// Maximum length of a period of figures, in days. Texts are kept for 365 days, so older ones are
/// gone.
pub const LONGEST_DAYS: i64 = 366;

/// The days from `from` to `to`, both included, in the time zone `zone`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    pub from: NaiveDate,
    pub to: NaiveDate,
    pub zone: Tz,
}

/// The reason why two days are not accepted as a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Bad {
    #[error("a day cannot be read; expected one such as 2026-11-30")]
    Day,
    #[error("the last day {to} is before the first day {from}")]
    Backwards { from: NaiveDate, to: NaiveDate },
    #[error("the period has {0} days; expected at most {LONGEST_DAYS}")]
    TooLong(i64),
}

/// Years that a person may enter.
const YEARS: RangeInclusive<i32> = 2_000..=2_200;

impl Period {
    /// Creates a period of figures.
    ///
    /// # Errors
    /// Fails if `to` is before `from`, or the period is longer than [`LONGEST_DAYS`].
    pub fn new(from: NaiveDate, to: NaiveDate, zone: Tz) -> Result<Self, Bad> {
        let period = Self { from, to, zone };
        match (to - from).num_days() + 1 {
            ..1 => Err(Bad::Backwards { from, to }),
            1..=LONGEST_DAYS => Ok(period),
            days => Err(Bad::TooLong(days)),
        }
    }

    /// Parses two days that a person entered. A blank day and the time zone are taken from
    /// `otherwise`. The length is not limited, because the audit log is kept for years.
    ///
    /// # Errors
    /// Fails if a day cannot be parsed, or the last day is before the first.
    pub fn read(from: &str, to: &str, otherwise: Self) -> Result<Self, Bad> {
        let day = |text: &str, blank: NaiveDate| match text.trim() {
            "" => Ok(blank),
            text => text.parse().map_err(|_| Bad::Day),
        };
        let (from, to) = (day(from, otherwise.from)?, day(to, otherwise.to)?);
        match [from, to].iter().all(|day| YEARS.contains(&day.year())) {
            false => Err(Bad::Day),
            true if to < from => Err(Bad::Backwards { from, to }),
            true => Ok(Self {
                from,
                to,
                ..otherwise
            }),
        }
    }

    /// Returns the last `days` days, today included.
    pub fn last(days: u64, now: DateTime<Utc>, zone: Tz) -> Self {
        let to = now.with_timezone(&zone).date_naive();
        let from = to - Days::new(days.max(1) - 1);
        Self { from, to, zone }
    }

    /// Returns the period of the same length that ends on the day before this one.
    pub fn before(self) -> Self {
        let days = self.to - self.from;
        let to = self.from - Days::new(1);
        Self {
            from: to - days,
            to,
            ..self
        }
    }

    /// Returns the start of the first day and the end of the last day.
    pub fn bounds(self) -> (DateTime<Utc>, DateTime<Utc>) {
        (
            midnight(self.from, self.zone),
            midnight(self.to + Days::new(1), self.zone),
        )
    }
}

/// Returns the start of the day: midnight, or one hour later on a day when the clocks skip
/// midnight.
fn midnight(day: NaiveDate, zone: Tz) -> DateTime<Utc> {
    let at = day.and_time(NaiveTime::MIN);
    let there = at.and_local_timezone(zone).earliest();
    let later = || {
        (at + TimeDelta::hours(1))
            .and_local_timezone(zone)
            .earliest()
    };
    there
        .or_else(later)
        .map_or_else(|| at.and_utc(), |at| at.to_utc())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn days_begin_at_the_casinos_midnight() {
        let zone = chrono_tz::America::New_York;
        let march = Period::new(day("2026-03-01"), day("2026-03-31"), zone).unwrap();
        let (from, to) = march.bounds();
        assert_eq!(from.to_rfc3339(), "2026-03-01T05:00:00+00:00");
        // Daylight saving time begins within this period.
        assert_eq!(to.to_rfc3339(), "2026-04-01T04:00:00+00:00");
        let before = march.before();
        assert_eq!(
            (before.from, before.to),
            (day("2026-01-29"), day("2026-02-28"))
        );
        // On this day, the clocks of Beirut go from 00:00 to 01:00.
        let spring = Period::new(
            day("2026-03-29"),
            day("2026-03-29"),
            chrono_tz::Asia::Beirut,
        );
        assert_eq!(
            spring.unwrap().bounds().0.to_rfc3339(),
            "2026-03-28T22:00:00+00:00"
        );
    }

    #[test]
    fn a_period_ends_after_it_begins_and_is_a_year_at_most() {
        let zone = chrono_tz::America::New_York;
        let of = |from, to| Period::new(day(from), day(to), zone);
        assert!(of("2026-03-01", "2026-03-01").is_ok());
        assert!(matches!(
            of("2026-03-02", "2026-03-01"),
            Err(Bad::Backwards { .. })
        ));
        assert_eq!(of("2025-03-01", "2026-03-02"), Err(Bad::TooLong(367)));
        let now = "2026-03-02T03:00:00Z".parse().unwrap();
        let week = Period::last(7, now, zone);
        assert_eq!((week.from, week.to), (day("2026-02-23"), day("2026-03-01")));
    }
}

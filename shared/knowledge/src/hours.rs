//! Weekly opening hours as a venue posts them on its door, in local time.

mod parse;
mod show;
mod special;
#[cfg(test)]
mod tests;

use chrono::{
    DateTime, Datelike, Days, NaiveDate, NaiveDateTime, TimeDelta, TimeZone, Timelike, Utc,
};
use chrono_tz::Tz;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use parse::{HoursError, weekly_starts};
pub(crate) use show::article;
pub use show::clock;
pub use special::{Day, SpecialDay};

/// Minutes in a day.
const DAY: u16 = 1_440;

/// One opening, in minutes after midnight of the day on which it begins. `closes` may be on the
/// next day, up to 48 hours after that midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    pub opens: u16,
    pub closes: u16,
}

/// The openings of each weekday, Monday first; stored and sent as text ("Sun-Thu 11am-10pm").
/// Openings follow the local clock, also on the days on which the clocks change.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WeeklyHours {
    days: [Vec<Span>; 7],
    /// Holidays, which replace the hours of their weekday. The stored text does not contain them.
    special: Vec<SpecialDay>,
}

/// An instant, and the local time at the casino.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    pub at: DateTime<Utc>,
    pub wall: NaiveDateTime,
}

impl Moment {
    pub fn minute(&self) -> u16 {
        minute_of(self.wall)
    }
}

// === impl WeeklyHours ===

impl WeeklyHours {
    /// Reads a door sign's text; [`HoursError`] says why it cannot be read.
    pub fn parse(text: &str) -> Result<Self, HoursError> {
        parse::weekly(text)
    }

    /// Reads text or `{"mon": ["11:00-22:00"], "tue": "closed"}`.
    pub fn from_json(value: &serde_json::Value) -> Result<Self, HoursError> {
        parse::weekly_json(value)
    }

    /// Builds the week from the openings of each weekday, Monday first. Merges overlapping and
    /// adjacent openings of one day.
    pub fn new(mut days: [Vec<Span>; 7]) -> Self {
        loop {
            days.iter_mut().for_each(merge);
            // The part of an opening beyond 24 hours moves to the next day, because no sign says
            // "open 30 hours".
            let mut spilled = false;
            for day in 0..7 {
                let mut rest = Vec::new();
                for span in &mut days[day] {
                    if span.closes - span.opens > DAY {
                        rest.push(Span {
                            opens: span.opens,
                            closes: span.closes - DAY,
                        });
                        span.closes = span.opens + DAY;
                    }
                }
                spilled |= !rest.is_empty();
                days[(day + 1) % 7].append(&mut rest);
            }
            if !spilled {
                return Self {
                    days,
                    special: Vec::new(),
                };
            }
        }
    }

    /// Adds holidays; if two match a day, the first one applies.
    #[must_use]
    pub fn with_special(self, special: &[SpecialDay]) -> Self {
        Self {
            special: special.to_vec(),
            ..self
        }
    }

    pub fn special(&self) -> &[SpecialDay] {
        &self.special
    }

    /// Returns the openings that begin on a date: those of a holiday, else those of the weekday.
    pub fn spans_on(&self, date: NaiveDate) -> &[Span] {
        let special = self.special.iter().find(|special| special.day.is(date));
        special.map_or_else(|| self.spans(date.weekday()), SpecialDay::spans)
    }

    /// Returns a weekday's regular openings.
    pub fn spans(&self, day: chrono::Weekday) -> &[Span] {
        &self.days[day.num_days_from_monday() as usize]
    }

    pub fn is_empty(&self) -> bool {
        self.days.iter().all(Vec::is_empty)
    }

    /// Returns for how many minutes the venue is open in a regular week.
    pub fn minutes(&self) -> u32 {
        self.days
            .iter()
            .flatten()
            .map(|span| u32::from(span.closes - span.opens))
            .sum()
    }

    /// Returns whether the venue is open at every minute of every week, holidays included.
    pub fn is_always(&self) -> bool {
        self.is_always_usually() && self.special.is_empty()
    }

    fn is_always_usually(&self) -> bool {
        self.days
            .iter()
            .all(|spans| spans.iter().any(|s| s.opens == 0 && s.closes >= DAY))
    }

    pub fn is_open(&self, at: DateTime<Utc>, tz: Tz) -> bool {
        self.covered_until(at.with_timezone(&tz).naive_local())
            .is_some()
    }

    /// Returns when the opening that includes `at` ends; `None` if the venue is closed then, or
    /// never closes.
    pub fn closes_at(&self, at: DateTime<Utc>, tz: Tz) -> Option<Moment> {
        let now = at.with_timezone(&tz).naive_local();
        let mut wall = self.covered_until(now)?;
        // Adjacent openings, such as a 24-hour Saturday before a Sunday, close when the last one
        // closes.
        while let Some(further) = self.covered_until(wall) {
            wall = further;
            if wall - now > TimeDelta::days(7) {
                return None;
            }
        }
        Some(Moment {
            at: instant(wall, tz, at),
            wall,
        })
    }

    /// Returns the next opening after `at`. If the venue is open at `at`, this is the first opening
    /// after the venue has closed.
    pub fn next_opening(&self, at: DateTime<Utc>, tz: Tz) -> Option<Moment> {
        let today = at.with_timezone(&tz).date_naive();
        // Looks further than a week, because holidays may replace every opening of one week.
        (0..16)
            .filter_map(|n| today.checked_add_days(Days::new(n)))
            .flat_map(|date| {
                self.spans_on(date)
                    .iter()
                    .map(move |span| wall(date, span.opens))
            })
            .map(|wall| Moment {
                at: instant(wall, tz, at),
                wall,
            })
            .filter(|m| m.at > at && !self.is_open(m.at - TimeDelta::minutes(1), tz))
            // Leaves out an opening that lies in the hour that the clocks skip.
            .filter(|m| self.is_open(m.at, tz))
            .min()
    }

    /// Returns every opening that begins on `date`, in local time.
    pub fn openings_on(&self, date: NaiveDate) -> Vec<(NaiveDateTime, NaiveDateTime)> {
        self.spans_on(date)
            .iter()
            .map(|s| (wall(date, s.opens), wall(date, s.closes)))
            .collect()
    }

    /// Returns the local time at which the opening that includes `now` ends.
    fn covered_until(&self, now: NaiveDateTime) -> Option<NaiveDateTime> {
        let minute = minute_of(now);
        let today = now.date();
        let begun_today = self
            .spans_on(today)
            .iter()
            .filter(|s| (s.opens..s.closes).contains(&minute))
            .map(|s| wall(today, s.closes));
        let yesterday = today.pred_opt()?;
        let begun_yesterday = self
            .spans_on(yesterday)
            .iter()
            .filter(|s| (s.opens..s.closes).contains(&(minute + DAY)))
            .map(|s| wall(yesterday, s.closes));
        begun_today.chain(begun_yesterday).max()
    }
}

impl Serialize for WeeklyHours {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for WeeklyHours {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        Self::from_json(&value).map_err(serde::de::Error::custom)
    }
}

fn merge(spans: &mut Vec<Span>) {
    spans.sort_unstable();
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans.drain(..) {
        match merged.last_mut() {
            Some(last) if span.opens <= last.closes => last.closes = last.closes.max(span.closes),
            _ => merged.push(span),
        }
    }
    *spans = merged;
}

fn minute_of(wall: NaiveDateTime) -> u16 {
    u16::try_from(wall.hour() * 60 + wall.minute()).expect("a day has 1440 minutes")
}

fn wall(date: NaiveDate, minute: u16) -> NaiveDateTime {
    date.and_time(chrono::NaiveTime::MIN) + TimeDelta::minutes(minute.into())
}

/// Returns the instant at which the local clock shows `wall`. If the clock shows `wall` twice,
/// returns the first of the two that is after `after`. If the clocks skip `wall`, returns the
/// instant of the change.
pub(crate) fn instant(wall: NaiveDateTime, tz: Tz, after: DateTime<Utc>) -> DateTime<Utc> {
    match tz.from_local_datetime(&wall) {
        chrono::LocalResult::Single(t) => t.to_utc(),
        chrono::LocalResult::Ambiguous(first, second) => if first.to_utc() > after {
            first
        } else {
            second
        }
        .to_utc(),
        chrono::LocalResult::None => {
            // Steps by minutes from well before the change until the wall clock has passed the
            // skipped time.
            let mut at = (wall - TimeDelta::hours(3)).and_utc()
                - TimeDelta::seconds(offset_seconds(wall - TimeDelta::hours(3), tz));
            while at.with_timezone(&tz).naive_local() < wall {
                at += TimeDelta::minutes(1);
            }
            at
        }
    }
}

fn offset_seconds(wall: NaiveDateTime, tz: Tz) -> i64 {
    use chrono::Offset;
    tz.offset_from_utc_datetime(&wall)
        .fix()
        .local_minus_utc()
        .into()
}

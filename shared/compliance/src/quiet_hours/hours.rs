//! Hours of a day and of a week, in local time.

use std::{fmt, str::FromStr};

use chrono::{NaiveTime, Timelike, Weekday};
use serde::{Serialize, Serializer};
use seven_domain::{Invalid, config::Regulations};

const DAY: u32 = 24 * 60 * 60;

/// A range of seconds within one day, never empty. The end is exclusive and at most `24:00`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hours {
    from: u32,
    to: u32,
}

impl Hours {
    pub const WHOLE_DAY: Self = Self { from: 0, to: DAY };

    fn new(from: u32, to: u32) -> Option<Self> {
        (from < to && to <= DAY).then_some(Self { from, to })
    }

    /// Returns the first second inside the hours and the first second after them, counted from
    /// midnight.
    pub fn seconds(self) -> (u32, u32) {
        (self.from, self.to)
    }

    pub fn contains(self, time: NaiveTime) -> bool {
        (self.from..self.to).contains(&time.num_seconds_from_midnight())
    }

    pub fn intersect(self, other: Self) -> Option<Self> {
        Self::new(self.from.max(other.from), self.to.min(other.to))
    }
}

impl FromStr for Hours {
    type Err = Invalid;
    /// Parses `08:00-21:00`; the latest end is `24:00`.
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let seconds = |part: &str| match part {
            "24:00" => Some(DAY),
            _ if part.len() == 5 => NaiveTime::parse_from_str(part, "%H:%M")
                .ok()
                .map(|time| time.num_seconds_from_midnight()),
            _ => None,
        };
        text.split_once('-')
            .and_then(|(from, to)| Self::new(seconds(from)?, seconds(to)?))
            .ok_or_else(|| {
                Invalid::new(
                    "hours",
                    format!("`{text}`"),
                    "HH:MM-HH:MM on one day, such as 08:00-21:00",
                )
            })
    }
}

impl fmt::Display for Hours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (separator, second) in [("", self.from), ("-", self.to)] {
            write!(f, "{separator}{:02}:{:02}", second / 3600, second / 60 % 60)?;
            if second % 60 != 0 {
                write!(f, ":{:02}", second % 60)?;
            }
        }
        Ok(())
    }
}

impl Serialize for Hours {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The hours of each weekday; `None` if the window is closed all day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Week([Option<Hours>; 7]);

impl Week {
    pub fn every_day(hours: Hours) -> Self {
        Self([Some(hours); 7])
    }

    #[must_use]
    pub fn with(mut self, day: Weekday, hours: Option<Hours>) -> Self {
        self.0[day.num_days_from_monday() as usize] = hours;
        self
    }

    pub fn on(&self, day: Weekday) -> Option<Hours> {
        self.0[day.num_days_from_monday() as usize]
    }

    /// Returns the hours that are inside both weeks.
    #[must_use]
    pub fn intersect(mut self, other: Self) -> Self {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine = mine
                .zip(theirs)
                .and_then(|(mine, theirs)| mine.intersect(theirs));
        }
        self
    }
}

/// The hours, in the guest's local time, in which a casino texts. They only narrow the lawful
/// window. They cross midnight if `opens` is later than `closes`. If both are equal, they cover the
/// whole day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CasinoWindow {
    pub opens: NaiveTime,
    pub closes: NaiveTime,
}

impl CasinoWindow {
    /// A casino without its own hours: only the lawful window applies.
    pub const ANY_TIME: Self = Self {
        opens: NaiveTime::MIN,
        closes: NaiveTime::MIN,
    };

    /// Returns the window outside the quiet hours, which are from `start` to `end`. Quiet hours
    /// cross midnight if `start` is later than `end`.
    pub fn from_quiet_hours(start: NaiveTime, end: NaiveTime) -> Self {
        Self {
            opens: end,
            closes: start,
        }
    }

    /// Reads the casino's `quiet_hours_start` and `quiet_hours_end`.
    pub fn from_regulations(regulations: &Regulations) -> Result<Self, Invalid> {
        let time = |what: &'static str, text: &str| {
            NaiveTime::parse_from_str(text, "%H:%M")
                .map_err(|_| Invalid::new(what, format!("`{text}`"), "HH:MM, such as 21:00"))
        };
        Ok(Self::from_quiet_hours(
            time(
                "regulations.quiet_hours_start",
                &regulations.quiet_hours_start,
            )?,
            time("regulations.quiet_hours_end", &regulations.quiet_hours_end)?,
        ))
    }

    /// Returns the parts of `hours` in which the casino sends texts, in order: none, one, or two if
    /// the casino's window crosses midnight.
    pub(super) fn narrow(self, hours: Hours) -> impl Iterator<Item = Hours> {
        let (opens, closes) = (
            self.opens.num_seconds_from_midnight(),
            self.closes.num_seconds_from_midnight(),
        );
        let own = match opens.cmp(&closes) {
            std::cmp::Ordering::Less => [Hours::new(opens, closes), None],
            std::cmp::Ordering::Equal => [Some(Hours::WHOLE_DAY), None],
            std::cmp::Ordering::Greater => [Hours::new(0, closes), Hours::new(opens, DAY)],
        };
        own.into_iter()
            .flatten()
            .filter_map(move |own| own.intersect(hours))
    }
}

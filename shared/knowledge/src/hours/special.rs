//! Holidays: days on which a venue is closed or has hours different from those of the weekday.

use std::fmt;

use chrono::{Datelike, NaiveDate};
use serde::{Serialize, Serializer, ser::SerializeStruct};
use seven_domain::Language;

use super::{HoursError, Span, WeeklyHours};

/// The calendar day of a holiday.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Day {
    Once(NaiveDate),
    /// The same month and day of every year.
    Yearly(u32, u32),
}

/// The openings of a holiday, which replace those of its weekday; none means closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecialDay {
    pub day: Day,
    /// The name of the day, such as "Christmas Day".
    pub name: Option<String>,
    spans: Vec<Span>,
}

// === impl Day ===

impl Day {
    /// Reads "12-25", a day of every year. The caller reads other days, because only the caller
    /// knows the date to which "tomorrow" refers.
    pub fn yearly(text: &str) -> Option<Self> {
        let (month, day) = text.trim().split_once('-')?;
        let (month, day) = (month.parse().ok()?, day.parse().ok()?);
        // Uses 2024, a leap year, so that 02-29 is accepted.
        NaiveDate::from_ymd_opt(2024, month, day).map(|_| Self::Yearly(month, day))
    }

    pub fn is(self, date: NaiveDate) -> bool {
        match self {
            Self::Once(day) => day == date,
            Self::Yearly(month, day) => (date.month(), date.day()) == (month, day),
        }
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Once(date) => date.fmt(f),
            Self::Yearly(month, day) => write!(f, "{month:02}-{day:02}"),
        }
    }
}

// === impl SpecialDay ===

impl SpecialDay {
    /// Reads `hours`, a door sign without weekdays: "10am-6pm", "closed", "24 hours".
    pub fn new(day: Day, name: Option<String>, hours: &str) -> Result<Self, HoursError> {
        let week = WeeklyHours::parse(hours)?;
        if week.days.iter().any(|spans| *spans != week.days[0]) {
            return Err(HoursError {
                text: hours.to_owned(),
                reason: "one day needs no weekdays".to_owned(),
            });
        }
        let [spans, ..] = week.days;
        Ok(Self { day, name, spans })
    }

    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Writes the hours: "10am-6pm", "Closed".
    pub fn show(&self, language: Language) -> String {
        let week = WeeklyHours::new(std::array::from_fn(|_| self.spans.clone())).show(language);
        week.strip_prefix("Daily ")
            .or_else(|| week.strip_prefix("Diario "))
            .map(str::to_owned)
            .unwrap_or(week)
    }

    /// Writes the day with its hours: "Dec 25 (Christmas Day) closed".
    pub fn describe(&self) -> String {
        let date = match self.day {
            Day::Once(date) => date.format("%b %-d, %Y").to_string(),
            Day::Yearly(month, day) => NaiveDate::from_ymd_opt(2024, month, day)
                .map(|date| date.format("%b %-d").to_string())
                .unwrap_or_default(),
        };
        let name = self
            .name
            .as_ref()
            .map(|name| format!(" ({name})"))
            .unwrap_or_default();
        let hours = self.show(Language::En);
        let hours = if self.spans.is_empty() {
            hours.to_lowercase()
        } else {
            hours
        };
        format!("{date}{name} {hours}")
    }
}

impl Serialize for SpecialDay {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut day = serializer.serialize_struct("SpecialDay", 3)?;
        day.serialize_field("date", &self.day.to_string())?;
        if let Some(name) = &self.name {
            day.serialize_field("name", name)?;
        }
        day.serialize_field("hours", &self.show(Language::En))?;
        day.end()
    }
}

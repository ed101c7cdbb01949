//! One content item: a restaurant, a show, a treatment, a rule. It is checked when it is parsed.

mod details;
mod read;
#[cfg(test)]
mod tests;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use chrono_tz::Tz;
use serde::Serialize;
use serde_json::Value;
use seven_domain::Language;

pub use details::{Details, Dining, Entertainment, Gaming, HoursInfo, Promotion, Regulation, Spa};

use crate::{Category, Problem, Reference, WeeklyHours};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Item {
    pub id: String,
    pub category: Category,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name_es: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subcategory: Option<String>,
    pub description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description_es: Option<String>,
    pub details: Details,
    pub active: bool,
    /// Other words that guests use for the item; they are searched but never shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// A hint for guests that the host may share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tip: Option<String>,
    /// Internal notes; never shown, searched or embedded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

// === impl Item ===

impl Item {
    /// Reads an item as a person wrote it; relative dates count from `reference`. Returns all
    /// problems at once.
    pub fn read(value: &Value, reference: Reference) -> Result<Self, Vec<Problem>> {
        read::item(value, Some(reference))
    }

    /// Reads an item as [`Item::to_json`] stored it, with every date absolute.
    pub fn from_json(value: &Value) -> Result<Self, Vec<Problem>> {
        read::item(value, None)
    }

    /// Returns the form that is stored in a jsonb column.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("an item has only text keys")
    }

    pub fn name(&self, language: Language) -> &str {
        match (language, &self.name_es) {
            (Language::Es, Some(name)) => name,
            _ => &self.name,
        }
    }

    pub fn description(&self, language: Language) -> &str {
        match (language, &self.description_es) {
            (Language::Es, Some(text)) => text,
            _ => &self.description,
        }
    }

    pub fn hours(&self) -> Option<&WeeklyHours> {
        self.details.hours()
    }

    pub fn is_open(&self, at: DateTime<Utc>, tz: Tz) -> bool {
        self.hours().is_some_and(|h| h.is_open(at, tz))
    }

    /// Returns where the item is: the venue of an event, or the location of any other item that has
    /// one.
    pub fn location(&self) -> Option<&str> {
        match &self.details {
            Details::Dining(d) => d.location.as_deref(),
            Details::Entertainment(d) => Some(&d.venue),
            Details::Gaming(d) => d.location.as_deref(),
            Details::Hours(HoursInfo { extra, .. }) | Details::Free(extra) => {
                extra.get("location").and_then(Value::as_str)
            }
            Details::Spa(_) | Details::Promotion(_) | Details::Regulation(_) => None,
        }
    }

    /// Returns whether guests may be told about the item at `now`. The item must be active. An
    /// event must not be over, and a promotion's last day must not be past.
    pub fn is_current(&self, now: DateTime<Utc>, tz: Tz) -> bool {
        self.is_current_on(now, now.with_timezone(&tz).date_naive())
    }

    /// Like [`Item::is_current`], but the caller passes the casino's date as `today`, so that
    /// thousands of items can be checked with one computation of the date.
    pub(crate) fn is_current_on(&self, now: DateTime<Utc>, today: NaiveDate) -> bool {
        let timely = match &self.details {
            Details::Entertainment(e) => {
                let lasts = TimeDelta::minutes(e.duration_minutes.unwrap_or(0).into());
                e.starts_at.is_none_or(|starts| starts + lasts >= now)
            }
            Details::Promotion(p) => p.valid_until >= today,
            _ => true,
        };
        self.active && timely
    }
}

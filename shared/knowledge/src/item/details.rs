//! The details that an item of each category has besides name and description.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};
use serde::Serialize;
use serde_json::Value;

use crate::{WeeklyHours, hours::SpecialDay};

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Details {
    Dining(Dining),
    Entertainment(Entertainment),
    Spa(Spa),
    Gaming(Gaming),
    Promotion(Promotion),
    Regulation(Regulation),
    Hours(HoursInfo),
    /// General information, and categories whose fields the code does not know.
    Free(BTreeMap<String, Value>),
}

macro_rules! details {
    ($($name:ident { $($field:ident : $type:ty),+ $(,)? })+) => {$(
        #[derive(Debug, Clone, PartialEq, Serialize)]
        pub struct $name {
            $(#[serde(skip_serializing_if = "absent")] pub $field: $type),+
        }
    )+};
}

/// Tells which values are omitted from the stored form: nulls and empty lists.
trait Absent {
    fn absent(&self) -> bool {
        false
    }
}
impl<T> Absent for Option<T> {
    fn absent(&self) -> bool {
        self.is_none()
    }
}
impl<T> Absent for Vec<T> {
    fn absent(&self) -> bool {
        self.is_empty()
    }
}
impl Absent for String {}
impl Absent for f64 {}
impl Absent for u32 {}
impl Absent for WeeklyHours {}
impl Absent for NaiveDate {}

fn absent(value: &impl Absent) -> bool {
    value.absent()
}

details! {
    Dining {
        cuisine_type: String, price_range: String, hours: WeeklyHours, location: Option<String>,
        dress_code: Option<String>,
        reservations: Option<String>, kids_menu: Option<bool>, dietary_options: Vec<String>,
        special_hours: Vec<SpecialDay>,
    }
    Entertainment {
        event_type: String, venue: String, starts_at: Option<DateTime<Utc>>,
        schedule: Option<String>, ticket_price_min: Option<f64>,
        ticket_price_max: Option<f64>, age_restriction: Option<String>,
        duration_minutes: Option<u32>, hours: Option<WeeklyHours>,
        special_hours: Vec<SpecialDay>,
    }
    Spa {
        treatment_type: String, duration_minutes: u32, price: f64, couples_option: Option<bool>,
        booking_required: Option<bool>,
        hours: Option<WeeklyHours>, special_hours: Vec<SpecialDay>,
    }
    Promotion {
        promo_type: String, value: f64, valid_from: NaiveDate, valid_until: NaiveDate,
        eligibility: Option<String>,
        redemption_method: Option<String>, max_redemptions: Option<u32>,
    }
    Regulation {
        regulation_type: String, state: String, effective_date: Option<NaiveDate>,
        applies_to: Vec<String>, penalty: Option<String>,
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gaming {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum_bet: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hours: Option<WeeklyHours>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub special_hours: Vec<SpecialDay>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// The opening hours of a place that is not a restaurant, such as a pool or a gift shop.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HoursInfo {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hours: Option<WeeklyHours>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub special_hours: Vec<SpecialDay>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seasonal_notes: Option<String>,
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

impl Details {
    pub fn hours(&self) -> Option<&WeeklyHours> {
        match self {
            Self::Dining(d) => Some(&d.hours),
            Self::Entertainment(d) => d.hours.as_ref(),
            Self::Spa(d) => d.hours.as_ref(),
            Self::Gaming(d) => d.hours.as_ref(),
            Self::Hours(d) => d.hours.as_ref(),
            Self::Promotion(_) | Self::Regulation(_) | Self::Free(_) => None,
        }
    }

    /// Returns the fields that are not in the category's schema.
    pub fn extra(&self) -> Option<&BTreeMap<String, Value>> {
        match self {
            Self::Gaming(Gaming { extra, .. })
            | Self::Hours(HoursInfo { extra, .. })
            | Self::Free(extra) => Some(extra),
            Self::Dining(_)
            | Self::Entertainment(_)
            | Self::Spa(_)
            | Self::Promotion(_)
            | Self::Regulation(_) => None,
        }
    }
}

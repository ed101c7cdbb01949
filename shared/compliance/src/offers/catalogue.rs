//! A casino's real offers and prices, which the caller fills in from content rows.

use chrono::{DateTime, NaiveDate, Utc};
use chrono_tz::Tz;

/// The facts that can prove an offer in a reply. Only promotions prove gifts; rows prove prices and
/// free amenities.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Catalogue {
    pub promotions: Vec<Promotion>,
    pub rows: Vec<Row>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Promotion {
    pub id: String,
    /// The name, description, kind and terms, in every language in which the guest may be answered.
    pub wording: Vec<String>,
    /// The value in dollars; if the wording says "20%", a value of 20 is a percentage.
    pub value: Option<f64>,
    /// The first and last day, such as `2026-03-15`, both included, in the casino's time zone.
    /// `None` is open-ended; a text that is not a date makes the promotion invalid.
    pub valid_from: Option<String>,
    pub valid_until: Option<String>,
}

/// A content row that was retrieved for this reply. It may describe a restaurant, a show or a rule.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    /// The complete wording, as the model saw it.
    pub text: String,
    /// The row's numeric prices in dollars.
    pub prices: Vec<f64>,
}

// === impl Promotion ===

impl Promotion {
    /// Returns whether the promotion is valid now. Compares days, not instants: a change of the
    /// clocks then cannot move the first or last minute.
    pub fn is_live(&self, now: DateTime<Utc>, zone: Tz) -> bool {
        let today = now.with_timezone(&zone).date_naive();
        let holds = |day: &Option<String>, test: fn(NaiveDate, NaiveDate) -> bool| match day {
            None => true,
            Some(day) => day.trim().parse().is_ok_and(|day| test(day, today)),
        };
        holds(&self.valid_from, |from, today| from <= today)
            && holds(&self.valid_until, |until, today| today <= until)
    }
}

//! The real offers and prices of a casino, as a caller fills them in from content rows.

use chrono::{DateTime, NaiveDate, Utc};
use chrono_tz::Tz;

/// Everything a reply may rely on. Promotions are the only source of offers; rows prove prices and amenities (SEC-83).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Catalogue {
    pub promotions: Vec<Promotion>,
    pub rows: Vec<Row>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Promotion {
    pub id: String,
    /// Name, description, kind and terms, in every language the guest may be answered in.
    pub wording: Vec<String>,
    /// Its worth in dollars; a wording that says "20%" makes a 20 a percentage.
    pub value: Option<f64>,
    /// First and last day, `2026-03-15`, both inclusive, in the casino's zone. None is open-ended; what is no date ends
    /// the promotion.
    pub valid_from: Option<String>,
    pub valid_until: Option<String>,
}

/// A content row that was retrieved for this reply: a restaurant, a show, a rule.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    /// All its wording, as the model saw it.
    pub text: String,
    /// Its numeric prices in dollars.
    pub prices: Vec<f64>,
}

// === impl Promotion ===

impl Promotion {
    /// Days, not instants: no daylight-saving change can move the first or last minute.
    pub fn is_live(&self, now: DateTime<Utc>, zone: Tz) -> bool {
        let today = now.with_timezone(&zone).date_naive();
        let holds = |day: &Option<String>, test: fn(NaiveDate, NaiveDate) -> bool| match day {
            None => true,
            Some(day) => day.trim().parse().is_ok_and(|day| test(day, today)),
        };
        holds(&self.valid_from, |from, today| from <= today) && holds(&self.valid_until, |until, today| today <= until)
    }
}

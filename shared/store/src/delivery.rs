//! Delivery of our texts per casino and hour, and carriers that refuse them. All numbers are read
//! from the texts through an index. Comparisons of delivered with sent texts leave out texts that
//! are too young for a receipt.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::FromRow;

use crate::{Result, Tx};

/// One hour of one casino, in UTC. A text belongs to the hour in which the provider accepted it. If
/// it was never accepted, it belongs to the hour in which it ended.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct Hour {
    pub hour: DateTime<Utc>,
    /// Texts that a provider accepted.
    pub sent: i64,
    pub segments: i64,
    pub single_segment: i64,
    /// Texts of `sent` that are old enough for a receipt to be expected.
    pub counted: i64,
    /// Texts of `counted` that were delivered.
    pub delivered: i64,
    /// Texts of `counted` that were refused after the provider had accepted them.
    pub bounced: i64,
    /// Texts that the provider refused to accept.
    pub failed: i64,
    /// Texts whose outcome is unknown.
    pub unknown: i64,
    /// Texts that the pre-send check refused.
    pub suppressed: i64,
    /// Guests who opted out.
    pub opt_outs: i64,
    /// Number of texts with a final receipt, and the mean seconds until it came.
    pub reported: i64,
    pub receipt_seconds: Option<f64>,
    pub receipt_p50: Option<f64>,
    pub receipt_p95: Option<f64>,
}

/// Delivery of one casino over a recent window.
#[derive(Debug, Clone, Copy, FromRow)]
pub struct Recent {
    pub counted: i64,
    pub delivered: i64,
    pub bounced: i64,
}

/// Refusals by one carrier since it last accepted a text.
#[derive(Debug, Clone, FromRow)]
pub struct Refusals {
    pub provider: String,
    /// The carrier's name; empty if the provider does not report it.
    pub carrier: String,
    pub refused: i64,
}

const HOURS: &str = include_str!("../sql/delivery_hours.sql");

const REFUSALS: &str = include_str!("../sql/carrier_refusals.sql");

impl Tx {
    /// Returns the last `hours` hours of the bound casino, the current one last, including hours
    /// without texts. Texts younger than `margin` are left out of `counted`, `delivered` and
    /// `bounced`.
    pub async fn delivery_hours(&mut self, hours: i32, margin: Duration) -> Result<Vec<Hour>> {
        let query = sqlx::query_as(HOURS)
            .bind(hours.max(1))
            .bind(margin.as_secs_f64());
        Ok(query.fetch_all(self.conn()).await?)
    }

    /// Counts the texts of the last `window`, without those younger than `margin`.
    pub async fn delivery_recent(&mut self, window: Duration, margin: Duration) -> Result<Recent> {
        Ok(sqlx::query_as(
            "select count(*) as counted, count(*) filter (where state = 'delivered') as delivered,
               count(*) filter (where state in ('failed', 'undelivered')) as bounced
             from outbound_messages where sent_at >= now() - make_interval(secs => $1) and sent_at < now() - make_interval(secs => $2)",
        )
        .bind(window.as_secs_f64())
        .bind(margin.as_secs_f64())
        .fetch_one(self.conn())
        .await?)
    }

    /// Returns the carriers that refused texts of the last `window` and have accepted none since.
    /// Counts only refusals with one of `codes`, each written `provider/code`.
    pub async fn carrier_refusals(
        &mut self,
        window: Duration,
        codes: &[String],
    ) -> Result<Vec<Refusals>> {
        Ok(sqlx::query_as(REFUSALS)
            .bind(window.as_secs_f64())
            .bind(codes)
            .fetch_all(self.conn())
            .await?)
    }
}

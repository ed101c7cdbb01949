//! The figures of a casino in a period, counted from the rows themselves; `docs/metrics.md` defines
//! each one.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use sqlx::FromRow;

use crate::{Result, Tx, day::least_id};

/// Maximum time by which a row's id may be older than the row. A turn has the id of its first text,
/// which may have waited for days. Queries compare ids only in order to skip older rows.
const OLDER_ID: TimeDelta = TimeDelta::days(7);

/// One counted figure. A figure without any row to measure, such as a median of nothing, is not
/// returned.
#[derive(Debug, Clone, PartialEq, FromRow)]
pub struct Counted {
    pub figure: String,
    /// The value by which the figure is broken down, such as a language; empty for the whole
    /// figure.
    pub part: String,
    pub value: f64,
}

/// The counts of one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromRow)]
pub struct CountedDay {
    pub day: NaiveDate,
    pub texts_in: i64,
    pub answered: i64,
    pub texts_out: i64,
    pub cases: i64,
    pub opt_outs: i64,
    pub segments_in: i64,
    pub segments_out: i64,
    /// Cost in billionths of a dollar, each call at the prices on its day.
    pub model_nano_usd: i64,
}

impl Tx {
    /// Returns the figures from `from` (included) to `to` (excluded).
    pub async fn figures(
        &mut self,
        from: DateTime<Utc>,
        to: DateTime<Utc>,
    ) -> Result<Vec<Counted>> {
        Ok(sqlx::query_as(include_str!("../sql/figures.sql"))
            .bind(from)
            .bind(to)
            .bind(least_id(from - OLDER_ID))
            .fetch_all(self.conn())
            .await?)
    }

    /// Returns the counts of each day of the period. Days are by the local time in `zone`, the IANA
    /// name of a time zone.
    pub async fn figure_days(
        &mut self,
        from: DateTime<Utc>,
        to: DateTime<Utc>,
        zone: &str,
    ) -> Result<Vec<CountedDay>> {
        Ok(sqlx::query_as(include_str!("../sql/figure_days.sql"))
            .bind(from)
            .bind(to)
            .bind(least_id(from - OLDER_ID))
            .bind(zone)
            .fetch_all(self.conn())
            .await?)
    }
}

//! Counts for a casino's go-live check (DEP-30, SMS-59). They contain no text and no phone.

use seven_domain::CasinoStatus;
use sqlx::FromRow;

use crate::{Result, Tx};

/// Counts of the bound casino's rows.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct Shown {
    pub status: CasinoStatus,
    pub delivered: i64,
    pub stop_confirmed: i64,
    pub help_delivered: i64,
    /// Guests who may get campaigns.
    pub opted_in: i64,
    /// Guests who may get campaigns but have no event in the consent chain.
    pub without_proof: i64,
    /// Finished campaigns that were released to only one to ten guests, as a rehearsal is.
    pub small_campaigns: i64,
}

impl Tx {
    /// Counts the active content rows by category.
    pub async fn content_counts(&mut self) -> Result<Vec<(String, i64)>> {
        let query =
            "select category, count(*) from content_items where active group by 1 order by 1";
        Ok(sqlx::query_as(query).fetch_all(self.conn()).await?)
    }

    pub async fn shown(&mut self) -> Result<Option<Shown>> {
        Ok(sqlx::query_as(include_str!("../sql/go_live_counts.sql"))
            .fetch_optional(self.conn())
            .await?)
    }
}

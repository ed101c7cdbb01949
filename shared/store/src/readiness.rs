//! Counts for a casino's go-live check (DEP-30, SMS-59). They contain no text and no phone.

use sqlx::FromRow;

use crate::{Result, Tx};

/// Counts of the bound casino's rows.
#[derive(Debug, Clone, Default, PartialEq, Eq, FromRow)]
pub struct Shown {
    /// `active`, `suspended` or `removed`.
    pub status: String,
    pub delivered: i64,
    pub stop_confirmed: i64,
    pub help_delivered: i64,
    /// Guests who may get campaigns, and how many of them have no event in the consent chain.
    pub opted_in: i64,
    pub without_proof: i64,
    /// Finished campaigns that released one to ten guests, as a dry run of the first batch.
    pub small_campaigns: i64,
}

impl Tx {
    /// Counts the active content rows by category.
    pub async fn content_counts(&mut self) -> Result<Vec<(String, i64)>> {
        let query = "select category, count(*) from content_items where active group by 1 order by 1";
        Ok(sqlx::query_as(query).fetch_all(self.conn()).await?)
    }

    pub async fn shown(&mut self) -> Result<Option<Shown>> {
        Ok(sqlx::query_as(
            "select c.status,
               (select count(*) from outbound_messages where state = 'delivered') as delivered,
               (select count(*) from outbound_messages where state = 'delivered' and class = 'opt_out_confirmation') as stop_confirmed,
               (select count(*) from outbound_messages where state = 'delivered' and class = 'help') as help_delivered,
               (select count(*) from guests where consent_tier in ('informational', 'marketing')) as opted_in,
               (select count(*) from guests g where consent_tier in ('informational', 'marketing') and not exists (
                  select from consent_events e where e.key_id = g.key_id and e.phone_hash = g.phone_hash)) as without_proof,
               (select count(*) from campaigns p where p.state = 'done' and (
                  select count(*) from campaign_guests r where r.campaign_id = p.campaign_id and r.state = 'released') between 1 and 10) as small_campaigns
             from casinos c",
        )
        .fetch_optional(self.conn())
        .await?)
    }
}

//! What the guards compare a change with, and how soon changes reach guests.

use chrono::{DateTime, Utc};
use sqlx::FromRow;

use crate::{Result, Tx};

/// An item of a category, as the guards count it.
#[derive(Debug, Clone, FromRow)]
pub struct Name {
    pub item_id: String,
    pub category: String,
    pub name: String,
    pub active: bool,
    /// Whether it was switched off since the time that was asked for.
    pub off_lately: bool,
}

/// Published changes that no process answers with yet.
#[derive(Debug, Clone, Copy, FromRow)]
pub struct Unindexed {
    pub revisions: i64,
    pub oldest: Option<DateTime<Utc>>,
}

impl Tx {
    /// Returns the items of these categories; those that were on and are off since `since` are
    /// marked.
    pub async fn names_in(
        &mut self,
        categories: &[String],
        since: DateTime<Utc>,
    ) -> Result<Vec<Name>> {
        Ok(sqlx::query_as(
            "select i.item_id, i.category, i.name, i.active,
               not i.active and exists (select 1 from content_revisions r where r.item_id = i.item_id and r.revision = i.revision
                   and r.published_at >= $2)
                 and exists (select 1 from content_revisions r where r.item_id = i.item_id and r.revision < i.revision
                   and r.state = 'published' and r.active) as off_lately
             from content_items i where i.category = any($1)",
        )
        .bind(categories)
        .bind(since)
        .fetch_all(self.conn())
        .await?)
    }

    /// Returns an unused id such as `dining_012` for a new item of the category.
    pub async fn new_item_id(&mut self, category: &str) -> Result<String> {
        let highest: i64 = sqlx::query_scalar(
            "select coalesce(max(substring(item_id from '_([0-9]{1,9})$')::bigint), 0) from content_revisions
             where item_id like $1 || '\\_%' and substring(item_id from '^(.*)_[0-9]{1,9}$') = $1",
        )
        .bind(category)
        .fetch_one(self.conn())
        .await?;
        Ok(format!("{category}_{:03}", highest + 1))
    }

    /// Notes that a process answers with the content of this version; returns the seconds that each
    /// revision took since it was published, when no process had it before.
    pub async fn note_indexed(&mut self, version: i64) -> Result<Vec<f64>> {
        Ok(sqlx::query_scalar(
            "update content_revisions set indexed_at = now()
             where state = 'published' and indexed_at is null and content_version <= $1
             returning extract(epoch from now() - published_at)::float8",
        )
        .bind(version)
        .fetch_all(self.conn())
        .await?)
    }

    /// Returns what was published and no process answers with yet.
    pub async fn unindexed(&mut self) -> Result<Unindexed> {
        Ok(sqlx::query_as(
            "select count(*) as revisions, min(published_at) as oldest from content_revisions
             where state = 'published' and indexed_at is null and content_version is not null",
        )
        .fetch_one(self.conn())
        .await?)
    }
}

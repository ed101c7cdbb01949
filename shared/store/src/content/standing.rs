//! The rows that the guards compare a change with, and how soon changes reach guests.

use chrono::{DateTime, Utc};
use seven_domain::CasinoId;
use sqlx::FromRow;

use crate::{Result, Store, Tx};

/// An item of a category. The guards count a category's active items, and its items that were
/// switched off lately.
#[derive(Debug, Clone, FromRow)]
pub struct Name {
    pub item_id: String,
    pub category: String,
    pub name: String,
    pub active: bool,
    /// Whether the item was switched off at or after the time that the caller gave.
    pub off_lately: bool,
}

/// Number of a casino's waiting revisions of one kind, which `what` names:
/// - `due`: the scheduler has to publish the revisions or take them down now
/// - `late`: the revisions are published, but no process answers with them yet
/// - a state: the revisions in this state wait for people or for their time
#[derive(Debug, Clone)]
pub struct Waits {
    pub casino: CasinoId,
    pub what: String,
    pub n: i64,
}

impl Store {
    /// Returns the waiting revisions of all casinos. A change that was published before
    /// `late_before` should have reached guests by now.
    pub async fn content_waits(
        &self,
        at: DateTime<Utc>,
        late_before: DateTime<Utc>,
    ) -> Result<Vec<Waits>> {
        let rows: Vec<(String, String, i64)> =
            sqlx::query_as("select casino_id, what, n from fleet_content($1, $2)")
                .bind(at)
                .bind(late_before)
                .fetch_all(&mut *self.fleet().await?)
                .await?;
        rows.into_iter()
            .map(|(casino, what, n)| {
                let casino = CasinoId::trusted(&casino)?;
                Ok(Waits { casino, what, n })
            })
            .collect()
    }
}

impl Tx {
    /// Returns the items of these categories; `off_lately` marks those that were switched off since
    /// `since`.
    pub async fn names_in(
        &mut self,
        categories: &[String],
        since: DateTime<Utc>,
    ) -> Result<Vec<Name>> {
        Ok(sqlx::query_as(
            "select i.item_id, i.category, i.name, i.active,
               not i.active and exists (select 1 from content_revisions r where r.item_id = i.item_id and r.revision = i.revision
                   and r.published_at >= $2)
                 and coalesce((select r.active from content_revisions r where r.item_id = i.item_id and r.revision < i.revision
                   and r.state = 'published' order by r.revision desc limit 1), false) as off_lately
             from content_items i where i.category = any($1)",
        )
        .bind(categories)
        .bind(since)
        .fetch_all(self.conn())
        .await?)
    }

    /// Returns the highest number in the category's ids, such as 12 for `dining_012`.
    pub async fn highest_item_number(&mut self, category: &str) -> Result<i64> {
        Ok(sqlx::query_scalar(
            "select coalesce(max(substring(item_id from '_([0-9]{1,9})$')::bigint), 0) from content_revisions
             where item_id like $1 || '\\_%' and substring(item_id from '^(.*)_[0-9]{1,9}$') = $1",
        )
        .bind(category)
        .fetch_one(self.conn())
        .await?)
    }

    /// Records that a process answers with the content of this version. For each revision with
    /// which no process answered before, returns the seconds since its publication.
    pub async fn note_indexed(&mut self, version: i64) -> Result<Vec<f64>> {
        Ok(sqlx::query_scalar(
            "update content_revisions set indexed_at = now()
             where (item_id, revision) in (
               select item_id, revision from content_revisions
               where state = 'published' and indexed_at is null and content_version <= $1
               for update skip locked)
             returning extract(epoch from now() - published_at)::float8",
        )
        .bind(version)
        .fetch_all(self.conn())
        .await?)
    }
}

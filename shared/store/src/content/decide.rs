//! Publishes revisions, refuses them, takes them down, and erases their contents.

use chrono::{DateTime, Utc};
use seven_domain::RevisionState;

use crate::{Result, Tx};

/// A decision about one revision.
#[derive(Debug, Clone, Copy)]
pub struct Decided<'a> {
    pub item_id: &'a str,
    pub revision: i32,
    pub by: &'a str,
    pub reason: &'a str,
}

impl Tx {
    /// Publishes a revision: guests get it from now on. The caller raises the content version to
    /// `version` in the same transaction. A revision that was published before stays in the
    /// history.
    pub async fn publish_revision(&mut self, what: &Decided<'_>, version: i64) -> Result<()> {
        sqlx::query(
            "with published as (
               update content_revisions set state = 'published', published_at = now(), content_version = $5,
                 decided_by = coalesce(decided_by, $3), decided_at = now(), decision_reason = coalesce(decision_reason, nullif($4, ''))
               where item_id = $1 and revision = $2
               returning casino_id, item_id, category, name, item, content_hash, active, revision)
             insert into content_items (casino_id, item_id, category, name, item, content_hash, active, revision, position)
             select casino_id, item_id, category, name, item, content_hash, active, revision,
               (select coalesce(max(position) + 1, 0) from content_items)
             from published
             on conflict (casino_id, item_id) do update set category = excluded.category, name = excluded.name, item = excluded.item,
               content_hash = excluded.content_hash, active = excluded.active, revision = excluded.revision, updated_at = now()",
        )
        .bind(what.item_id)
        .bind(what.revision)
        .bind(what.by)
        .bind(what.reason)
        .bind(version)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Moves a revision that is not published to another state. Returns false if its state is no
    /// longer one of `from`.
    pub async fn decide_revision(
        &mut self,
        what: &Decided<'_>,
        from: &[RevisionState],
        to: RevisionState,
    ) -> Result<bool> {
        let from: Vec<&str> = from.iter().map(|state| state.as_str()).collect();
        let done = sqlx::query(
            "update content_revisions set state = $5, decided_by = $3, decided_at = now(), decision_reason = nullif($4, '')
             where item_id = $1 and revision = $2 and state = any($6)",
        )
        .bind(what.item_id)
        .bind(what.revision)
        .bind(what.by)
        .bind(what.reason)
        .bind(to)
        .bind(from)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Returns the scheduled revisions whose time to be published has come: (item id, revision).
    pub async fn revisions_due(&mut self, now: DateTime<Utc>) -> Result<Vec<(String, i32)>> {
        Ok(sqlx::query_as(
            "select item_id, revision from content_revisions where state = 'scheduled' and publish_at <= $1 order by publish_at",
        )
        .bind(now)
        .fetch_all(self.conn())
        .await?)
    }

    /// Returns the items whose published revision is to be taken down now: (item id, revision).
    pub async fn take_downs_due(&mut self, now: DateTime<Utc>) -> Result<Vec<(String, i32)>> {
        Ok(sqlx::query_as(
            "select r.item_id, r.revision from content_revisions r join content_items i on i.item_id = r.item_id and i.revision = r.revision
             where r.state = 'published' and r.take_down_at <= $1 and i.active order by r.take_down_at",
        )
        .bind(now)
        .fetch_all(self.conn())
        .await?)
    }

    /// Switches an item off when its time is over. Publishes a new revision that has the same
    /// contents but is not active. Revisions that wait are kept, and the new revision becomes their
    /// base.
    pub async fn take_down_item(&mut self, item_id: &str, by: &str, version: i64) -> Result<()> {
        sqlx::query(
            "with ended as (
               update content_items set active = false, item = jsonb_set(item, '{active}', 'false'), content_hash = 'off ' || content_hash,
                 revision = (select max(revision) + 1 from content_revisions where item_id = $1), updated_at = now()
               where item_id = $1
               returning casino_id, item_id, revision, category, name, item, content_hash),
             moved as (
               update content_revisions r set base = ended.revision from ended
               where r.item_id = ended.item_id and r.state in ('draft', 'review', 'scheduled'))
             insert into content_revisions (casino_id, item_id, revision, category, name, item, content_hash, active, state, source, editor, saved_at,
               decided_by, decided_at, published_at, content_version)
             select casino_id, item_id, revision, category, name, item, content_hash, false, 'published', 'console', $2, now(), $2, now(), now(), $3
             from ended",
        )
        .bind(item_id)
        .bind(by)
        .bind(version)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Erases the contents of a revision from the history, for example if they contain personal
    /// data by mistake. Returns false if guests get the revision, if it still waits, or if its
    /// contents were erased before.
    pub async fn purge_revision(&mut self, item_id: &str, revision: i32) -> Result<bool> {
        let done = sqlx::query(
            "update content_revisions r set item = null, name = '', findings = '[]', decision_reason = null, purged_at = now()
             where item_id = $1 and revision = $2 and purged_at is null
               and not exists (select 1 from content_items i where i.item_id = r.item_id and i.revision = r.revision)
               and state not in ('draft', 'review', 'scheduled')",
        )
        .bind(item_id)
        .bind(revision)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }
}

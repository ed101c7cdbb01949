//! Saves revisions, and reads what they change.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use serde_json::Value;
use seven_domain::{ContentSource, RevisionState};
use sqlx::FromRow;

use crate::{Result, Tx};

/// A revision to save; `item` is the whole checked item.
#[derive(Debug, Clone)]
pub struct NewRevision<'a> {
    pub item_id: &'a str,
    pub category: &'a str,
    pub name: &'a str,
    pub item: &'a Value,
    pub content_hash: &'a str,
    pub active: bool,
    /// Any state but `published`, which [`Tx::publish_revision`] gives.
    pub state: RevisionState,
    pub source: ContentSource,
    pub editor: &'a str,
    pub base: Option<i32>,
    /// Why it waits, was refused, or what its editor was warned of.
    pub findings: &'a Value,
    pub edit: Option<(&'a str, DateTime<Utc>)>,
    pub publish_at: Option<DateTime<Utc>>,
    pub take_down_at: Option<DateTime<Utc>>,
}

/// An item as guests get it.
#[derive(Debug, Clone, FromRow)]
pub struct PublishedItem {
    pub item_id: String,
    pub revision: i32,
    pub item: Value,
    pub content_hash: String,
    pub active: bool,
}

/// A refused revision that waits to be corrected.
#[derive(Debug, Clone, FromRow)]
pub struct Refused {
    pub item_id: String,
    pub revision: i32,
    pub name: String,
    pub editor: String,
    pub source: ContentSource,
    pub findings: Value,
    pub saved_at: DateTime<Utc>,
}

impl Tx {
    /// Returns these items as guests get them, switched-off ones included; all of the casino for
    /// `None`.
    pub async fn published_items(&mut self, ids: Option<&[String]>) -> Result<Vec<PublishedItem>> {
        Ok(sqlx::query_as(
            "select item_id, revision, item, content_hash, active from content_items
             where $1::text[] is null or item_id = any($1) order by position, item_id",
        )
        .bind(ids)
        .fetch_all(self.conn())
        .await?)
    }

    /// Returns the newest revision of each of these items, in whatever state.
    pub async fn newest_revisions(&mut self, ids: &[String]) -> Result<HashMap<String, i32>> {
        let rows: Vec<(String, i32)> = sqlx::query_as(
            "select item_id, max(revision) from content_revisions where item_id = any($1) group by item_id",
        )
        .bind(ids)
        .fetch_all(self.conn())
        .await?;
        Ok(rows.into_iter().collect())
    }

    /// Saves a revision of an item and returns its number. Earlier ones of the item that wait are
    /// taken back, because this one replaces them.
    pub async fn add_revision(&mut self, new: &NewRevision<'_>) -> Result<i32> {
        let casino = self.casino_str();
        sqlx::query(
            "update content_revisions set state = 'withdrawn', decided_at = now(), decided_by = $2, decision_reason = 'replaced by a later one'
             where item_id = $1 and state in ('draft', 'review', 'scheduled', 'rejected') and ($3 <> 'rejected' or state = 'rejected')",
        )
        .bind(new.item_id)
        .bind(new.editor)
        .bind(new.state)
        .execute(self.conn())
        .await?;
        Ok(sqlx::query_scalar(
            "insert into content_revisions (casino_id, item_id, revision, category, name, item, content_hash, active, state, source, editor, base,
               findings, edit_id, edit_signed_at, publish_at, take_down_at)
             select $1, $2, coalesce(max(revision), 0) + 1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16
             from content_revisions where item_id = $2
             returning revision",
        )
        .bind(&casino)
        .bind(new.item_id)
        .bind(new.category)
        .bind(new.name)
        .bind(new.item)
        .bind(new.content_hash)
        .bind(new.active)
        .bind(new.state)
        .bind(new.source)
        .bind(new.editor)
        .bind(new.base)
        .bind(new.findings)
        .bind(new.edit.map(|(id, _)| id))
        .bind(new.edit.map(|(_, at)| at))
        .bind(new.publish_at)
        .bind(new.take_down_at)
        .fetch_one(self.conn())
        .await?)
    }

    /// Returns the item and the revision that an edit made, and when the edit was signed.
    pub async fn revision_of_edit(
        &mut self,
        edit: &str,
    ) -> Result<Option<(String, i32, Option<DateTime<Utc>>)>> {
        Ok(sqlx::query_as(
            "select item_id, revision, edit_signed_at from content_revisions where edit_id = $1",
        )
        .bind(edit)
        .fetch_optional(self.conn())
        .await?)
    }

    /// Returns the refused revisions that nobody has corrected or dismissed, oldest first.
    pub async fn refused_revisions(&mut self, most: i64) -> Result<Vec<Refused>> {
        Ok(sqlx::query_as(
            "select item_id, revision, name, editor, source, findings, saved_at from content_revisions
             where state = 'rejected' and decided_at is null order by saved_at limit $1",
        )
        .bind(most)
        .fetch_all(self.conn())
        .await?)
    }
}

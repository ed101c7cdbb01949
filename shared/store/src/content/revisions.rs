//! Saves revisions, and reads the items and revisions that they change.

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
    /// Any state but `published`, which only [`Tx::publish_revision`] sets.
    pub state: RevisionState,
    pub source: ContentSource,
    pub editor: &'a str,
    pub base: Option<i32>,
    /// The guards' findings: why the revision waits or was refused, or the warnings to its editor.
    pub findings: &'a Value,
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
    /// When the item is to be switched off.
    pub take_down_at: Option<DateTime<Utc>>,
}

/// An edit that its source has reported to us.
#[derive(Debug, Clone, FromRow)]
pub struct ToldEdit {
    pub item_id: String,
    /// The revision that the edit made; `None` if it made none, for example because it changed
    /// nothing.
    pub revision: Option<i32>,
    pub signed_at: DateTime<Utc>,
}

/// States of revisions that wait for a person, their time or a correction.
pub const WAITING: [RevisionState; 4] = [
    RevisionState::Draft,
    RevisionState::Review,
    RevisionState::Scheduled,
    RevisionState::Rejected,
];

/// Whether an item has revisions that wait, and the hash of its newest waiting or refused contents.
#[derive(Debug, Clone)]
pub struct Undecided {
    pub waits: bool,
    /// Hash of the newest contents that wait or were refused; empty if they could not be read.
    pub refused: String,
}

impl Tx {
    /// Returns these items as guests get them, switched-off ones included; with `None`, all items
    /// of the casino.
    pub async fn published_items(&mut self, ids: Option<&[String]>) -> Result<Vec<PublishedItem>> {
        Ok(sqlx::query_as(
            "select item_id, revision, item, content_hash, active,
               (select r.take_down_at from content_revisions r where r.item_id = i.item_id and r.revision = i.revision) as take_down_at
             from content_items i
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

    /// Returns the items among `ids` that have a waiting or refused revision.
    pub async fn undecided(&mut self, ids: &[String]) -> Result<HashMap<String, Undecided>> {
        let rows: Vec<(String, bool, String)> = sqlx::query_as(
            "select item_id, bool_or(state in ('draft', 'review', 'scheduled')),
               coalesce((array_agg(content_hash order by revision desc))[1], '')
             from content_revisions where item_id = any($1) and state in ('draft', 'review', 'scheduled', 'rejected')
             group by item_id",
        )
        .bind(ids)
        .fetch_all(self.conn())
        .await?;
        let one = |(id, waits, refused)| (id, Undecided { waits, refused });
        Ok(rows.into_iter().map(one).collect())
    }

    /// Saves a revision of an item and returns its number. A draft replaces earlier drafts and
    /// refused revisions. A refused revision replaces earlier refused ones. Any other revision
    /// replaces all revisions whose state is in [`WAITING`].
    pub async fn add_revision(&mut self, new: &NewRevision<'_>) -> Result<i32> {
        let casino = self.casino_str();
        let replaced: &[RevisionState] = match new.state {
            RevisionState::Draft => &[RevisionState::Draft, RevisionState::Rejected],
            RevisionState::Rejected => &[RevisionState::Rejected],
            _ => &WAITING,
        };
        self.withdraw_revisions(new.item_id, new.editor, replaced)
            .await?;
        Ok(sqlx::query_scalar(
            "insert into content_revisions (casino_id, item_id, revision, category, name, item, content_hash, active, state, source, editor, base,
               findings, publish_at, take_down_at)
             select $1, $2, coalesce(max(revision), 0) + 1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14
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
        .bind(new.publish_at)
        .bind(new.take_down_at)
        .fetch_one(self.conn())
        .await?)
    }

    /// Withdraws an item's revisions in these states, because a later or the published revision
    /// replaces them. Returns how many.
    pub async fn withdraw_revisions(
        &mut self,
        item_id: &str,
        by: &str,
        states: &[RevisionState],
    ) -> Result<u64> {
        let states: Vec<&str> = states.iter().map(|state| state.as_str()).collect();
        let done = sqlx::query(
            "update content_revisions set state = 'withdrawn', decided_at = now(), decided_by = $2, decision_reason = 'replaced by a later one'
             where item_id = $1 and state = any($3)",
        )
        .bind(item_id)
        .bind(by)
        .bind(states)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected())
    }

    /// Returns the recorded result of an edit if this source reported the edit before.
    pub async fn told_edit(
        &mut self,
        source: ContentSource,
        edit: &str,
    ) -> Result<Option<ToldEdit>> {
        Ok(sqlx::query_as(
            "select item_id, revision, signed_at from content_edits where source = $1 and edit_id = $2",
        )
        .bind(source)
        .bind(edit)
        .fetch_optional(self.conn())
        .await?)
    }

    /// Records that a source reported an edit, with the revision that the edit made.
    pub async fn note_edit(
        &mut self,
        source: ContentSource,
        edit: &str,
        told: &ToldEdit,
    ) -> Result<()> {
        let casino = self.casino_str();
        sqlx::query(
            "insert into content_edits (casino_id, source, edit_id, signed_at, item_id, revision) values ($1, $2, $3, $4, $5, $6)
             on conflict (casino_id, source, edit_id) do update set signed_at = excluded.signed_at, told_at = now(),
               item_id = excluded.item_id, revision = excluded.revision",
        )
        .bind(casino)
        .bind(source)
        .bind(edit)
        .bind(told.signed_at)
        .bind(&told.item_id)
        .bind(told.revision)
        .execute(self.conn())
        .await?;
        Ok(())
    }
}

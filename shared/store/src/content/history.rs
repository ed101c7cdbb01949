//! Reads the history of content.

use chrono::{DateTime, Utc};
use serde_json::Value;
use seven_domain::{ContentSource, RevisionState};
use sqlx::{AssertSqlSafe, FromRow};

use crate::{Result, Tx};

/// One revision of an item.
#[derive(Debug, Clone, FromRow)]
pub struct Revision {
    pub item_id: String,
    pub revision: i32,
    pub category: String,
    pub name: String,
    /// The whole item; for a refused revision, as it was received. `None` once it was purged.
    pub item: Option<Value>,
    pub active: bool,
    pub state: RevisionState,
    pub source: ContentSource,
    pub editor: String,
    pub base: Option<i32>,
    pub findings: Value,
    pub saved_at: DateTime<Utc>,
    pub publish_at: Option<DateTime<Utc>>,
    pub take_down_at: Option<DateTime<Utc>>,
    pub decided_at: Option<DateTime<Utc>>,
    pub decided_by: Option<String>,
    pub decision_reason: Option<String>,
    pub published_at: Option<DateTime<Utc>>,
    pub indexed_at: Option<DateTime<Utc>>,
    /// Whether guests get this revision now.
    pub current: bool,
}

/// An item in a list, with the newest revision that waits.
#[derive(Debug, Clone, FromRow)]
pub struct ListedItem {
    pub item_id: String,
    pub category: String,
    pub name: String,
    pub active: bool,
    /// The revision that guests get; `None` while the item was never published.
    pub revision: Option<i32>,
    pub updated_at: DateTime<Utc>,
    pub waits: Option<RevisionState>,
    pub waiting: Option<i32>,
    /// Whether the item has no Spanish description.
    pub english_only: bool,
}

impl ListedItem {
    /// Returns whether people must act, because the newest waiting revision is a draft or needs
    /// review. A refused or scheduled revision needs no action.
    pub fn awaits_people(&self) -> bool {
        matches!(
            self.waits,
            Some(RevisionState::Draft | RevisionState::Review)
        )
    }
}

/// An item as it was at a past time; `item` is `None` when the item was not published then.
#[derive(Debug, Clone, FromRow)]
pub struct Then {
    pub item_id: String,
    pub name: String,
    pub revision: Option<i32>,
    pub item: Option<Value>,
    /// When this revision was to be taken down.
    pub take_down_at: Option<DateTime<Utc>>,
}

/// The revisions to read.
#[derive(Debug, Clone, Copy)]
pub enum Wanted<'a> {
    /// All revisions of one item, newest first.
    Of(&'a str),
    /// One revision of an item.
    One(&'a str, i32),
    /// Revisions that wait for a person or for their publication time, oldest first.
    Waiting,
}

const REVISION: &str = "select r.item_id, r.revision, r.category, r.name, r.item, r.active, r.state, r.source, r.editor, r.base, r.findings, r.saved_at,
    r.publish_at, r.take_down_at, r.decided_at, r.decided_by, r.decision_reason, r.published_at, r.indexed_at,
    exists (select 1 from content_items i where i.item_id = r.item_id and i.revision = r.revision) as current
  from content_revisions r where ";

impl Tx {
    /// Returns revisions, at most `most`.
    pub async fn revisions(&mut self, wanted: Wanted<'_>, most: i64) -> Result<Vec<Revision>> {
        let (condition, item, revision) = match wanted {
            Wanted::Of(item) => ("r.item_id = $1 order by r.revision desc", item, 0),
            Wanted::One(item, revision) => ("r.item_id = $1 and r.revision = $2", item, revision),
            Wanted::Waiting => (
                "r.state in ('draft', 'review', 'scheduled') order by r.saved_at",
                "",
                0,
            ),
        };
        // Every part of the query is a constant of this file. The always true condition uses $1 and
        // $2, so that all variants take the same parameters.
        let query = format!(
            "{REVISION}($1::text is not null and $2::int is not null) and {condition} limit $3"
        );
        Ok(sqlx::query_as(AssertSqlSafe(query))
            .bind(item)
            .bind(revision)
            .bind(most)
            .fetch_all(self.conn())
            .await?)
    }

    /// Returns one revision of an item.
    pub async fn revision(&mut self, item: &str, revision: i32) -> Result<Option<Revision>> {
        Ok(self.revisions(Wanted::One(item, revision), 1).await?.pop())
    }

    /// Returns every item of a category, including items that were never published; `None` means
    /// all categories.
    pub async fn listed_items(&mut self, category: Option<&str>) -> Result<Vec<ListedItem>> {
        Ok(sqlx::query_as(include_str!("../../sql/listed_items.sql"))
            .bind(category)
            .fetch_all(self.conn())
            .await?)
    }

    /// Returns every item that was ever published, each with the revision that guests got at `at`.
    pub async fn content_at(
        &mut self,
        at: DateTime<Utc>,
        category: Option<&str>,
    ) -> Result<Vec<Then>> {
        Ok(sqlx::query_as(
            "select i.item_id, i.name, was.revision, was.item, was.take_down_at
             from content_items i left join lateral (
               select r.revision, r.item, r.take_down_at from content_revisions r
               where r.item_id = i.item_id and r.state = 'published' and r.published_at <= $1
               order by r.published_at desc, r.revision desc limit 1) was on true
             where $2::text is null or i.category = $2 order by i.position, i.item_id",
        )
        .bind(at)
        .bind(category)
        .fetch_all(self.conn())
        .await?)
    }
}

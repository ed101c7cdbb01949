//! Figures of finished turns for analysis (OBS-35, OBS-17), copied from `turns` in batches. Copying
//! a turn again is harmless.

use chrono::{DateTime, NaiveDate, Utc};
use serde::Serialize;
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Tx};

/// Maximum number of turns copied in one transaction (PROD-29).
pub const BATCH: i64 = 100;

/// Result of one batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, FromRow)]
pub struct Batch {
    /// The last turn that was read; `None` when none was left.
    pub last: Option<Uuid>,
    pub looked_at: i64,
    /// Number of rows that are new or changed; the others were up to date.
    pub written: i64,
}

/// A row of `turn_facts`, for export.
#[derive(Debug, Clone, PartialEq, FromRow, Serialize)]
pub struct Fact {
    pub turn_id: Uuid,
    pub trace_id: String,
    pub at: DateTime<Utc>,
    pub waited_ms: i64,
    pub agent: String,
    pub model: String,
    pub intent: String,
    pub language: String,
    pub grounded: bool,
    pub degraded: bool,
    pub retries: i32,
    pub handoffs: i32,
    pub input_tokens: i64,
    pub output_tokens: i64,
    pub nano_usd: i64,
    pub learnt: i32,
    pub found: i32,
    pub top_score: Option<f32>,
    /// The judge's confidence, greater than 0 and at most 1. `None` if no judge was asked or the
    /// judge gave no confidence.
    pub confidence: Option<f32>,
    /// `usual`, or `variant` if the hosted model got the casino's second prompt.
    pub prompt: String,
}

/// The figures of one casino's turns in one week (OBS-17).
#[derive(Debug, Clone, PartialEq, FromRow, Serialize)]
pub struct Week {
    /// The Monday of the week, in UTC.
    pub week: NaiveDate,
    /// The value of the column by which the week is broken down; `None` for the whole week.
    pub part: Option<String>,
    pub turns: i64,
    /// Number of turns whose reply came from at least one content row.
    pub with_rows: i64,
    /// Mean of each turn's best search score, over the turns that have one; the offline model's
    /// searches have no score.
    pub top_score: Option<f64>,
    /// Turns with a score.
    pub scored: i64,
    /// Mean of the judge's confidence, over the turns that have one.
    pub confidence: Option<f64>,
    /// Turns with a confidence.
    pub judged: i64,
    pub not_grounded: i64,
    pub degraded: i64,
    pub retried: i64,
    pub handoffs: i64,
    pub learnt: i64,
}

/// A conversation for a person to read (OBS-47).
#[derive(Debug, Clone, PartialEq, FromRow, Serialize)]
pub struct Sampled {
    pub conversation_id: Uuid,
    /// `least_sure`, `opted_out`, `most_learnt` or `random`: the first of these that applies.
    pub why: String,
    pub turns: i64,
    pub last_at: DateTime<Utc>,
    /// The judge's lowest confidence in a turn of this conversation; `None` if no turn has one.
    pub confidence: Option<f64>,
    /// Number of profile fields that the guest's texts changed.
    pub learnt: i64,
}

/// Column by which a week may be broken down (CONV-54).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Agent,
    Intent,
    Language,
    Model,
    Prompt,
}

impl Part {
    fn column(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Intent => "intent",
            Self::Language => "language",
            Self::Model => "model",
            Self::Prompt => "prompt",
        }
    }
}

/// Copies finished turns. Drafts may still change, so they are left for the next run.
const COPY: &str = include_str!("../sql/copy_facts.sql");

impl Tx {
    /// Copies the next `most` finished turns after `after`, without those made before `since`.
    /// Copying a turn again changes nothing.
    pub async fn copy_facts(
        &mut self,
        after: Option<Uuid>,
        since: Option<DateTime<Utc>>,
        most: i64,
    ) -> Result<Batch> {
        Ok(sqlx::query_as(COPY)
            .bind(after.unwrap_or(Uuid::nil()))
            .bind(since)
            .bind(most)
            .fetch_one(self.conn())
            .await?)
    }

    /// Returns the first finished turn after `after`, so that a turn that cannot be copied can be
    /// skipped.
    pub async fn turn_behind(&mut self, after: Option<Uuid>) -> Result<Option<Uuid>> {
        Ok(
            sqlx::query_scalar("select turn_id from turns where turn_id > $1 and state <> 'drafted' order by turn_id limit 1")
                .bind(after.unwrap_or(Uuid::nil()))
                .fetch_optional(self.conn())
                .await?,
        )
    }

    /// Returns when the newest copied turn was made.
    pub async fn facts_until(&mut self) -> Result<Option<DateTime<Utc>>> {
        Ok(sqlx::query_scalar("select max(at) from turn_facts")
            .fetch_one(self.conn())
            .await?)
    }

    /// Returns a page of the facts of turns made between `from` and `to`, oldest first. `after` is
    /// the last fact of the previous page.
    pub async fn facts(
        &mut self,
        from: DateTime<Utc>,
        to: DateTime<Utc>,
        after: Option<(DateTime<Utc>, Uuid)>,
        most: i64,
    ) -> Result<Vec<Fact>> {
        let (at, id) = after.unwrap_or((from, Uuid::nil()));
        Ok(sqlx::query_as(
            "select turn_id, trace_id, at, waited_ms, agent, model, intent, language, grounded, degraded, retries, handoffs, input_tokens,
                    output_tokens, nano_usd, learnt, found, top_score, confidence, prompt
             from turn_facts where at >= $1 and at < $2 and (at, turn_id) > ($3, $4) order by at, turn_id limit $5",
        )
        .bind(from)
        .bind(to)
        .bind(at)
        .bind(id)
        .bind(most)
        .fetch_all(self.conn())
        .await?)
    }

    /// Returns conversations with turns in the period for people to read: up to `each` for each
    /// reason. `lot` seeds the random choice: the same `lot` draws the same conversations.
    pub async fn sample(
        &mut self,
        (from, to): (DateTime<Utc>, DateTime<Utc>),
        each: i64,
        lot: &str,
    ) -> Result<Vec<Sampled>> {
        Ok(sqlx::query_as(include_str!("../sql/review_sample.sql"))
            .bind(from)
            .bind(to)
            .bind(each)
            .bind(lot)
            .fetch_all(self.conn())
            .await?)
    }

    /// Returns the weeks with turns made since `from`, newest first, whole or broken down by `by`.
    pub async fn fact_weeks(&mut self, from: DateTime<Utc>, by: Option<Part>) -> Result<Vec<Week>> {
        Ok(sqlx::query_as(include_str!("../sql/fact_weeks.sql"))
            .bind(from)
            .bind(by.map(Part::column))
            .fetch_all(self.conn())
            .await?)
    }
}

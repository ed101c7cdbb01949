//! The set of questions that a casino's content must answer, and the results of its runs (RAG-45).

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Tx};

/// Maximum number of questions in a casino's set.
pub const MOST_QUESTIONS: i64 = 500;
/// Number of newest runs that are kept; older ones are deleted.
const KEPT_RUNS: i64 = 60;

/// A question and the items that answer it.
#[derive(Debug, Clone, FromRow)]
pub struct SetQuestion {
    pub question_id: Uuid,
    pub question: String,
    /// Ids of the items that answer the question.
    pub expected: Vec<String>,
    pub added_by: String,
    pub added_at: DateTime<Utc>,
}

/// The result of one run, which asks all questions of the set.
#[derive(Debug, Clone, FromRow)]
pub struct Run {
    pub run_id: Uuid,
    pub ran_by: String,
    pub ran_at: DateTime<Utc>,
    pub questions: i32,
    /// Mean share of a question's items that were found, 0 to 1.
    pub recall: f64,
    /// Mean of 1 / rank of the first right item, 0 to 1.
    pub mrr: f64,
    /// Mean share of the found items that answer the question, 0 to 1; `None` for old runs.
    pub precise: Option<f64>,
    /// The questions that were not answered completely: `[{"question_id", "found": [item ids]}]`.
    pub misses: Value,
    /// The embedding space that was searched; `None` for the offline embedding.
    pub space: Option<String>,
}

impl Tx {
    pub async fn set_questions(&mut self) -> Result<Vec<SetQuestion>> {
        Ok(sqlx::query_as(
            "select question_id, question, expected, added_by, added_at from content_questions order by added_at desc, question_id",
        )
        .fetch_all(self.conn())
        .await?)
    }

    /// Adds a question to the set; returns false when it is there already or the set is full.
    pub async fn add_set_question(&mut self, new: &SetQuestion) -> Result<bool> {
        let casino = self.casino_str();
        let done = sqlx::query(
            "insert into content_questions (casino_id, question_id, question, expected, added_by)
             select $1, $2, $3, $4, $5 where (select count(*) from content_questions) < $6
             on conflict do nothing",
        )
        .bind(casino)
        .bind(new.question_id)
        .bind(&new.question)
        .bind(&new.expected)
        .bind(&new.added_by)
        .bind(MOST_QUESTIONS)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Removes a question from the set; returns false if the set does not have it.
    pub async fn remove_set_question(&mut self, question: Uuid) -> Result<bool> {
        let done = sqlx::query("delete from content_questions where question_id = $1")
            .bind(question)
            .execute(self.conn())
            .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Stores a run, and deletes all runs but the newest `KEPT_RUNS`.
    pub async fn note_run(&mut self, run: &Run) -> Result<()> {
        let casino = self.casino_str();
        sqlx::query(
            "insert into content_runs (casino_id, run_id, ran_by, ran_at, questions, recall, mrr, misses, precise, space)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        )
        .bind(casino)
        .bind(run.run_id)
        .bind(&run.ran_by)
        .bind(run.ran_at)
        .bind(run.questions)
        .bind(run.recall)
        .bind(run.mrr)
        .bind(&run.misses)
        .bind(run.precise)
        .bind(&run.space)
        .execute(self.conn())
        .await?;
        sqlx::query(
            "delete from content_runs where run_id in
               (select run_id from content_runs order by ran_at desc, run_id offset $1)",
        )
        .bind(KEPT_RUNS)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Returns the newest runs, the newest first.
    pub async fn runs(&mut self, most: i64) -> Result<Vec<Run>> {
        Ok(sqlx::query_as(
            "select run_id, ran_by, ran_at, questions, recall, mrr, misses, precise, space from content_runs order by ran_at desc, run_id limit $1",
        )
        .bind(most)
        .fetch_all(self.conn())
        .await?)
    }
}

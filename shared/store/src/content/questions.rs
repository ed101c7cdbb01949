//! Questions of guests that the content could not answer (RAG-21, RAG-41).

use chrono::{DateTime, TimeDelta, Utc};
use seven_domain::Language;
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Tx, day::least_id};

/// A guest's text whose reply was not grounded in content.
#[derive(Debug, Clone, FromRow)]
pub struct Unanswered {
    pub at: DateTime<Utc>,
    pub guest_id: Uuid,
    pub language: Language,
    pub body: String,
}

impl Tx {
    /// Returns the newest `most` texts since `since` whose reply was not grounded, because no
    /// content fits. Texts that a guardrail caught are left out.
    pub async fn unanswered(&mut self, since: DateTime<Utc>, most: i64) -> Result<Vec<Unanswered>> {
        Ok(sqlx::query_as(
            "select t.created_at as at, t.guest_id, t.language, i.body from turns t
             join inbound_messages i on i.conversation_id = t.conversation_id and i.disposition_ref = t.turn_id
             where t.turn_id >= $1 and t.created_at >= $2 and not t.grounded and t.state = 'shaped' and i.verdict = 'pass'
             order by t.created_at desc, i.arrival limit $3",
        )
        .bind(least_id(since - TimeDelta::days(1)))
        .bind(since)
        .bind(most)
        .fetch_all(self.conn())
        .await?)
    }
}

//! Keys with which programs act in an operator's name. A row holds the SHA-256 of its key, not the
//! key.

use chrono::{DateTime, Utc};
use serde::Serialize;
use seven_domain::OperatorId;
use sqlx::FromRow;
use uuid::Uuid;

use super::Session;
use crate::{Result, Tx};

/// A key as lists show it.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct ListedKey {
    pub label: String,
    /// The email address of the operator in whose name the key acts.
    pub email: String,
    pub created_by: String,
    pub created_at: DateTime<Utc>,
    pub ends_at: DateTime<Utc>,
    /// When the key was last used, to the minute.
    pub used_at: Option<DateTime<Utc>>,
}

impl Tx {
    /// Stores a key for this many days; returns false if another key has the label.
    pub async fn put_key(
        &mut self,
        hash: &[u8],
        operator: OperatorId,
        label: &str,
        days: i32,
        by: &str,
    ) -> Result<bool> {
        let done = sqlx::query(
            "insert into operator_keys (key_hash, operator_id, label, ends_at, created_by)
             values ($1, $2, $3, now() + make_interval(days => $4), $5) on conflict (label) do nothing",
        )
        .bind(hash)
        .bind(operator.0)
        .bind(label)
        .bind(days)
        .bind(by)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Returns all keys, including those that have ended.
    pub async fn keys(&mut self) -> Result<Vec<ListedKey>> {
        Ok(sqlx::query_as(
            "select k.label, o.email, k.created_by, k.created_at, k.ends_at, k.used_at
             from operator_keys k join operators o on o.operator_id = k.operator_id order by k.label",
        )
        .fetch_all(self.conn())
        .await?)
    }

    /// Deletes the key with this label. Returns the operator to whom it belonged; `None` if there
    /// is no such key.
    pub async fn end_key(&mut self, label: &str) -> Result<Option<OperatorId>> {
        let whose: Option<Uuid> =
            sqlx::query_scalar("delete from operator_keys where label = $1 returning operator_id")
                .bind(label)
                .fetch_optional(self.conn())
                .await?;
        Ok(whose.map(OperatorId))
    }

    /// Deletes the keys of an operator.
    pub(super) async fn end_keys(&mut self, operator: OperatorId) -> Result<()> {
        sqlx::query("delete from operator_keys where operator_id = $1")
            .bind(operator.0)
            .execute(self.conn())
            .await?;
        Ok(())
    }

    /// Returns the operator in whose name the key with this hash acts, with their current roles.
    pub async fn session_of_key(&mut self, hash: &[u8]) -> Result<Option<Session>> {
        // `used_at` is written at most once a minute, so that not every call writes.
        sqlx::query(
            "update operator_keys set used_at = now() where key_hash = $1
               and coalesce(used_at < now() - interval '1 minute', true) and ends_at > now()",
        )
        .bind(hash)
        .execute(self.conn())
        .await?;
        self.session_under(hash, true).await
    }
}

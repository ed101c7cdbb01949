//! Which workers live, and what went wrong last: each says so every second. For operators' eyes only; nothing decides by it.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::FromRow;

use crate::{Result, Store, Tx};

/// A worker that said something within the last hour.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct Beat {
    pub instance: String,
    pub worker: String,
    pub version: String,
    pub started_at: DateTime<Utc>,
    /// Seconds since it was last heard of, on the database's clock.
    pub silent: f64,
}

impl Store {
    /// One beat; rows nobody renewed for an hour go.
    pub async fn beat(&self, instance: &str, worker: &str, version: &str) -> Result<()> {
        sqlx::query(
            "with gone as (delete from workers where seen_at < now() - interval '1 hour' and (instance, worker) <> ($1, $2))
             insert into workers (instance, worker, version) values ($1, $2, $3)
             on conflict (instance, worker) do update set seen_at = now()",
        )
        .bind(instance)
        .bind(worker)
        .bind(version)
        .execute(&mut *self.fleet().await?)
        .await?;
        Ok(())
    }

    /// The worker ends in good order.
    pub async fn sign_off(&self, instance: &str, worker: &str) -> Result<()> {
        let gone = sqlx::query("delete from workers where instance = $1 and worker = $2").bind(instance).bind(worker);
        gone.execute(&mut *self.fleet().await?).await?;
        Ok(())
    }

    /// Every worker heard of within `since`.
    pub async fn workers(&self, since: Duration) -> Result<Vec<Beat>> {
        Ok(sqlx::query_as(
            "select instance, worker, version, started_at, extract(epoch from now() - seen_at)::float8 as silent from workers
             where seen_at > now() - make_interval(secs => $1) order by worker, started_at",
        )
        .bind(since.as_secs_f64())
        .fetch_all(&mut *self.fleet().await?)
        .await?)
    }
}

/// A dead letter nobody handled yet.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct LastError {
    pub casino_id: String,
    pub stage: String,
    pub reason: String,
    pub last_error: String,
    pub last_at: DateTime<Utc>,
}

impl Tx {
    /// The bound casino's newest open dead letters.
    pub async fn last_errors(&mut self, most: i64) -> Result<Vec<LastError>> {
        Ok(sqlx::query_as(
            "select casino_id, stage, reason, last_error, last_at from dead_letters where state = 'open' order by last_at desc limit $1",
        )
        .bind(most)
        .fetch_all(self.conn())
        .await?)
    }
}

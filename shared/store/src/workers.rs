//! Workers' heartbeats, written every second, and the newest errors. For operators only; no code
//! decides by them.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Serialize;
use seven_domain::Stage;
use sqlx::FromRow;

use crate::{Result, Store, Tx};

/// A worker whose heartbeat was written within the last hour.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct Beat {
    pub instance: String,
    pub worker: String,
    pub version: String,
    pub started_at: DateTime<Utc>,
    /// Seconds since its last heartbeat, by the database's clock.
    pub silent: f64,
}

impl Store {
    /// Writes one heartbeat; deletes rows that were not renewed for an hour.
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

    /// Removes the row of a worker that ends normally.
    pub async fn sign_off(&self, instance: &str, worker: &str) -> Result<()> {
        let gone = sqlx::query("delete from workers where instance = $1 and worker = $2")
            .bind(instance)
            .bind(worker);
        gone.execute(&mut *self.fleet().await?).await?;
        Ok(())
    }

    /// Returns every worker with a heartbeat within `since`.
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

/// An open dead letter.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct LastError {
    pub casino_id: String,
    pub stage: Stage,
    pub reason: String,
    pub last_error: String,
    pub last_at: DateTime<Utc>,
}

impl Tx {
    /// Returns the bound casino's newest open dead letters.
    pub async fn last_errors(&mut self, most: i64) -> Result<Vec<LastError>> {
        Ok(
            sqlx::query_as("select casino_id, stage, reason, last_error, last_at from dead_letters where state = 'open' order by last_at desc limit $1")
                .bind(most)
                .fetch_all(self.conn())
                .await?,
        )
    }
}

//! Workers' heartbeats, written every second, and the newest errors. They are for operators only;
//! no code makes decisions from them.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::json;
use seven_domain::{AuditEvent, CasinoId, LogLevel, Stage};
use sqlx::{AssertSqlSafe, FromRow};

use crate::{Result, Store, Tx, audit::Entry};

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

/// A log level that an operator raised.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct Raised {
    /// The worker; empty for every worker.
    pub worker: String,
    pub level: LogLevel,
    pub until_at: DateTime<Utc>,
    pub actor: String,
    /// Seconds until the level falls back, by the database's clock.
    pub seconds: f64,
}

const RAISED: &str = "select worker, level, until_at, actor, extract(epoch from until_at - now())::float8 as seconds from log_levels
    where until_at > now()";

impl Store {
    /// Writes this worker's heartbeat, and deletes heartbeats that are older than an hour. Returns
    /// the log level to which an operator raised this worker, if any.
    pub async fn beat(
        &self,
        instance: &str,
        worker: &str,
        version: &str,
    ) -> Result<Option<Raised>> {
        let query = format!(
            "with gone as (delete from workers where seen_at < now() - interval '1 hour' and (instance, worker) <> ($1, $2)),
               beat as (insert into workers (instance, worker, version) values ($1, $2, $3)
                 on conflict (instance, worker) do update set seen_at = now())
             {RAISED} and worker in ($2, '') order by level = 'trace' desc, until_at desc limit 1"
        );
        Ok(sqlx::query_as(AssertSqlSafe(query))
            .bind(instance)
            .bind(worker)
            .bind(version)
            .fetch_optional(&mut *self.fleet().await?)
            .await?)
    }

    /// Returns the log levels that are raised now.
    pub async fn raised(&self) -> Result<Vec<Raised>> {
        let query = AssertSqlSafe(format!("{RAISED} order by worker"));
        Ok(sqlx::query_as(query)
            .fetch_all(&mut *self.fleet().await?)
            .await?)
    }

    /// Raises the log level of a worker for the given time; `None` resets the level at once. An
    /// empty `worker` means all workers. Returns the raised level that was in force before, if any.
    pub async fn raise(
        &self,
        worker: &str,
        to: Option<(LogLevel, Duration)>,
        by: &str,
    ) -> Result<Option<LogLevel>> {
        let mut tx = self.bind(&CasinoId::unknown()).await?;
        let before = sqlx::query_scalar(
            "delete from log_levels where worker = $1 returning case when until_at > now() then level end",
        )
        .bind(worker)
        .fetch_optional(tx.conn())
        .await?
        .flatten();
        if let Some((level, span)) = to {
            sqlx::query(
                "insert into log_levels (worker, level, until_at, actor) values ($1, $2, now() + make_interval(secs => $3), $4)",
            )
            .bind(worker)
            .bind(level)
            .bind(span.as_secs_f64())
            .bind(by)
            .execute(tx.conn())
            .await?;
        }
        let detail = json!({
            "level": to.map(|(level, _)| level),
            "seconds": to.map(|(_, span)| span.as_secs()),
        });
        tx.audit(&Entry::of(AuditEvent::LogLevelChanged, by, worker, detail))
            .await?;
        tx.commit().await?;
        Ok(before)
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

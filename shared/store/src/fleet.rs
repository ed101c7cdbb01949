//! Queries over all casinos at once. They call database functions that return only ids, times and
//! counts (D9).

use std::time::Duration;

use chrono::{DateTime, Utc};
use seven_domain::{CasinoId, CasinoStatus, MessageClass, Queue, Stage};
use uuid::Uuid;

use crate::{Result, Store, mutant};

/// One casino as the workers' roster needs it, and as the control bucket mirrors it (D14).
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RosterEntry {
    pub casino: CasinoId,
    pub active: bool,
    pub config_version: i64,
    pub content_version: i64,
    pub numbers: Vec<String>,
    pub paused: Vec<String>,
    pub handed_on: Vec<HandedOn>,
}

/// A casino's number that belonged to another casino before (D40).
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, sqlx::FromRow)]
pub struct HandedOn {
    #[serde(skip)]
    casino_id: String,
    pub number: String,
    pub former_casino: String,
    /// When the number was handed on; texts written before this time belong to the former casino.
    pub since: DateTime<Utc>,
}

/// A row whose next step is overdue.
#[derive(Debug, Clone)]
pub struct Swept {
    pub casino: CasinoId,
    pub row_id: Uuid,
    pub conversation_id: Uuid,
    /// `None` unless the row is a text that waits for the sender.
    pub queue: Option<Queue>,
    pub trace: String,
}

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Count {
    pub casino: String,
    pub what: String,
    pub state: String,
    pub n: i64,
}

/// Cases of one severity that reached a step (`acknowledged`, `acknowledged_late`, `rose`,
/// `resolved`) within the last day. `p95_seconds` is the 95th percentile of the time until they
/// reached it.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct CaseTimes {
    pub casino_id: String,
    pub severity: String,
    pub step: String,
    pub n: i64,
    pub p95_seconds: f64,
}

/// Seconds for which a casino's oldest row has waited for each stage; 0 if none waits.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct Waiting {
    pub casino_id: String,
    pub swarm: f64,
    pub envelope: f64,
    pub sender: f64,
}

impl Store {
    /// Returns every casino that is not removed.
    pub async fn roster(&self) -> Result<Vec<RosterEntry>> {
        type Row = (String, CasinoStatus, i64, i64, Vec<String>, Vec<String>);
        let rows: Vec<Row> = sqlx::query_as(
            "select casino_id, status, config_version, content_version, numbers, paused from fleet_roster()",
        )
        .fetch_all(&mut *self.fleet().await?)
        .await?;
        let mut handed_on = self.handed_on().await?;
        rows.into_iter()
            .map(
                |(casino_id, status, config_version, content_version, numbers, paused)| {
                    let casino = CasinoId::trusted(&casino_id)?;
                    let active = status == CasinoStatus::Active;
                    Ok(RosterEntry {
                        casino,
                        active,
                        config_version,
                        content_version,
                        numbers,
                        paused,
                        handed_on: handed_on
                            .extract_if(.., |number| number.casino_id == casino_id)
                            .collect(),
                    })
                },
            )
            .collect()
    }

    /// Returns the numbers that belonged to another casino before, each with the last such casino.
    pub(crate) async fn handed_on(&self) -> Result<Vec<HandedOn>> {
        Ok(sqlx::query_as(include_str!("../sql/handed_on.sql"))
            .fetch_all(&mut *self.fleet().await?)
            .await?)
    }

    /// Returns every casino that was ever added, removed ones included.
    pub async fn tenants(&self) -> Result<Vec<CasinoId>> {
        let query = "select casino_id from fleet_tenants()";
        let rows: Vec<String> = sqlx::query_scalar(query)
            .fetch_all(&mut *self.fleet().await?)
            .await?;
        Ok(rows
            .iter()
            .map(|casino| CasinoId::trusted(casino))
            .collect::<Result<_, _>>()?)
    }

    /// Claims the overdue rows of a stage for another signal; each call postpones their next sweep
    /// (D3).
    pub async fn sweep(
        &self,
        stage: Stage,
        longest: Duration,
        per_casino: i32,
    ) -> Result<Vec<Swept>> {
        if mutant::sweeps_nothing(stage) {
            return Ok(Vec::new());
        }
        let (base, longest) = mutant::backoff(self.sweep.base, longest);
        let query = if stage == Stage::Sender {
            "select casino_id, outbound_id, conversation_id, class, trace from fleet_sweep_texts(make_interval(secs => $1), make_interval(secs => $2), $3)"
        } else {
            "select casino_id, row_id, conversation_id, null, trace from fleet_sweep($4, make_interval(secs => $1), make_interval(secs => $2), $3)"
        };
        let mut query =
            sqlx::query_as::<_, (String, Uuid, Uuid, Option<MessageClass>, String)>(query)
                .bind(base.as_secs_f64())
                .bind(longest.as_secs_f64())
                .bind(per_casino);
        if stage != Stage::Sender {
            query = query.bind(stage);
        }
        let rows = query.fetch_all(&mut *self.fleet().await?).await?;
        rows.into_iter()
            .map(|(casino, row_id, conversation_id, class, trace)| {
                Ok(Swept {
                    casino: CasinoId::trusted(&casino)?,
                    row_id,
                    conversation_id,
                    queue: class.map(mutant::queue),
                    trace,
                })
            })
            .collect()
    }

    /// Returns since when the database has been running. A restart or a failover changes this time.
    /// So does a crash from which the server recovers by itself, because it resets the statistics.
    pub async fn up_since(&self) -> Result<DateTime<Utc>> {
        Ok(
            sqlx::query_scalar("select greatest(pg_postmaster_start_time(), (select stats_reset from pg_stat_bgwriter))")
                .fetch_one(&mut *self.fleet().await?)
                .await?,
        )
    }

    /// Makes every row due now that has waited for `age` and was never swept. The next sweep then
    /// takes it. Returns how many rows were made due.
    pub async fn hasten(&self, age: Duration) -> Result<i64> {
        let query =
            "select n from fleet_hasten(make_interval(secs => $1), make_interval(secs => $2))";
        let query = sqlx::query_scalar(query)
            .bind(age.as_secs_f64())
            .bind(self.sweep.base.as_secs_f64());
        Ok(query.fetch_one(&mut *self.fleet().await?).await?)
    }

    /// Adds a new due row for each attempt whose answer is late by more than `overdue` and whose
    /// due row is gone. The due row settles the attempt. Returns how many were added.
    pub async fn renew_doubts(&self, overdue: Duration) -> Result<i64> {
        let query = "select n from fleet_renew_doubts(make_interval(secs => $1))";
        let query = sqlx::query_scalar(query).bind(overdue.as_secs_f64());
        Ok(query.fetch_one(&mut *self.fleet().await?).await?)
    }

    /// Returns when the oldest open row of a stage was made, or the current time if there is none.
    /// A re-created consumer starts reading at that time. For the sender, only rows of `queue`
    /// count. `None` for stages whose messages leave no open row.
    pub async fn oldest_open(
        &self,
        casino: &CasinoId,
        stage: Stage,
        queue: Option<Queue>,
    ) -> Result<Option<DateTime<Utc>>> {
        let query = match stage {
            Stage::Swarm => "select coalesce(min(stored_at), now()) from inbound_messages where disposition = 'open'",
            Stage::Envelope => {
                "select coalesce(min(created_at), now()) from turns where state = 'drafted'"
            }
            Stage::Sender => {
                "select coalesce(min(o.created_at), now()) from outbound_messages o
                 where o.state = 'queued' and o.not_before < now() + interval '10 seconds' and o.class = any($1)"
            }
            // A message that ingress acknowledged and that is not stored yet is only on the bus:
            // see `Store::ack_floor`.
            Stage::Ingress | Stage::Gate | Stage::Receipts => return Ok(None),
        };
        let mut query = sqlx::query_scalar(query);
        if let Some(queue) = queue {
            let classes = MessageClass::ALL
                .iter()
                .filter(|class| class.queue() == queue);
            query = query.bind(classes.map(|class| class.as_str()).collect::<Vec<_>>());
        }
        let mut tx = self.bind(casino).await?;
        let at: DateTime<Utc> = query.fetch_one(tx.conn()).await?;
        tx.commit().await?;
        Ok(Some(at))
    }

    /// Returns how long each casino's oldest rows have waited for swarm, envelope and sender. The
    /// wait of a deferred row begins at its new time; casinos without rows are left out.
    pub async fn waiting(&self) -> Result<Vec<Waiting>> {
        Ok(sqlx::query_as(
            "select casino_id, coalesce(extract(epoch from now() - swarm_at), 0)::float8 as swarm,
               coalesce(extract(epoch from now() - envelope_at), 0)::float8 as envelope, coalesce(extract(epoch from now() - sender_at), 0)::float8 as sender
             from fleet_waiting()",
        )
        .fetch_all(&mut *self.fleet().await?)
        .await?)
    }

    /// Counts the tickets that are not closed: casino, state, how many.
    pub async fn tickets(&self) -> Result<Vec<(String, String, i64)>> {
        let query = "select casino_id, state, n from fleet_tickets()";
        Ok(sqlx::query_as(query)
            .fetch_all(&mut *self.fleet().await?)
            .await?)
    }

    /// Returns how many cases of the last day reached a step, and how long that took.
    pub async fn case_times(&self) -> Result<Vec<CaseTimes>> {
        let query = "select casino_id, severity, step, n, p95_seconds from fleet_case_times()";
        Ok(sqlx::query_as(query)
            .fetch_all(&mut *self.fleet().await?)
            .await?)
    }

    /// Counts the turns of the last `past` for which a hosted model is set up. The groups are
    /// `model`, `fallback_text`, and each reason why the offline host answered instead.
    pub async fn hosted_turns(&self, past: Duration) -> Result<Vec<(String, i64)>> {
        let sql = "select state, n from fleet_hosted_turns($1) order by n desc, state";
        let past = sqlx::postgres::types::PgInterval::try_from(past).unwrap_or_default();
        Ok(sqlx::query_as(sql)
            .bind(past)
            .fetch_all(&mut *self.fleet().await?)
            .await?)
    }

    /// Counts the rows in each state, per casino.
    pub async fn counts(&self) -> Result<Vec<Count>> {
        let rows: Vec<(String, String, String, i64)> =
            sqlx::query_as("select casino_id, what, state, n from fleet_counts() order by 1, 2, 3")
                .fetch_all(&mut *self.fleet().await?)
                .await?;
        Ok(rows
            .into_iter()
            .map(|(casino, what, state, n)| Count {
                casino,
                what,
                state,
                n,
            })
            .collect())
    }
}

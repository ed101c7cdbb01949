//! Alerts that a person must see, and the record of who was told (SMS-55). One open row per key;
//! each channel that is still to be told has a row of its own, which schedulers claim. The tables
//! know no guest and no row policy.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::json;
use seven_domain::{AuditEvent, CasinoId, Severity};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Store, audit::Entry};

/// An alert to file. No field names a guest.
#[derive(Debug, Clone)]
pub struct NewAlert<'a> {
    pub alert_id: Uuid,
    /// One open alert per key.
    pub key: &'a str,
    pub name: &'a str,
    /// Empty: the whole fleet.
    pub casino: &'a str,
    pub provider: &'a str,
    pub code: &'a str,
    pub severity: Severity,
    pub summary: &'a str,
    /// True: the scheduler sees when it ends. False: it ends when it has not come again for a while.
    pub standing: bool,
    /// How often it came, at least 1.
    pub times: u64,
    pub ack_within: Option<Duration>,
}

/// An alert as it stands.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct Alert {
    pub alert_id: Uuid,
    pub key: String,
    pub name: String,
    pub casino_id: String,
    pub provider: String,
    pub code: String,
    pub severity: String,
    pub summary: String,
    pub repeats: i64,
    pub first_at: DateTime<Utc>,
    pub last_at: DateTime<Utc>,
    pub ack_due_at: Option<DateTime<Utc>>,
    pub acknowledged_at: Option<DateTime<Utc>>,
    pub acknowledged_by: Option<String>,
    pub resolved_at: Option<DateTime<Utc>>,
    /// Open, and nobody acknowledged it in time.
    pub overdue: bool,
}

/// A notice that a scheduler has in hand.
#[derive(Debug, Clone, FromRow)]
pub struct Due {
    pub alert_id: Uuid,
    pub action: String,
    pub channel: String,
    /// This one included.
    pub tries: i32,
    pub name: String,
    pub casino_id: String,
    pub provider: String,
    pub code: String,
    pub severity: String,
    pub summary: String,
    pub repeats: i64,
    pub first_at: DateTime<Utc>,
}

/// How a notice ended, or not.
#[derive(Debug, Clone, Copy)]
pub enum Told<'a> {
    Delivered,
    Later(Duration, &'a str),
    GivenUp(&'a str),
}

/// Queues a notice on every channel that heard of the alert.
const TELL_AGAIN: &str = "insert into alert_deliveries (alert_id, action, channel)
     select alert_id, $2, channel from alert_deliveries where alert_id = any($1) and action = 'trigger' on conflict do nothing";

impl Store {
    /// Files an alert; the one that is open under its key counts one more and takes over the new sentence and a higher severity, of which
    /// all are told anew. An alert whose id was there before is not filed again.
    pub async fn raise_alert(&self, new: &NewAlert<'_>) -> Result<()> {
        let mut tx = self.fleet_begin().await?;
        let grown: Option<(Uuid, bool)> = sqlx::query_as(
            "with before as (select severity from alerts where key = $2 and resolved_at is null)
             insert into alerts as a (alert_id, key, name, casino_id, provider, code, severity, summary, standing, repeats, ack_due_at)
             select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 - 1, now() + make_interval(secs => $11)
             where not exists (select 1 from alerts o where o.alert_id = $1)
             on conflict (key) where resolved_at is null do update set repeats = a.repeats + $10, last_at = now(), summary = excluded.summary,
               severity = case when a.severity = 'critical' or excluded.severity = 'info' then a.severity else excluded.severity end,
               ack_due_at = case when a.severity <> 'critical' and excluded.severity = 'critical' then excluded.ack_due_at else a.ack_due_at end
             returning a.alert_id, coalesce((select severity <> 'critical' from before), false) and a.severity = 'critical'",
        )
        .bind(new.alert_id)
        .bind(new.key)
        .bind(new.name)
        .bind(new.casino)
        .bind(new.provider)
        .bind(new.code)
        .bind(new.severity.as_str())
        .bind(new.summary)
        .bind(new.standing)
        .bind(i64::try_from(new.times).unwrap_or(i64::MAX))
        .bind(new.ack_within.map(|within| within.as_secs_f64()))
        .fetch_optional(&mut *tx)
        .await?;
        if let Some((alert, true)) = grown {
            // It is worse than they were told, and whoever had it in hand had something smaller.
            sqlx::query("update alerts set acknowledged_at = null, acknowledged_by = null where alert_id = $1")
                .bind(alert)
                .execute(&mut *tx)
                .await?;
            sqlx::query("delete from alert_deliveries where alert_id = $1 and action = 'acknowledge'")
                .bind(alert)
                .execute(&mut *tx)
                .await?;
            sqlx::query("update alert_deliveries set delivered_at = null, given_up_at = null, tries = 0, next_at = now() where alert_id = $1")
                .bind(alert)
                .execute(&mut *tx)
                .await?;
        }
        Ok(tx.commit().await?)
    }

    /// How grave the alert is that is open under this key.
    pub async fn open_severity(&self, key: &str) -> Result<Option<Severity>> {
        let query = "select severity from alerts where key = $1 and resolved_at is null";
        let severity: Option<String> =
            sqlx::query_scalar(query).bind(key).fetch_optional(&mut *self.fleet().await?).await?;
        Ok(severity.map(|severity| severity.parse()).transpose()?)
    }

    /// Ends the alert that is open under this key, where it was last seen longer ago than `quiet`. False when there was none.
    pub async fn resolve_alert(&self, key: &str, quiet: Duration) -> Result<bool> {
        let query = "update alerts set resolved_at = now() where key = $1 and resolved_at is null and last_at <= now() - make_interval(secs => $2)
             returning alert_id";
        self.resolve(sqlx::query_scalar(query).bind(key).bind(quiet.as_secs_f64())).await.map(|n| n > 0)
    }

    /// Ends alerts that nobody looks after and that have not come again for `quiet`. Returns how many.
    pub async fn resolve_quiet(&self, quiet: Duration) -> Result<usize> {
        let query = "update alerts set resolved_at = now() where not standing and resolved_at is null and last_at < now() - make_interval(secs => $1)
             returning alert_id";
        self.resolve(sqlx::query_scalar(query).bind(quiet.as_secs_f64())).await
    }

    /// Two statements: the second sees what a scheduler queued while the first waited for its lock.
    async fn resolve(
        &self,
        update: sqlx::query::QueryScalar<'_, sqlx::Postgres, Uuid, sqlx::postgres::PgArguments>,
    ) -> Result<usize> {
        let mut tx = self.fleet_begin().await?;
        let ended: Vec<Uuid> = update.fetch_all(&mut *tx).await?;
        sqlx::query(TELL_AGAIN).bind(&ended).bind("resolve").execute(&mut *tx).await?;
        tx.commit().await?;
        Ok(ended.len())
    }

    /// Somebody has it in hand: everybody who was told is told so, and a case behind it is acknowledged with it. `which` is an alert's id;
    /// false when no such alert is open and unacknowledged.
    pub async fn acknowledge_alert(&self, which: Uuid, by: &str) -> Result<bool> {
        let found = "select casino_id from alerts where alert_id = $1";
        let casino: Option<String> =
            sqlx::query_scalar(found).bind(which).fetch_optional(&mut *self.fleet().await?).await?;
        let Some(casino) = casino else { return Ok(false) };
        let filed = if casino.is_empty() { CasinoId::unknown() } else { CasinoId::trusted(&casino)? };
        let mut tx = self.bind(&filed).await?;
        let name: Option<String> = sqlx::query_scalar(
            "update alerts set acknowledged_at = now(), acknowledged_by = $2 where alert_id = $1 and resolved_at is null and acknowledged_at is null
             returning name",
        )
        .bind(which)
        .bind(by)
        .fetch_optional(tx.conn())
        .await?;
        let Some(name) = name else { return Ok(false) };
        sqlx::query(TELL_AGAIN).bind(vec![which]).bind("acknowledge").execute(tx.conn()).await?;
        tx.acknowledge(which, by).await?;
        let subject = which.to_string();
        tx.audit(&Entry::of(AuditEvent::AlertAcknowledged, by, &subject, json!({ "alert": name }))).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Alerts, the gravest and newest first; `all` includes those that ended.
    pub async fn alerts(&self, all: bool, most: i64) -> Result<Vec<Alert>> {
        Ok(sqlx::query_as(
            "select alert_id, key, name, casino_id, provider, code, severity, summary, repeats, first_at, last_at, ack_due_at, acknowledged_at,
               acknowledged_by, resolved_at, (resolved_at is null and acknowledged_at is null and coalesce(ack_due_at < now(), false)) as overdue
             from alerts where $1 or resolved_at is null
             order by resolved_at is not null, array_position(array['critical', 'warning', 'info'], severity), last_at desc limit $2",
        )
        .bind(all)
        .bind(most)
        .fetch_all(&mut *self.fleet().await?)
        .await?)
    }

    /// Queues what the channels have not heard of: one notice per open alert and channel of its severity.
    pub async fn plan_notices(&self, routes: &[(Severity, String)]) -> Result<()> {
        let (severities, channels): (Vec<&str>, Vec<&str>) =
            routes.iter().map(|(severity, channel)| (severity.as_str(), channel.as_str())).unzip();
        // The share lock waits for an alert's end, which then is seen.
        sqlx::query(
            "insert into alert_deliveries (alert_id, action, channel)
             select a.alert_id, 'trigger', r.channel from alerts a join unnest($1::text[], $2::text[]) as r(severity, channel) on r.severity = a.severity
             where a.resolved_at is null
               and not exists (select 1 from alert_deliveries d where d.alert_id = a.alert_id and d.action = 'trigger' and d.channel = r.channel)
             for share of a on conflict do nothing",
        )
        .bind(severities)
        .bind(channels)
        .execute(&mut *self.fleet().await?)
        .await?;
        Ok(())
    }

    /// Claims notices for `claim`; two schedulers never hold the same one, and a channel hears of an alert in order.
    pub async fn claim_notices(&self, most: i64, claim: Duration) -> Result<Vec<Due>> {
        Ok(sqlx::query_as(
            "with picked as (
               select d.alert_id, d.action, d.channel from alert_deliveries d
               where d.delivered_at is null and d.given_up_at is null and d.next_at <= now()
                 and not exists (select 1 from alert_deliveries e where e.alert_id = d.alert_id and e.channel = d.channel
                   and e.created_at < d.created_at and e.delivered_at is null and e.given_up_at is null)
               order by d.next_at limit $1 for update skip locked)
             update alert_deliveries d set tries = d.tries + 1, next_at = now() + make_interval(secs => $2)
             from picked p, alerts a
             where d.alert_id = p.alert_id and d.action = p.action and d.channel = p.channel and a.alert_id = d.alert_id
             returning d.alert_id, d.action, d.channel, d.tries, a.name, a.casino_id, a.provider, a.code, a.severity, a.summary, a.repeats, a.first_at",
        )
        .bind(most)
        .bind(claim.as_secs_f64())
        .fetch_all(&mut *self.fleet().await?)
        .await?)
    }

    /// How a claimed notice went.
    pub async fn note_notice(&self, due: &Due, told: Told<'_>) -> Result<()> {
        let (done, given_up, wait, error) = match told {
            Told::Delivered => (true, false, 0.0, None),
            Told::Later(wait, error) => (false, false, wait.as_secs_f64(), Some(error)),
            Told::GivenUp(error) => (false, true, 0.0, Some(error)),
        };
        // A claim that somebody else renewed meanwhile is not ours to end.
        sqlx::query(
            "update alert_deliveries set delivered_at = case when $4 then now() end, given_up_at = case when $5 then now() end,
               next_at = now() + make_interval(secs => $6), last_error = coalesce($7, last_error)
             where alert_id = $1 and action = $2 and channel = $3 and tries = $8 and delivered_at is null",
        )
        .bind(due.alert_id)
        .bind(&due.action)
        .bind(&due.channel)
        .bind(done)
        .bind(given_up)
        .bind(wait)
        .bind(error)
        .bind(due.tries)
        .execute(&mut *self.fleet().await?)
        .await?;
        Ok(())
    }

    /// Removes alerts that ended `days` ago, with what was told of them.
    pub async fn forget_alerts(&self, days: i32) -> Result<u64> {
        let gone = sqlx::query(
            "delete from alerts where last_at < now() - make_interval(days => $1) and resolved_at < now() - make_interval(days => $1)",
        );
        Ok(gone.bind(days).execute(&mut *self.fleet().await?).await?.rows_affected())
    }
}

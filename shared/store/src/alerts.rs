//! Alerts that a person must see. There is at most one open row per key, and one row for each
//! notice to a channel. No row holds guest data, so there is no row policy.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::json;
use seven_domain::{AuditEvent, CasinoId, Severity, text_enum};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Store, audit::Entry};

/// An alert to file. No field names a guest.
#[derive(Debug, Clone)]
pub struct NewAlert<'a> {
    pub alert_id: Uuid,
    /// At most one alert is open per key.
    pub key: &'a str,
    pub name: &'a str,
    /// The casino concerned; empty for the whole fleet.
    pub casino: &'a str,
    pub provider: &'a str,
    pub code: &'a str,
    pub severity: Severity,
    pub summary: &'a str,
    /// True if the scheduler detects when the alert ends. False if the alert ends when it has not
    /// recurred for a while.
    pub standing: bool,
    /// Number of occurrences, at least 1.
    pub times: u64,
    pub ack_within: Option<Duration>,
}

/// The current state of an alert.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct Alert {
    pub alert_id: Uuid,
    pub key: String,
    pub name: String,
    pub casino_id: String,
    pub provider: String,
    pub code: String,
    pub severity: Severity,
    pub summary: String,
    pub repeats: i64,
    pub first_at: DateTime<Utc>,
    pub last_at: DateTime<Utc>,
    pub ack_due_at: Option<DateTime<Utc>>,
    pub acknowledged_at: Option<DateTime<Utc>>,
    pub acknowledged_by: Option<String>,
    pub resolved_at: Option<DateTime<Utc>>,
    /// The alert is open, and nobody acknowledged it in time.
    pub overdue: bool,
}

text_enum! {
    /// The change of the alert that a notice reports.
    NoticeAction {
        Trigger => "trigger",
        Acknowledge => "acknowledge",
        Resolve => "resolve",
    }
}

/// A notice that a scheduler has claimed.
#[derive(Debug, Clone, FromRow)]
pub struct Due {
    pub alert_id: Uuid,
    pub action: NoticeAction,
    pub channel: String,
    /// Number of tries, this one included.
    pub tries: i32,
    pub name: String,
    pub casino_id: String,
    pub provider: String,
    pub code: String,
    pub severity: Severity,
    pub summary: String,
    pub repeats: i64,
    pub first_at: DateTime<Utc>,
}

/// Outcome of an attempt to deliver a notice.
#[derive(Debug, Clone, Copy)]
pub enum NoticeOutcome<'a> {
    Delivered,
    Later(Duration, &'a str),
    GivenUp(&'a str),
}

impl<'a> NoticeOutcome<'a> {
    /// Returns whether the notice is delivered, whether it is given up, the seconds until the next
    /// try, and the error.
    pub(crate) fn columns(self) -> (bool, bool, f64, Option<&'a str>) {
        match self {
            Self::Delivered => (true, false, 0.0, None),
            Self::Later(wait, error) => (false, false, wait.as_secs_f64(), Some(error)),
            Self::GivenUp(error) => (false, true, 0.0, Some(error)),
        }
    }
}

/// Queues a notice on every channel that was notified of the alert.
const TELL_AGAIN: &str = "insert into alert_deliveries (alert_id, action, channel)
     select alert_id, $2, channel from alert_deliveries where alert_id = any($1) and action = 'trigger' on conflict do nothing";

impl Store {
    /// Files an alert, at most once per id. If an alert with the same key is open, the open alert
    /// gets the new occurrences and summary, and keeps the higher severity. If it becomes critical,
    /// people are notified again.
    pub async fn raise_alert(&self, new: &NewAlert<'_>) -> Result<()> {
        let mut tx = self.fleet_begin().await?;
        let grown: Option<(Uuid, bool)> = sqlx::query_as(include_str!("../sql/raise_alert.sql"))
            .bind(new.alert_id)
            .bind(new.key)
            .bind(new.name)
            .bind(new.casino)
            .bind(new.provider)
            .bind(new.code)
            .bind(new.severity)
            .bind(new.summary)
            .bind(new.standing)
            .bind(i64::try_from(new.times).unwrap_or(i64::MAX))
            .bind(new.ack_within.map(|within| within.as_secs_f64()))
            .fetch_optional(&mut *tx)
            .await?;
        if let Some((alert, true)) = grown {
            // The alert has become critical. People were notified of a less severe alert and may
            // have acknowledged it. So the acknowledgement is removed, and people are notified
            // again.
            sqlx::query("update alerts set acknowledged_at = null, acknowledged_by = null where alert_id = $1")
                .bind(alert)
                .execute(&mut *tx)
                .await?;
            sqlx::query(
                "delete from alert_deliveries where alert_id = $1 and action = 'acknowledge'",
            )
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

    /// Returns the severity of the alert that is open under this key.
    pub async fn open_severity(&self, key: &str) -> Result<Option<Severity>> {
        let query = "select severity from alerts where key = $1 and resolved_at is null";
        Ok(sqlx::query_scalar(query)
            .bind(key)
            .fetch_optional(&mut *self.fleet().await?)
            .await?)
    }

    /// Resolves the alert that is open under this key if it last occurred longer than `quiet` ago.
    /// Returns false if there was no such alert.
    pub async fn resolve_alert(&self, key: &str, quiet: Duration) -> Result<bool> {
        let query = "update alerts set resolved_at = now() where key = $1 and resolved_at is null and last_at <= now() - make_interval(secs => $2)
             returning alert_id";
        self.resolve(
            sqlx::query_scalar(query)
                .bind(key)
                .bind(quiet.as_secs_f64()),
        )
        .await
        .map(|n| n > 0)
    }

    /// Resolves non-standing alerts that have not recurred for `quiet`. Returns how many.
    pub async fn resolve_quiet(&self, quiet: Duration) -> Result<usize> {
        let query = "update alerts set resolved_at = now() where not standing and resolved_at is null and last_at < now() - make_interval(secs => $1)
             returning alert_id";
        self.resolve(sqlx::query_scalar(query).bind(quiet.as_secs_f64()))
            .await
    }

    /// Runs `update`, which resolves alerts, then queues their notices. A separate statement queues
    /// the notices. It sees the notices that a scheduler queued while `update` waited for its lock.
    async fn resolve(
        &self,
        update: sqlx::query::QueryScalar<'_, sqlx::Postgres, Uuid, sqlx::postgres::PgArguments>,
    ) -> Result<usize> {
        let mut tx = self.fleet_begin().await?;
        let ended: Vec<Uuid> = update.fetch_all(&mut *tx).await?;
        sqlx::query(TELL_AGAIN)
            .bind(&ended)
            .bind(NoticeAction::Resolve)
            .execute(&mut *tx)
            .await?;
        tx.commit().await?;
        Ok(ended.len())
    }

    /// Acknowledges an open alert and the case behind it, and notifies everybody who got the alert.
    /// Returns false if there is no such alert, or it is resolved or acknowledged already.
    pub async fn acknowledge_alert(&self, which: Uuid, by: &str) -> Result<bool> {
        let found = "select casino_id from alerts where alert_id = $1";
        let casino: Option<String> = sqlx::query_scalar(found)
            .bind(which)
            .fetch_optional(&mut *self.fleet().await?)
            .await?;
        let Some(casino) = casino else {
            return Ok(false);
        };
        let filed = if casino.is_empty() {
            CasinoId::unknown()
        } else {
            CasinoId::trusted(&casino)?
        };
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
        sqlx::query(TELL_AGAIN)
            .bind(vec![which])
            .bind(NoticeAction::Acknowledge)
            .execute(tx.conn())
            .await?;
        tx.acknowledge(which, by).await?;
        let subject = which.to_string();
        tx.audit(&Entry::of(
            AuditEvent::AlertAcknowledged,
            by,
            &subject,
            json!({ "alert": name }),
        ))
        .await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Returns alerts, most severe and newest first; `all` includes resolved ones.
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

    /// Queues the missing notices: for each open alert, one on every channel to which its severity
    /// is routed.
    pub async fn plan_notices(&self, routes: &[(Severity, String)]) -> Result<()> {
        let (severities, channels): (Vec<&str>, Vec<&str>) = routes
            .iter()
            .map(|(severity, channel)| (severity.as_str(), channel.as_str()))
            .unzip();
        // `for share` waits for a transaction that is resolving the alert, so that the alert's new
        // state is visible here.
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

    /// Claims notices for the duration `claim`. No two schedulers hold the same notice, and a
    /// channel receives the notices of an alert in order.
    pub async fn claim_notices(&self, most: i64, claim: Duration) -> Result<Vec<Due>> {
        Ok(sqlx::query_as(include_str!("../sql/claim_notices.sql"))
            .bind(most)
            .bind(claim.as_secs_f64())
            .fetch_all(&mut *self.fleet().await?)
            .await?)
    }

    /// Records the outcome of a claimed notice.
    pub async fn note_notice(&self, due: &Due, outcome: NoticeOutcome<'_>) -> Result<()> {
        let (done, given_up, wait, error) = outcome.columns();
        // If another scheduler has renewed the claim meanwhile, `tries` differs and nothing is
        // changed.
        sqlx::query(
            "update alert_deliveries set delivered_at = case when $4 then now() end, given_up_at = case when $5 then now() end,
               next_at = now() + make_interval(secs => $6), last_error = coalesce($7, last_error)
             where alert_id = $1 and action = $2 and channel = $3 and tries = $8 and delivered_at is null",
        )
        .bind(due.alert_id)
        .bind(due.action)
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

    /// Removes alerts that were resolved more than `days` ago, with their delivery records.
    pub async fn forget_alerts(&self, days: i32) -> Result<u64> {
        let gone = sqlx::query(
            "delete from alerts where last_at < now() - make_interval(days => $1) and resolved_at < now() - make_interval(days => $1)",
        );
        Ok(gone
            .bind(days)
            .execute(&mut *self.fleet().await?)
            .await?
            .rows_affected())
    }
}

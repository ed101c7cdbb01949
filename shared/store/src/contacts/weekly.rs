//! The weekly reports to contacts: planned once per week and contact, claimed, and settled.

use std::time::Duration;

use chrono::{DateTime, NaiveDate, Utc};
use seven_domain::CasinoId;
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Store, Tx, alerts::NoticeOutcome};

/// A report that a scheduler has claimed.
#[derive(Debug, Clone, FromRow)]
pub struct DueReport {
    pub report_id: Uuid,
    pub contact_id: Uuid,
    /// The Monday on which the reported week begins.
    pub week: NaiveDate,
    /// Number of tries, this one included.
    pub tries: i32,
}

impl Store {
    /// Returns the casinos with reports to send now.
    pub async fn with_weekly_reports(&self) -> Result<Vec<CasinoId>> {
        let rows: Vec<String> = sqlx::query_scalar("select casino_id from fleet_weekly_reports()")
            .fetch_all(&mut *self.fleet().await?)
            .await?;
        rows.iter()
            .map(|casino| Ok(CasinoId::trusted(casino)?))
            .collect()
    }
}

impl Tx {
    /// Plans the missing reports of a week for the contacts that want them and were there when it
    /// ended. Nothing is sent before `at`.
    pub async fn plan_weekly_reports(
        &mut self,
        week: NaiveDate,
        ended: DateTime<Utc>,
        at: DateTime<Utc>,
    ) -> Result<u64> {
        let done = sqlx::query(
            "insert into weekly_reports (casino_id, report_id, contact_id, week, next_at)
             select casino_id, gen_random_uuid(), contact_id, $1, $3 from contacts
             where weekly and ended_at is null and channel <> 'text' and created_at < $2
             on conflict do nothing",
        )
        .bind(week)
        .bind(ended)
        .bind(at)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected())
    }

    /// Claims a due report for the duration `claim`; no two schedulers hold the same one.
    pub async fn claim_weekly_report(&mut self, claim: Duration) -> Result<Option<DueReport>> {
        Ok(sqlx::query_as(
            "update weekly_reports r set tries = r.tries + 1, next_at = now() + make_interval(secs => $1)
             from (select d.report_id from weekly_reports d
               where d.delivered_at is null and d.given_up_at is null and d.next_at <= now()
               order by d.next_at limit 1 for update of d skip locked) due
             where r.report_id = due.report_id returning r.report_id, r.contact_id, r.week, r.tries",
        )
        .bind(claim.as_secs_f64())
        .fetch_optional(self.conn())
        .await?)
    }

    /// Records the outcome of a claimed report; a claim that another scheduler renewed meanwhile is
    /// left alone.
    pub async fn note_weekly_report(
        &mut self,
        due: &DueReport,
        outcome: NoticeOutcome<'_>,
    ) -> Result<()> {
        let (done, given_up, wait, error) = outcome.columns();
        sqlx::query(
            "update weekly_reports set delivered_at = case when $2 then now() end, given_up_at = case when $3 then now() end,
               next_at = now() + make_interval(secs => $4), last_error = coalesce($5, last_error)
             where report_id = $1 and tries = $6 and delivered_at is null",
        )
        .bind(due.report_id)
        .bind(done)
        .bind(given_up)
        .bind(wait)
        .bind(error)
        .bind(due.tries)
        .execute(self.conn())
        .await?;
        if done {
            self.reached_contact(due.contact_id).await?;
        }
        Ok(())
    }
}

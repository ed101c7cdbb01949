//! Nightly jobs of a casino. A scheduler claims a job for a casino and a local date, so that no
//! second scheduler does the same job (SEC-74, DATA-53).

use chrono::NaiveDate;
use serde_json::Value;

use crate::{Result, Tx};

impl Tx {
    /// Claims tonight's run of a job; returns false when it was claimed before. The claim is only
    /// valid if the transaction commits.
    pub async fn claim_nightly(&mut self, job: &str, date: NaiveDate) -> Result<bool> {
        let casino = self.casino_str();
        let done = sqlx::query(
            "insert into nightly (casino_id, job, last_date) values ($1, $2, $3)
             on conflict (casino_id, job) do update set last_date = excluded.last_date, ran_at = now() where nightly.last_date < excluded.last_date",
        )
        .bind(casino)
        .bind(job)
        .bind(date)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Returns whether the job was claimed for this date or a later one.
    pub async fn nightly_is_done(&mut self, job: &str, date: NaiveDate) -> Result<bool> {
        let done = "select exists (select 1 from nightly where job = $1 and last_date >= $2)";
        let done = sqlx::query_scalar(done).bind(job).bind(date);
        Ok(done.fetch_one(self.conn()).await?)
    }

    /// Undoes [`Tx::claim_nightly`], so that the job is due again.
    pub async fn release_nightly(&mut self, job: &str, date: NaiveDate) -> Result<()> {
        sqlx::query("update nightly set last_date = $2 - 1 where job = $1 and last_date = $2")
            .bind(job)
            .bind(date)
            .execute(self.conn())
            .await?;
        Ok(())
    }

    /// Stores the result of a job, for operators.
    pub async fn note_nightly(&mut self, job: &str, result: &Value) -> Result<()> {
        sqlx::query("update nightly set result = $2 where job = $1")
            .bind(job)
            .bind(result)
            .execute(self.conn())
            .await?;
        Ok(())
    }

    /// Returns at most 500 guests with marketing consent who were inactive at this casino for
    /// `days`. Activity is a text of the guest, the consent itself, or the creation of the guest's
    /// row.
    pub async fn decayed_consents(&mut self, days: i32) -> Result<Vec<(uuid::Uuid, i16, Vec<u8>)>> {
        Ok(sqlx::query_as(
            "select g.guest_id, g.key_id, g.phone_hash from guests g left join conversations c on c.guest_id = g.guest_id
             where g.consent_tier = 'marketing'
             group by g.guest_id, g.key_id, g.phone_hash, g.consent_at, g.created_at
             having greatest(max(c.last_inbound_at), g.consent_at, g.created_at) < now() - make_interval(days => $1)
             limit 500",
        )
        .bind(days)
        .fetch_all(self.conn())
        .await?)
    }
}

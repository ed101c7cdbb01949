//! Plans, claims and settles letters to contacts by chat or mail. A letter is planned once per
//! subject and contact.

use std::time::Duration;

use chrono::{DateTime, NaiveDate, Utc};
use serde_json::{Value, json};
use seven_domain::{CasinoId, LetterKind};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Store, Tx, alerts::NoticeOutcome};

/// A letter that a scheduler has claimed.
#[derive(Debug, Clone, FromRow)]
pub struct DueLetter {
    pub letter_id: Uuid,
    pub contact_id: Uuid,
    pub kind: LetterKind,
    /// Identifies the letter's topic. Depending on `kind`, this is the refused edit, the outage, or
    /// the Monday on which the reported week begins.
    pub key: String,
    pub detail: Value,
    /// Number of tries, this one included.
    pub tries: i32,
}

impl Store {
    /// Returns the casinos with letters to send now.
    pub async fn with_letters(&self) -> Result<Vec<CasinoId>> {
        let rows: Vec<String> = sqlx::query_scalar("select casino_id from fleet_contact_letters()")
            .fetch_all(&mut *self.fleet().await?)
            .await?;
        rows.iter()
            .map(|casino| Ok(CasinoId::trusted(casino)?))
            .collect()
    }
}

impl Tx {
    /// Plans the missing reports of a week for the contacts that want them and were added before
    /// the week `ended`. Nothing is sent before `at`.
    pub async fn plan_weekly_reports(
        &mut self,
        week: NaiveDate,
        ended: DateTime<Utc>,
        at: DateTime<Utc>,
    ) -> Result<u64> {
        let done = sqlx::query(
            "insert into contact_letters (casino_id, letter_id, contact_id, kind, key, next_at)
             select casino_id, gen_random_uuid(), contact_id, 'weekly_report', $1::text, $3 from contacts
             where weekly and ended_at is null and channel <> 'text' and created_at < $2
             on conflict do nothing",
        )
        .bind(week.to_string())
        .bind(ended)
        .bind(at)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected())
    }

    /// Plans a letter about a refused edit for each contact that is told about content. `key`
    /// identifies the edit. `subject` is the item's name, or a fixed name if the letter is about a
    /// whole file. `problems` has one line per problem.
    pub async fn plan_refusal_letters(
        &mut self,
        key: &str,
        subject: &str,
        editor: &str,
        problems: &[String],
    ) -> Result<u64> {
        let detail = json!({ "subject": subject, "editor": editor, "problems": problems });
        let done = sqlx::query(
            "insert into contact_letters (casino_id, letter_id, contact_id, kind, key, detail)
             select casino_id, gen_random_uuid(), contact_id, 'content_refused', $1::text, $2::jsonb from contacts
             where content and ended_at is null and channel <> 'text' on conflict do nothing",
        )
        .bind(key)
        .bind(detail)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected())
    }

    /// Plans the missing letters about the content of a week for the contacts that are told about
    /// content. Nothing is sent before `at`.
    pub async fn plan_content_week(
        &mut self,
        week: NaiveDate,
        detail: &Value,
        at: DateTime<Utc>,
    ) -> Result<u64> {
        let done = sqlx::query(
            "insert into contact_letters (casino_id, letter_id, contact_id, kind, key, detail, next_at)
             select casino_id, gen_random_uuid(), contact_id, 'content_week', $1::text, $2::jsonb, $3 from contacts
             where content and ended_at is null and channel <> 'text' on conflict do nothing",
        )
        .bind(week.to_string())
        .bind(detail)
        .bind(at)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected())
    }

    /// Claims a due letter for the duration `claim`; no two schedulers hold the same one. A letter
    /// of a kind that this release does not know is left to the schedulers of a later release.
    pub async fn claim_letter(&mut self, claim: Duration) -> Result<Option<DueLetter>> {
        let known: Vec<&str> = LetterKind::ALL.iter().map(|kind| kind.as_str()).collect();
        Ok(sqlx::query_as(
            "update contact_letters l set tries = l.tries + 1, next_at = now() + make_interval(secs => $1)
             from (select d.letter_id from contact_letters d
               where d.delivered_at is null and d.given_up_at is null and d.next_at <= now() and d.kind = any($2)
               order by d.next_at limit 1 for update of d skip locked) due
             where l.letter_id = due.letter_id returning l.letter_id, l.contact_id, l.kind, l.key, l.detail, l.tries",
        )
        .bind(claim.as_secs_f64())
        .bind(known)
        .fetch_optional(self.conn())
        .await?)
    }

    /// Records the outcome of a claimed letter, and clears its `detail` once it is delivered or
    /// given up. Has no effect if another scheduler has renewed the claim meanwhile.
    pub async fn note_letter(&mut self, due: &DueLetter, outcome: NoticeOutcome<'_>) -> Result<()> {
        let (done, given_up, wait, error) = outcome.columns();
        sqlx::query(
            "update contact_letters set delivered_at = case when $2 then now() end, given_up_at = case when $3 then now() end,
               next_at = now() + make_interval(secs => $4), last_error = coalesce($5, last_error),
               detail = case when $2 or $3 then '{}' else detail end
             where letter_id = $1 and tries = $6 and delivered_at is null",
        )
        .bind(due.letter_id)
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

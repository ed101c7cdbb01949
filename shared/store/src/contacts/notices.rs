//! Plans, claims and settles notices about cases. A notice is planned once per case, level and
//! contact.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::json;
use seven_domain::{AuditEvent, CaseSeverity, ContactChannel};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Tx, alerts::NoticeOutcome, audit::Entry};

/// A case is never raised above this level.
const MAX_LEVEL: i32 = 3;

/// A notice that a scheduler has claimed.
#[derive(Debug, Clone, FromRow)]
pub struct DueNotice {
    pub notice_id: Uuid,
    pub escalation_id: Uuid,
    pub contact_id: Uuid,
    /// Number of tries, this one included.
    pub tries: i32,
    /// The queued text that carries the notice to a phone; `None` before it is queued, and for
    /// other channels.
    pub outbound_id: Option<Uuid>,
}

/// A case and one of its notices: the data for the notice's message, and for the page behind its
/// link.
#[derive(Debug, Clone, FromRow)]
pub struct CaseNotice {
    pub contact_id: Uuid,
    pub escalation_id: Uuid,
    pub conversation_id: Option<Uuid>,
    pub severity: CaseSeverity,
    pub reason: String,
    pub subject: String,
    pub level: i32,
    pub repeats: i32,
    pub created_at: DateTime<Utc>,
    pub ack_due_at: Option<DateTime<Utc>>,
    pub respond_due_at: Option<DateTime<Utc>>,
    pub acknowledged_by: Option<String>,
    pub resolved_at: Option<DateTime<Utc>>,
    /// When the channel took the notice, or the current time if it has not taken it yet. The link
    /// is valid from this time.
    pub told_at: DateTime<Utc>,
}

/// A case whose level was raised because nobody acknowledged it.
#[derive(Debug, Clone, FromRow)]
pub struct Raised {
    pub escalation_id: Uuid,
    pub severity: CaseSeverity,
    /// The new level.
    pub level: i32,
}

/// A notice as staff read it: who was told about the case, and when.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct Told {
    pub escalation_id: Uuid,
    pub name: String,
    pub channel: ContactChannel,
    pub level: i32,
    pub created_at: DateTime<Utc>,
    pub tries: i32,
    pub delivered_at: Option<DateTime<Utc>>,
    pub given_up_at: Option<DateTime<Utc>>,
    pub last_error: Option<String>,
}

impl Tx {
    /// Plans the missing notices of the unacknowledged cases: one for each contact whose level and
    /// severity cover the case. Cases whose reason is in `dangers` go to the security contacts,
    /// too.
    pub async fn plan_case_notices(&mut self, dangers: &[&str]) -> Result<u64> {
        let done = sqlx::query(
            "insert into case_notices (casino_id, notice_id, escalation_id, level, contact_id)
             select e.casino_id, gen_random_uuid(), e.escalation_id, e.level, c.contact_id
             from escalations e join contacts c on c.casino_id = e.casino_id
             where e.acknowledged_at is null and e.resolved_at is null and c.ended_at is null and (c.channel <> 'text' or c.verified_at is not null)
               and ((c.level <= e.level and e.severity <= c.severity) or (c.security and e.reason = any($1)))
               and not exists (select 1 from case_notices n where n.escalation_id = e.escalation_id and n.level = e.level and n.contact_id = c.contact_id)
             on conflict do nothing",
        )
        .bind(dangers)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected())
    }

    /// Raises each case of this severity by one level if nobody acknowledged it in time. After the
    /// first level, `window` is the time allowed for each further level.
    pub async fn raise_cases(
        &mut self,
        severity: CaseSeverity,
        window: Duration,
    ) -> Result<Vec<Raised>> {
        let raised: Vec<Raised> = sqlx::query_as(
            "update escalations set level = level + 1, raised_at = now()
             where acknowledged_at is null and resolved_at is null and severity = $1 and level < $3
               and coalesce(raised_at + make_interval(secs => $2), ack_due_at) <= now()
             returning escalation_id, severity, level",
        )
        .bind(severity)
        .bind(window.as_secs_f64())
        .bind(MAX_LEVEL)
        .fetch_all(self.conn())
        .await?;
        let cases: Vec<Uuid> = raised.iter().map(|case| case.escalation_id).collect();
        self.escalate_incidents(&cases).await?;
        for case in &raised {
            let detail = json!({
                "from_level": case.level - 1, "to_level": case.level,
                "reason": "acknowledgment_sla_breach",
            });
            let (event, subject) = (
                AuditEvent::EscalationAutoEscalated,
                case.escalation_id.to_string(),
            );
            self.audit(&Entry::of(event, "scheduler", &subject, detail))
                .await?;
        }
        Ok(raised)
    }

    /// Marks the incidents of these raised cases as escalated: nobody handled the cases in time.
    async fn escalate_incidents(&mut self, cases: &[Uuid]) -> Result<()> {
        sqlx::query(
            "update incidents set state = 'escalated' where state = 'mitigating' and escalation_id = any($1)",
        )
        .bind(cases)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Raises a case whose deadline for writing to the guest has passed. Also removes its
    /// acknowledgement: the person who acknowledged it did not write, so somebody else has to.
    pub async fn raise_overdue(&mut self, escalation: Uuid) -> Result<()> {
        let level: Option<i32> = sqlx::query_scalar(
            "update escalations set level = least(level + 1, $2), raised_at = now(), acknowledged_at = null, acknowledged_by = null
             where escalation_id = $1 and resolved_at is null returning level",
        )
        .bind(escalation)
        .bind(MAX_LEVEL)
        .fetch_optional(self.conn())
        .await?;
        let Some(level) = level else { return Ok(()) };
        self.escalate_incidents(&[escalation]).await?;
        let detail = json!({ "to_level": level, "reason": "response_sla_breach" });
        let (event, subject) = (AuditEvent::EscalationAutoEscalated, escalation.to_string());
        self.audit(&Entry::of(event, "scheduler", &subject, detail))
            .await
    }

    /// Returns the number of cases of this severity that have been at the highest level for
    /// `window` or longer without an acknowledgement.
    pub async fn unattended_cases(
        &mut self,
        severity: CaseSeverity,
        window: Duration,
    ) -> Result<i64> {
        Ok(sqlx::query_scalar(
            "select count(*) from escalations where acknowledged_at is null and resolved_at is null and severity = $1 and level >= $3
               and raised_at + make_interval(secs => $2) <= now()",
        )
        .bind(severity)
        .bind(window.as_secs_f64())
        .bind(MAX_LEVEL)
        .fetch_one(self.conn())
        .await?)
    }

    /// Claims due notices for the duration `claim`. Notices of a case that somebody acknowledged
    /// are never due. No two schedulers hold the same notice.
    pub async fn claim_case_notices(
        &mut self,
        most: i64,
        claim: Duration,
    ) -> Result<Vec<DueNotice>> {
        Ok(sqlx::query_as(
            "update case_notices n set tries = n.tries + 1, next_at = now() + make_interval(secs => $2)
             from (select d.notice_id from case_notices d join escalations e on e.escalation_id = d.escalation_id
               where d.delivered_at is null and d.given_up_at is null and d.next_at <= now()
                 and e.acknowledged_at is null and e.resolved_at is null
               order by d.next_at limit $1 for update of d skip locked) due
             where n.notice_id = due.notice_id returning n.notice_id, n.escalation_id, n.contact_id, n.tries, n.outbound_id",
        )
        .bind(most)
        .bind(claim.as_secs_f64())
        .fetch_all(self.conn())
        .await?)
    }

    /// Puts a claimed notice off without counting a try, for example because of the contact's quiet
    /// hours.
    pub async fn put_off_notice(&mut self, due: &DueNotice, wait: Duration) -> Result<()> {
        sqlx::query(
            "update case_notices set tries = tries - 1, next_at = now() + make_interval(secs => $2) where notice_id = $1 and tries = $3",
        )
        .bind(due.notice_id)
        .bind(wait.as_secs_f64())
        .bind(due.tries)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Records the outcome of a claimed notice. Has no effect if another scheduler has renewed the
    /// claim meanwhile.
    pub async fn note_case_notice(
        &mut self,
        due: &DueNotice,
        outcome: NoticeOutcome<'_>,
    ) -> Result<()> {
        let (done, given_up, wait, error) = outcome.columns();
        sqlx::query(
            "update case_notices set delivered_at = case when $2 then now() end, given_up_at = case when $3 then now() end,
               next_at = now() + make_interval(secs => $4), last_error = coalesce($5, last_error)
             where notice_id = $1 and tries = $6 and delivered_at is null",
        )
        .bind(due.notice_id)
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

    /// Returns the case of a notice; `None` when either is gone or the contact has ended.
    pub async fn case_of_notice(&mut self, notice: Uuid) -> Result<Option<CaseNotice>> {
        Ok(sqlx::query_as(
            "select n.contact_id, e.escalation_id, e.conversation_id, e.severity, e.reason, e.subject, n.level, e.repeats, e.created_at, e.ack_due_at,
               e.respond_due_at, e.acknowledged_by, e.resolved_at, coalesce(n.delivered_at, now()) as told_at
             from case_notices n join escalations e on e.escalation_id = n.escalation_id
               join contacts c on c.contact_id = n.contact_id and c.ended_at is null
             where n.notice_id = $1",
        )
        .bind(notice)
        .fetch_optional(self.conn())
        .await?)
    }

    /// Returns the notices of these cases, in the order in which they were planned.
    pub async fn told_about(&mut self, cases: &[Uuid]) -> Result<Vec<Told>> {
        Ok(sqlx::query_as(
            "select n.escalation_id, c.name, c.channel, n.level, n.created_at, n.tries, coalesce(n.delivered_at, o.sent_at) as delivered_at, n.given_up_at, n.last_error
             from case_notices n join contacts c on c.contact_id = n.contact_id left join outbound_messages o on o.outbound_id = n.outbound_id where n.escalation_id = any($1)
             order by n.created_at, n.level, c.name limit 1000",
        )
        .bind(cases)
        .fetch_all(self.conn())
        .await?)
    }
}

//! Cases that a person has to look at. The row is the durable record. A severe case also becomes an
//! alert with the case's id, so that people are notified only once.

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::json;
use seven_domain::{
    AuditEvent, CaseSeverity, CaseSource, CasinoId, ConversationId, GuestHash, GuestId, InboundId,
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Store, Tx, audit::Entry};

/// Reason of the case that tells people that a held reply waits for them.
pub const REPLY_WAITS: &str = "reply_waits";

#[derive(Debug, Clone)]
pub struct NewEscalation<'a> {
    pub escalation_id: Uuid,
    pub conversation_id: Option<ConversationId>,
    pub guest_id: Option<GuestId>,
    pub guest: Option<&'a GuestHash>,
    pub inbound_id: Option<InboundId>,
    pub severity: CaseSeverity,
    pub source: CaseSource,
    pub reason: &'a str,
    pub pattern_id: Option<&'a str>,
    /// The id of the content row, or the category, that the case is about; empty if there is none.
    pub subject: &'a str,
    /// The fields of a booking or change that the guest asked for.
    pub detail: Option<serde_json::Value>,
    /// Seconds within which a person must acknowledge the case; `None` if it only appears in the
    /// daily digest.
    pub ack_seconds: Option<u32>,
    /// Minutes within which a person must write to the guest; `None` if it is only due with the
    /// daily digest.
    pub respond_minutes: Option<u32>,
    pub actor: &'a str,
    pub trace: Option<&'a str>,
}

#[derive(Debug, Clone, FromRow, Serialize)]
pub struct Escalation {
    pub escalation_id: Uuid,
    pub conversation_id: Option<Uuid>,
    pub guest_id: Option<Uuid>,
    pub inbound_id: Option<Uuid>,
    pub severity: CaseSeverity,
    pub source: CaseSource,
    pub reason: String,
    pub subject: String,
    pub detail: Option<serde_json::Value>,
    pub pattern_id: Option<String>,
    pub level: i32,
    pub ack_due_at: Option<DateTime<Utc>>,
    pub respond_due_at: Option<DateTime<Utc>>,
    pub repeats: i32,
    pub created_at: DateTime<Utc>,
    pub acknowledged_at: Option<DateTime<Utc>>,
    pub acknowledged_by: Option<String>,
    pub resolved_at: Option<DateTime<Utc>>,
    pub resolved_by: Option<String>,
    pub overdue: bool,
}

impl Store {
    /// Returns the casinos that have a case waiting for a person, or an open alert of this name
    /// about a case. Callers then need not visit every casino.
    pub async fn with_cases(&self, alert: &str) -> Result<Vec<CasinoId>> {
        let rows: Vec<String> = sqlx::query_scalar(
            "select casino_id from fleet_cases() union select casino_id from alerts where name = $1 and resolved_at is null",
        )
        .bind(alert)
        .fetch_all(&mut *self.fleet().await?)
        .await?;
        rows.iter()
            .map(|casino| Ok(CasinoId::trusted(casino)?))
            .collect()
    }
}

impl Tx {
    /// Opens a case; returns true if it is new. If the conversation has an open case with the same
    /// source, reason and subject, increases the `repeats` of that case instead. Each case of
    /// `compliance` is new.
    pub async fn escalate(&mut self, new: &NewEscalation<'_>) -> Result<bool> {
        let casino = self.casino_str();
        let opened = sqlx::query(
            "insert into escalations (casino_id, escalation_id, conversation_id, guest_id, inbound_id, severity, source, reason, pattern_id, ack_due_at,
               respond_due_at, subject, detail)
             select $1, $2, $3, $4, $5, $6, $7, $8, $9, now() + make_interval(secs => $10), now() + make_interval(mins => $11), $12, $13
             where not exists (
               select 1 from escalations e where e.conversation_id = $3 and e.reason = $8 and e.subject = $12 and e.source = $7 and $7 <> 'compliance' and e.resolved_at is null
                 and e.inbound_id is distinct from $5)
             on conflict do nothing",
        )
        .bind(casino)
        .bind(new.escalation_id)
        .bind(new.conversation_id.map(|c| c.0))
        .bind(new.guest_id.map(|g| g.0))
        .bind(new.inbound_id.map(|i| i.0))
        .bind(new.severity)
        .bind(new.source)
        .bind(new.reason)
        .bind(new.pattern_id)
        .bind(new.ack_seconds.map(f64::from))
        .bind(new.respond_minutes.and_then(|minutes| i32::try_from(minutes).ok()))
        .bind(new.subject)
        .bind(&new.detail)
        .execute(self.conn())
        .await?
        .rows_affected()
            == 1;
        if opened {
            self.audit(&Entry {
                event: AuditEvent::EscalationTriggered,
                actor: new.actor,
                subject: &new.escalation_id.to_string(),
                guest: new.guest,
                detail: json!({
                    "severity": new.severity,
                    "reason": new.reason,
                    "source": new.source,
                    "pattern_id": new.pattern_id,
                    "inbound_id": new.inbound_id,
                }),
                trace: new.trace,
            })
            .await?;
        } else {
            sqlx::query(
                "update escalations set repeats = repeats + 1, detail = coalesce($5, detail)
                 where conversation_id = $1 and reason = $2 and subject = $4 and resolved_at is null
                   and source <> 'compliance' and inbound_id is distinct from $3",
            )
            .bind(new.conversation_id.map(|c| c.0))
            .bind(new.reason)
            .bind(new.inbound_id.map(|i| i.0))
            .bind(new.subject)
            .bind(&new.detail)
            .execute(self.conn())
            .await?;
        }
        Ok(opened)
    }

    /// Returns cases, most severe and oldest first; `all` includes settled ones.
    pub async fn escalations(&mut self, all: bool, most: i64) -> Result<Vec<Escalation>> {
        Ok(sqlx::query_as(
            "select escalation_id, conversation_id, guest_id, inbound_id, severity, source, reason, subject, detail, pattern_id, level, ack_due_at, respond_due_at, repeats,
               created_at, acknowledged_at, acknowledged_by, resolved_at, resolved_by,
               (resolved_at is null and acknowledged_at is null and coalesce(ack_due_at < now(), false)) as overdue
             from escalations where $1 or resolved_at is null
             order by resolved_at is not null, acknowledged_at is not null, severity, created_at limit $2",
        )
        .bind(all)
        .bind(most)
        .fetch_all(self.conn())
        .await?)
    }

    /// Returns open cases of these severities for which no alert exists yet.
    pub async fn untold_cases(&mut self, severities: &[CaseSeverity]) -> Result<Vec<UntoldCase>> {
        Ok(sqlx::query_as(
            "select e.escalation_id, e.severity, e.source, e.reason, extract(epoch from e.ack_due_at - now())::float8 as ack_seconds
             from escalations e where e.acknowledged_at is null and e.resolved_at is null and e.severity = any($1)
               and not exists (select 1 from alerts a where a.alert_id = e.escalation_id)
             order by e.severity, e.created_at limit 200",
        )
        .bind(severities.iter().map(|severity| severity.as_str()).collect::<Vec<_>>())
        .fetch_all(self.conn())
        .await?)
    }

    /// Returns the open alerts of the bound casino that lag behind the state of their case.
    pub async fn moved_cases(&mut self, alert: &str) -> Result<Vec<MovedCase>> {
        let casino = self.casino_str();
        Ok(sqlx::query_as(
            "select a.key, a.alert_id, (e.resolved_at is not null or e.escalation_id is null) as settled, e.acknowledged_by
             from alerts a left join escalations e on e.escalation_id = a.alert_id
             where a.name = $1 and a.casino_id = $2 and a.resolved_at is null
               and (e.escalation_id is null or e.resolved_at is not null or (e.acknowledged_at is not null and a.acknowledged_at is null))",
        )
        .bind(alert)
        .bind(casino)
        .fetch_all(self.conn())
        .await?)
    }

    /// Marks a case as acknowledged; returns false when there is no such open case.
    pub async fn acknowledge(&mut self, escalation: Uuid, by: &str) -> Result<bool> {
        let done = sqlx::query("update escalations set acknowledged_at = now(), acknowledged_by = $2 where escalation_id = $1 and acknowledged_at is null")
            .bind(escalation)
            .bind(by)
            .execute(self.conn())
            .await?
            .rows_affected()
            == 1;
        if done {
            self.audit(&Entry {
                event: AuditEvent::EscalationAcknowledged,
                actor: by,
                subject: &escalation.to_string(),
                guest: None,
                detail: json!({}),
                trace: None,
            })
            .await?;
        }
        Ok(done)
    }

    /// Marks the conversation's open cases as acknowledged by the person who takes it over.
    pub async fn acknowledge_all_of(
        &mut self,
        conversation: ConversationId,
        by: &str,
    ) -> Result<()> {
        let cases: Vec<Uuid> = sqlx::query_scalar(
            "select escalation_id from escalations where conversation_id = $1 and acknowledged_at is null and resolved_at is null",
        )
        .bind(conversation.0)
        .fetch_all(self.conn())
        .await?;
        for case in cases {
            self.acknowledge(case, by).await?;
        }
        Ok(())
    }

    /// Settles a case on behalf of a person; returns `None` if there is no such open case. The
    /// result names the conversation to resume, if no other case keeps it paused.
    pub async fn settle_case(&mut self, escalation: Uuid, by: &str) -> Result<Option<Settled>> {
        // A transaction locks the conversation first.
        sqlx::query("select 1 from conversations c, escalations e where e.escalation_id = $1 and c.conversation_id = e.conversation_id for update of c")
            .bind(escalation)
            .execute(self.conn())
            .await?;
        let conversation: Option<Option<Uuid>> = sqlx::query_scalar(
            "update escalations set resolved_at = now(), resolved_by = $2, acknowledged_at = coalesce(acknowledged_at, now()),
               acknowledged_by = coalesce(acknowledged_by, $2)
             where escalation_id = $1 and resolved_at is null returning conversation_id",
        )
        .bind(escalation)
        .bind(by)
        .fetch_optional(self.conn())
        .await?;
        let Some(conversation) = conversation else {
            return Ok(None);
        };
        self.audit(&Entry {
            event: AuditEvent::EscalationResolved,
            actor: by,
            subject: &escalation.to_string(),
            guest: None,
            detail: json!({}),
            trace: None,
        })
        .await?;
        // Settling a case must not end a pause that an operator set.
        let free: Option<Uuid> = sqlx::query_scalar(
            "select c.conversation_id from conversations c where c.conversation_id = $1 and c.paused_at is not null and (c.paused_until is not null or c.pause_reason = 'incident')
               and not exists (select 1 from conversation_holders h where h.conversation_id = c.conversation_id)
               and not exists (select 1 from escalations e where e.conversation_id = c.conversation_id and e.resolved_at is null
                 and e.created_at >= c.paused_at)",
        )
        .bind(conversation)
        .fetch_optional(self.conn())
        .await?;
        self.resolve_incident_of(escalation, by).await?;
        Ok(Some(Settled {
            resumes: free.map(ConversationId),
        }))
    }

    /// Settles the conversation's open cases of this reason, because they are not needed any more.
    /// `by` says what ended them: a person, the guest, or a reason such as `expired`. Returns how
    /// many.
    pub async fn withdraw_cases(
        &mut self,
        conversation: ConversationId,
        reason: &str,
        by: &str,
    ) -> Result<u64> {
        let cases: Vec<Uuid> = sqlx::query_scalar(
            "update escalations set resolved_at = now(), resolved_by = $3 where conversation_id = $1 and reason = $2 and resolved_at is null
             returning escalation_id",
        )
        .bind(conversation.0)
        .bind(reason)
        .bind(by)
        .fetch_all(self.conn())
        .await?;
        for case in &cases {
            let (subject, detail) = (case.to_string(), json!({ "withdrawn_by": by }));
            self.audit(&Entry::of(
                AuditEvent::EscalationResolved,
                by,
                &subject,
                detail,
            ))
            .await?;
        }
        Ok(u64::try_from(cases.len()).unwrap_or(u64::MAX))
    }
}

/// A case for which no alert exists yet.
#[derive(Debug, Clone, FromRow)]
pub struct UntoldCase {
    pub escalation_id: Uuid,
    pub severity: CaseSeverity,
    pub source: CaseSource,
    pub reason: String,
    /// Seconds left to acknowledge it.
    pub ack_seconds: Option<f64>,
}

/// A case whose alert has to be brought up to date.
#[derive(Debug, Clone, FromRow)]
pub struct MovedCase {
    pub key: String,
    pub alert_id: Uuid,
    /// The case was settled, or deleted with its guest.
    pub settled: bool,
    pub acknowledged_by: Option<String>,
}

/// A case that a person settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settled {
    /// The conversation whose pause ends now; `None` if no pause ends.
    pub resumes: Option<ConversationId>,
}

//! Cases a person has to look at (SEC-104, SEC-113, SEC-114). Who is told, and how, comes with the notification channels; the row
//! is what cannot be missed.

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::json;
use seven_domain::{AuditEvent, ConversationId, GuestHash, GuestId, InboundId};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Tx, audit::Entry};

#[derive(Debug, Clone)]
pub struct NewEscalation<'a> {
    pub escalation_id: Uuid,
    pub conversation_id: Option<ConversationId>,
    pub guest_id: Option<GuestId>,
    pub guest: Option<&'a GuestHash>,
    pub inbound_id: Option<InboundId>,
    /// `sev0` to `sev3`.
    pub severity: &'static str,
    pub source: &'static str,
    pub reason: &'a str,
    pub pattern_id: Option<&'a str>,
    /// Seconds in which somebody must acknowledge; none: in the daily digest.
    pub ack_seconds: Option<u32>,
    pub actor: &'a str,
    pub trace: Option<&'a str>,
}

#[derive(Debug, Clone, FromRow, Serialize)]
pub struct Escalation {
    pub escalation_id: Uuid,
    pub conversation_id: Option<Uuid>,
    pub guest_id: Option<Uuid>,
    pub inbound_id: Option<Uuid>,
    pub severity: String,
    pub source: String,
    pub reason: String,
    pub pattern_id: Option<String>,
    pub level: i32,
    pub ack_due_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
    pub acknowledged_at: Option<DateTime<Utc>>,
    pub acknowledged_by: Option<String>,
    pub overdue: bool,
}

impl Tx {
    /// Opens a case; the same text and reason open one only.
    pub async fn escalate(&mut self, new: &NewEscalation<'_>) -> Result<()> {
        let casino = self.casino_str();
        let opened = sqlx::query(
            "insert into escalations (casino_id, escalation_id, conversation_id, guest_id, inbound_id, severity, source, reason, pattern_id, ack_due_at)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, now() + make_interval(secs => $10)) on conflict do nothing",
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
                detail: json!({ "severity": new.severity, "reason": new.reason, "source": new.source, "pattern_id": new.pattern_id, "inbound_id": new.inbound_id }),
                trace: new.trace,
            })
            .await?;
        }
        Ok(())
    }

    /// Cases, the most severe and oldest first; `all` includes the acknowledged ones.
    pub async fn escalations(&mut self, all: bool, most: i64) -> Result<Vec<Escalation>> {
        Ok(sqlx::query_as(
            "select escalation_id, conversation_id, guest_id, inbound_id, severity, source, reason, pattern_id, level, ack_due_at, created_at,
               acknowledged_at, acknowledged_by, (acknowledged_at is null and coalesce(ack_due_at < now(), false)) as overdue
             from escalations where $1 or acknowledged_at is null order by acknowledged_at is not null, severity, created_at limit $2",
        )
        .bind(all)
        .bind(most)
        .fetch_all(self.conn())
        .await?)
    }

    /// Somebody has it in hand; false when there is no such open case.
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
}

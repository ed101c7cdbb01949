//! The audit log: append-only for every role, phone-free, kept seven years (SEC-62 to SEC-68).

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use seven_domain::{AuditEvent, GuestHash, Severity};
use sqlx::FromRow;

use crate::{Result, Tx};

/// One entry to append. `subject` is an id, never a phone; `detail` holds no guest text (SEC-64).
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    pub event: AuditEvent,
    pub actor: &'a str,
    pub subject: &'a str,
    pub guest: Option<&'a GuestHash>,
    pub detail: Value,
    pub trace: Option<&'a str>,
}

/// An operator's query of the audit log; an unset field does not filter (SEC-141).
#[derive(Debug, Clone, Default)]
pub struct Query {
    pub event: Option<AuditEvent>,
    pub severity: Option<Severity>,
    pub guest: Option<GuestHash>,
    /// Restricts the result to `guardrail_triggered` entries of this layer.
    pub layer: Option<String>,
    pub since: Option<DateTime<Utc>>,
    pub until: Option<DateTime<Utc>>,
    /// Maximum number of entries, at most 1000 (SEC-142).
    pub limit: i64,
}

/// A stored entry.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct Row {
    pub entry: i64,
    #[sqlx(rename = "at")]
    #[serde(rename = "timestamp")]
    pub at: DateTime<Utc>,
    #[sqlx(rename = "action")]
    pub event_type: String,
    pub severity: Severity,
    pub actor: String,
    pub subject: String,
    #[serde(rename = "guest_phone_hash")]
    pub guest_hash: Option<String>,
    #[serde(rename = "event_data")]
    pub detail: Value,
    pub trace: Option<String>,
}

impl<'a> Entry<'a> {
    /// Creates an entry that concerns no guest.
    pub fn of(event: AuditEvent, actor: &'a str, subject: &'a str, detail: Value) -> Self {
        Self {
            event,
            actor,
            subject,
            guest: None,
            detail,
            trace: None,
        }
    }
}

impl Tx {
    /// Appends one entry.
    pub async fn audit(&mut self, entry: &Entry<'_>) -> Result<()> {
        let casino = self.casino_str();
        sqlx::query(
            "insert into audit_log (casino_id, actor, action, severity, subject, guest_hash, detail, trace)
             values ($1, $2, $3, $4, $5, $6, $7, $8)",
        )
        .bind(casino)
        .bind(entry.actor)
        .bind(entry.event)
        .bind(entry.event.severity().as_str())
        .bind(entry.subject)
        .bind(entry.guest.map(GuestHash::tag))
        .bind(&entry.detail)
        .bind(entry.trace)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Returns the matching entries, newest first; none older than the seven years for which they
    /// are kept (SEC-142).
    pub async fn audit_entries(&mut self, query: &Query) -> Result<Vec<Row>> {
        Ok(sqlx::query_as(
            "select entry, at, action, severity, actor, subject, guest_hash, detail, trace from audit_log
             where at > now() - interval '7 years'
               and ($1::text is null or action = $1) and ($2::text is null or severity = $2)
               and ($3::text is null or guest_hash = $3) and ($4::text is null or detail->>'layer' = $4)
               and ($5::timestamptz is null or at >= $5) and ($6::timestamptz is null or at < $6)
             order by at desc, entry desc limit least($7, 1000)",
        )
        .bind(query.event)
        .bind(query.severity)
        .bind(query.guest.map(|g| g.tag()))
        .bind(&query.layer)
        .bind(query.since)
        .bind(query.until)
        .bind(query.limit)
        .fetch_all(self.conn())
        .await?)
    }
}

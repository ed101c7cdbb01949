//! Incidents that the fleet found and contained (SEC-95..106).

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::json;
use seven_domain::{
    AuditEvent, CasinoId, Containment, ConversationId, GuestId, IncidentKind, IncidentSeverity,
    IncidentState,
};
use sqlx::{AssertSqlSafe, FromRow};
use uuid::Uuid;

use crate::{Result, Store, Tx, audit::Entry, day::least_id};

/// An incident to record, in the same transaction as the actions that contain it.
#[derive(Debug)]
pub struct NewIncident<'a> {
    pub incident_id: Uuid,
    pub kind: IncidentKind,
    /// Name of the check that found the incident.
    pub by: &'a str,
    pub conversation: ConversationId,
    pub guest: GuestId,
    /// The id of the text that shows the incident.
    pub evidence: Uuid,
    pub actions: &'a [Containment],
    /// The case that tells people about the incident.
    pub escalation_id: Uuid,
}

/// An incident that the fleet found, as the console and the commands show it.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct FoundIncident {
    pub incident_id: Uuid,
    pub kind: IncidentKind,
    pub severity: IncidentSeverity,
    pub state: IncidentState,
    pub detected_by: String,
    pub conversation_id: Option<Uuid>,
    pub guest_id: Option<Uuid>,
    pub evidence: Vec<Uuid>,
    /// Trace ids (32 hex digits) of the texts in `evidence`.
    pub traces: Vec<String>,
    pub actions: Vec<String>,
    pub escalation_id: Uuid,
    pub detected_at: DateTime<Utc>,
    pub contained_at: DateTime<Utc>,
    pub resolved_at: Option<DateTime<Utc>>,
    pub resolved_by: Option<String>,
    pub false_alarm: bool,
    pub outcome: Option<String>,
    pub report: Option<String>,
}

/// A text whose row contradicts other rows: its guest is not the guest of its conversation, its
/// turn belongs to a different conversation, or its casino does not have its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crossed {
    pub casino: CasinoId,
    pub text: Uuid,
    pub conversation: ConversationId,
}

/// A handled text, which a check for incidents reads once more.
#[derive(Debug, Clone, FromRow)]
pub struct ReadAgain {
    pub text_id: Uuid,
    pub conversation_id: Uuid,
    pub body: String,
    /// When the host wrote the reply, or when the guest's text reached us.
    pub at: DateTime<Utc>,
}

const INCIDENTS: &str = "select incident_id, kind, severity, state, detected_by, conversation_id, guest_id, evidence, actions, escalation_id,
   detected_at, contained_at, resolved_at, resolved_by, false_alarm, outcome, report,
   array(select distinct split_part(texts.trace, '-', 2) from (
     select trace from inbound_messages where inbound_id = any(evidence)
     union all select trace from outbound_messages where outbound_id = any(evidence)) texts order by 1) as traces from incidents";

impl Store {
    /// Returns the texts of all casinos whose row contradicts other rows (see [`Crossed`]). Reads
    /// outbound texts with an attempt in the last `span`, and inbound texts since `since`.
    pub async fn crossed(&self, since: DateTime<Utc>, span: Duration) -> Result<Vec<Crossed>> {
        let rows: Vec<(String, Uuid, Uuid)> = sqlx::query_as(
            "select casino_id, row_id, conversation_id from fleet_crossed(make_interval(secs => $1), $2) order by 1, 2",
        )
        .bind(span.as_secs_f64())
        .bind(least_id(since))
        .fetch_all(&mut *self.fleet().await?)
        .await?;
        rows.into_iter()
            .map(|(casino, text, conversation)| {
                Ok(Crossed {
                    casino: CasinoId::trusted(&casino)?,
                    text,
                    conversation: ConversationId(conversation),
                })
            })
            .collect()
    }
}

impl Tx {
    /// Returns whether an incident of this kind has this text among its evidence.
    pub async fn knows_evidence(
        &mut self,
        kind: IncidentKind,
        conversation: ConversationId,
        text: Uuid,
    ) -> Result<bool> {
        Ok(sqlx::query_scalar(
            "select exists (select 1 from incidents where conversation_id = $1 and kind = $2 and $3 = any(evidence))",
        )
        .bind(conversation.0)
        .bind(kind)
        .bind(text)
        .fetch_one(self.conn())
        .await?)
    }

    /// Adds a text to the open incident of this kind and conversation that was found in the last
    /// `window`. Returns false when there is none.
    pub async fn repeat_incident(
        &mut self,
        kind: IncidentKind,
        conversation: ConversationId,
        text: Uuid,
        window: Duration,
    ) -> Result<bool> {
        let done = sqlx::query(
            "update incidents set evidence = evidence || $3 where incident_id = (
               select incident_id from incidents where kind = $1 and conversation_id = $2 and resolved_at is null
                 and detected_at > now() - make_interval(secs => $4) order by detected_at desc limit 1)",
        )
        .bind(kind)
        .bind(conversation.0)
        .bind(text)
        .bind(window.as_secs_f64())
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Records an incident that was contained. It starts in the state `mitigating`, because code
    /// has already triaged it.
    pub async fn add_incident(&mut self, new: &NewIncident<'_>) -> Result<()> {
        let casino = self.casino_str();
        let actions: Vec<&str> = new.actions.iter().map(|one| one.as_str()).collect();
        sqlx::query(
            "insert into incidents (casino_id, incident_id, kind, severity, state, detected_by, conversation_id, guest_id, evidence, actions, escalation_id)
             values ($1, $2, $3, $4, $5, $6, $7, $8, array[$9::uuid], $10, $11)",
        )
        .bind(casino)
        .bind(new.incident_id)
        .bind(new.kind)
        .bind(new.kind.severity())
        .bind(IncidentState::Mitigating)
        .bind(new.by)
        .bind(new.conversation.0)
        .bind(new.guest.0)
        .bind(new.evidence)
        .bind(&actions)
        .bind(new.escalation_id)
        .execute(self.conn())
        .await?;
        let detail = json!({
            "kind": new.kind, "severity": new.kind.severity(), "state": IncidentState::Mitigating,
            "actions": actions, "escalation_id": new.escalation_id,
        });
        self.note_found(new.incident_id, new.by, detail).await
    }

    async fn note_found(
        &mut self,
        incident: Uuid,
        by: &str,
        detail: serde_json::Value,
    ) -> Result<()> {
        let subject = incident.to_string();
        self.audit(&Entry::of(
            AuditEvent::IncidentChanged,
            by,
            &subject,
            detail,
        ))
        .await
    }

    /// Returns at most `most` incidents: open ones first, then the newest. Settled incidents are
    /// included only if `all` is true.
    pub async fn found_incidents(&mut self, all: bool, most: i64) -> Result<Vec<FoundIncident>> {
        let query = format!(
            "{INCIDENTS} where $1 or resolved_at is null order by resolved_at is not null, detected_at desc limit $2"
        );
        Ok(sqlx::query_as(AssertSqlSafe(query))
            .bind(all)
            .bind(most)
            .fetch_all(self.conn())
            .await?)
    }

    /// Returns the incident with this id; `None` if the bound casino has none.
    pub async fn found_incident(&mut self, incident: Uuid) -> Result<Option<FoundIncident>> {
        let query = format!("{INCIDENTS} where incident_id = $1");
        Ok(sqlx::query_as(AssertSqlSafe(query))
            .bind(incident)
            .fetch_optional(self.conn())
            .await?)
    }

    /// Records on behalf of a person how an incident was settled; `false_alarm` says that nothing
    /// was wrong. The caller must have checked that the incident's state allows this.
    pub async fn resolve_incident(
        &mut self,
        incident: Uuid,
        by: &str,
        outcome: &str,
        false_alarm: bool,
    ) -> Result<()> {
        sqlx::query(
            "update incidents set state = $2, resolved_at = now(), resolved_by = $3, outcome = nullif($4, ''), false_alarm = $5
             where incident_id = $1",
        )
        .bind(incident)
        .bind(IncidentState::Resolved)
        .bind(by)
        .bind(outcome)
        .bind(false_alarm)
        .execute(self.conn())
        .await?;
        let detail = json!({
            "state": IncidentState::Resolved, "outcome": outcome, "false_alarm": false_alarm,
        });
        self.note_found(incident, by, detail).await
    }

    /// Records the report about a settled incident's cause (SEC-97).
    pub async fn report_incident(&mut self, incident: Uuid, by: &str, report: &str) -> Result<()> {
        sqlx::query("update incidents set state = $2, report = $3 where incident_id = $1")
            .bind(incident)
            .bind(IncidentState::Postmortem)
            .bind(report)
            .execute(self.conn())
            .await?;
        let detail = json!({ "state": IncidentState::Postmortem, "report": report });
        self.note_found(incident, by, detail).await
    }

    /// Settles the incident that belongs to this settled case, if the incident is open.
    pub(crate) async fn resolve_incident_of(&mut self, escalation: Uuid, by: &str) -> Result<()> {
        let open: Option<Uuid> = sqlx::query_scalar(
            "select incident_id from incidents where escalation_id = $1 and resolved_at is null",
        )
        .bind(escalation)
        .fetch_optional(self.conn())
        .await?;
        match open {
            Some(incident) => self.resolve_incident(incident, by, "", false).await,
            None => Ok(()),
        }
    }

    /// Returns the host's texts that were sent from `since` to `until`. Leaves out turns made
    /// before the newest change of content or less than `margin` after it. The content on which
    /// their replies are based may be gone.
    pub async fn sent_replies(
        &mut self,
        since: DateTime<Utc>,
        until: DateTime<Utc>,
        margin: Duration,
    ) -> Result<Vec<ReadAgain>> {
        Ok(sqlx::query_as(
            "select distinct o.outbound_id as text_id, o.conversation_id, o.body, t.created_at as at
             from send_attempts a join outbound_messages o on o.outbound_id = a.outbound_id join turns t on t.turn_id = o.turn_id
             where a.started_at >= $1 and a.started_at < $2
               and t.created_at > coalesce((select content_changed_at from casinos), '-infinity') + make_interval(secs => $3)",
        )
        .bind(since)
        .bind(until)
        .bind(margin.as_secs_f64())
        .fetch_all(self.conn())
        .await?)
    }

    /// Returns the texts of guests from `since` to `until` in which the gate found nothing.
    pub async fn passed_texts(
        &mut self,
        since: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Vec<ReadAgain>> {
        Ok(sqlx::query_as(
            "select inbound_id as text_id, conversation_id, body, received_at as at from inbound_messages
             where inbound_id >= $1 and inbound_id < $2 and verdict = 'pass' and coalesce(reason, '') not in ('reaction', 'machine', 'not_a_guest', 'repeated') order by inbound_id",
        )
        .bind(least_id(since))
        .bind(least_id(until))
        .fetch_all(self.conn())
        .await?)
    }
}

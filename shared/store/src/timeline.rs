//! The timeline of a guest, a text or a trace over all stages: the rows behind `seven why` and
//! `seven message`.

use chrono::{DateTime, Utc};
use seven_domain::{
    AttemptOutcome, Disposition, GuestId, MessageClass, OutboundId, OutboundState, TurnState,
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Tx};

#[derive(Debug, Clone, FromRow, serde::Serialize)]
pub struct InboundLine {
    pub inbound_id: Uuid,
    pub body: String,
    pub verdict: String,
    pub pattern_id: Option<String>,
    pub disposition: Disposition,
    pub disposition_ref: Option<Uuid>,
    pub reason: Option<String>,
    pub tries: i32,
    pub last_error: Option<String>,
    pub sweeps: i32,
    pub received_at: DateTime<Utc>,
    pub stored_at: DateTime<Utc>,
    pub closed_at: Option<DateTime<Utc>>,
    pub trace: String,
}

#[derive(Debug, Clone, FromRow, serde::Serialize)]
pub struct TurnLine {
    pub turn_id: Uuid,
    pub agent: String,
    pub model: String,
    pub intent: String,
    pub sources: serde_json::Value,
    pub grounded: bool,
    pub state: TurnState,
    pub reason: Option<String>,
    pub created_at: DateTime<Utc>,
    pub trace: String,
}

#[derive(Debug, Clone, FromRow, serde::Serialize)]
pub struct OutboundLine {
    pub outbound_id: Uuid,
    pub turn_id: Option<Uuid>,
    pub inbound_id: Option<Uuid>,
    pub part: i32,
    pub parts: i32,
    pub kind: String,
    pub class: MessageClass,
    pub body: String,
    pub encoding: String,
    pub segments: i32,
    pub agent: String,
    pub state: OutboundState,
    pub reason: Option<String>,
    pub error_code: Option<String>,
    pub tries: i32,
    pub created_at: DateTime<Utc>,
    pub not_before: DateTime<Utc>,
    pub sent_at: Option<DateTime<Utc>>,
    pub ended_at: Option<DateTime<Utc>>,
    pub trace: String,
    pub campaign_id: Option<Uuid>,
    /// How likely carriers were to filter the text when it was sent, from 0 to 1 (SMS-35). Answers
    /// have no such score.
    pub risk_score_at_send: Option<f64>,
}

#[derive(Debug, Clone, FromRow, serde::Serialize)]
pub struct AttemptLine {
    pub attempt_id: Uuid,
    pub outbound_id: Uuid,
    pub provider: String,
    pub outcome: AttemptOutcome,
    pub http_status: Option<i32>,
    pub error_code: Option<String>,
    pub detail: Option<String>,
    pub started_at: DateTime<Utc>,
    pub finished_at: Option<DateTime<Utc>>,
}

#[derive(Debug, Clone, FromRow, serde::Serialize)]
pub struct ReceiptLine {
    pub outbound_id: Option<Uuid>,
    pub status: String,
    pub error_code: Option<String>,
    pub occurred_at: DateTime<Utc>,
    pub received_at: DateTime<Utc>,
}

/// The guest, text or trace whose timeline is read.
#[derive(Debug, Clone)]
pub enum Subject {
    Guest(GuestId),
    /// Id of an inbound text, a turn or an outbound text.
    Text(Uuid),
    /// Trace id, 32 hex digits.
    Trace(String),
}

#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct Timeline {
    pub inbound: Vec<InboundLine>,
    pub turns: Vec<TurnLine>,
    pub outbound: Vec<OutboundLine>,
    pub attempts: Vec<AttemptLine>,
    pub receipts: Vec<ReceiptLine>,
}

const OUTBOUND: &str = "select outbound_id, turn_id, inbound_id, part, parts, kind, class, body, encoding, segments, agent, state, reason, error_code, tries,
   created_at, not_before, sent_at, ended_at, trace, campaign_id, risk_score_at_send from outbound_messages
 where ($1::uuid is null or guest_id = $1) and ($2::text is null or trace like '%' || $2 || '%')
   and ($3::text is null or state = $3) order by created_at desc, seq desc limit $4";

/// The query for the [`InboundLine`]s that meet the condition `$where`. It is a macro because a
/// statement must be a string literal.
macro_rules! inbound_lines {
    ($where:literal) => {
        concat!(
            "select inbound_id, body, verdict, pattern_id, disposition, disposition_ref, reason, tries, last_error, sweeps, received_at,
               stored_at, closed_at, trace from inbound_messages where ",
            $where
        )
    };
}

/// The query for the [`TurnLine`]s that meet the condition `$where`.
macro_rules! turn_lines {
    ($where:literal) => {
        concat!(
            "select turn_id, agent, model, intent, sources, grounded, state, reason, created_at, trace from turns where ",
            $where
        )
    };
}

impl Tx {
    /// Returns the rows about the subject, each list oldest first. Reads only the newest `most`
    /// inbound texts, the newest `most` turns, and the newest `most` outbound texts.
    pub async fn timeline(&mut self, subject: &Subject, most: i64) -> Result<Timeline> {
        let (guest, trace) = match subject {
            Subject::Guest(guest) => (Some(guest.0), None),
            Subject::Trace(trace) => (None, Some(trace.clone())),
            Subject::Text(id) => match self.trace_of(*id).await? {
                Some(trace) => (None, Some(trace)),
                None => return Ok(Timeline::default()),
            },
        };
        let mut inbound: Vec<InboundLine> = sqlx::query_as(inbound_lines!(
            "($1::uuid is null or guest_id = $1) and ($2::text is null or trace like '%' || $2 || '%') order by arrival desc limit $3"
        ))
        .bind(guest)
        .bind(&trace)
        .bind(most)
        .fetch_all(self.conn())
        .await?;
        let mut turns: Vec<TurnLine> = sqlx::query_as(
            turn_lines!("($1::uuid is null or guest_id = $1) and ($2::text is null or trace like '%' || $2 || '%') order by created_at desc limit $3"),
        )
        .bind(guest)
        .bind(&trace)
        .bind(most)
        .fetch_all(self.conn())
        .await?;
        let mut outbound: Vec<OutboundLine> = sqlx::query_as(OUTBOUND)
            .bind(guest)
            .bind(&trace)
            .bind(None::<String>)
            .bind(most)
            .fetch_all(self.conn())
            .await?;
        inbound.reverse();
        turns.reverse();
        outbound.reverse();
        let ids: Vec<Uuid> = outbound.iter().map(|o| o.outbound_id).collect();
        let (attempts, receipts) = self.sends(&ids).await?;
        Ok(Timeline {
            inbound,
            turns,
            outbound,
            attempts,
            receipts,
        })
    }

    /// Returns one outbound text.
    pub async fn outbound_line(&mut self, id: OutboundId) -> Result<Option<OutboundLine>> {
        Ok(sqlx::query_as(
            "select outbound_id, turn_id, inbound_id, part, parts, kind, class, body, encoding, segments, agent, state, reason, error_code, tries,
               created_at, not_before, sent_at, ended_at, trace, campaign_id, risk_score_at_send from outbound_messages where outbound_id = $1",
        )
        .bind(id.0)
        .fetch_optional(self.conn())
        .await?)
    }

    /// Returns the newest outbound texts, optionally only those in `state`.
    pub async fn outbound_list(
        &mut self,
        state: Option<OutboundState>,
        most: i64,
    ) -> Result<Vec<OutboundLine>> {
        Ok(sqlx::query_as(OUTBOUND)
            .bind(None::<Uuid>)
            .bind(None::<String>)
            .bind(state)
            .bind(most)
            .fetch_all(self.conn())
            .await?)
    }

    /// Returns attempts and receipts of these texts, oldest first.
    pub async fn sends(
        &mut self,
        outbound: &[Uuid],
    ) -> Result<(Vec<AttemptLine>, Vec<ReceiptLine>)> {
        let attempts = sqlx::query_as(
            "select attempt_id, outbound_id, provider, outcome, http_status, error_code, detail, started_at, finished_at
             from send_attempts where outbound_id = any($1) order by started_at",
        )
        .bind(outbound)
        .fetch_all(self.conn())
        .await?;
        let receipts = sqlx::query_as(
            "select outbound_id, status, error_code, occurred_at, received_at \
             from receipts where outbound_id = any($1) order by received_at",
        )
        .bind(outbound)
        .fetch_all(self.conn())
        .await?;
        Ok((attempts, receipts))
    }

    /// Returns the outbound text of an attempt, its turn, and the guest's text that it answers.
    /// With these, the handset and scripts show the reply's agent and sources.
    pub async fn explain_attempt(
        &mut self,
        attempt: Uuid,
    ) -> Result<Option<(OutboundLine, Option<TurnLine>, Option<InboundLine>)>> {
        let outbound: Option<Uuid> =
            sqlx::query_scalar("select outbound_id from send_attempts where attempt_id = $1")
                .bind(attempt)
                .fetch_optional(self.conn())
                .await?;
        let Some(outbound) = outbound else {
            return Ok(None);
        };
        let Some(line) = self.outbound_line(OutboundId(outbound)).await? else {
            return Ok(None);
        };
        let turn = sqlx::query_as(turn_lines!("turn_id = $1"))
            .bind(line.turn_id)
            .fetch_optional(self.conn())
            .await?;
        let inbound = sqlx::query_as(inbound_lines!("inbound_id = coalesce($1, $2)"))
            .bind(line.inbound_id)
            .bind(line.turn_id)
            .fetch_optional(self.conn())
            .await?;
        Ok(Some((line, turn, inbound)))
    }

    async fn trace_of(&mut self, id: Uuid) -> Result<Option<String>> {
        let trace: Option<String> = sqlx::query_scalar(
            "select trace from inbound_messages where inbound_id = $1 union all select trace from outbound_messages where outbound_id = $1 limit 1",
        )
        .bind(id)
        .fetch_optional(self.conn())
        .await?;
        Ok(trace.map(|t| t.split('-').nth(1).unwrap_or(&t).to_owned()))
    }
}

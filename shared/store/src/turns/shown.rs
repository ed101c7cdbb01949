//! A finished turn with everything that led to it, for `seven turn show` (AGENT-7, AGENT-75).

use chrono::{DateTime, Utc};
use serde::Serialize;
use seven_domain::{DisclosureKind, Language, MessageClass, TurnState};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Tx};

#[derive(Debug, Clone, FromRow, Serialize)]
pub struct ShownTurn {
    pub turn_id: Uuid,
    pub agent: String,
    pub model: String,
    pub intent: String,
    pub language: Language,
    pub verdict: String,
    pub draft: String,
    pub disclosure_kind: Option<DisclosureKind>,
    pub grounded: bool,
    pub class: MessageClass,
    pub state: TurnState,
    pub reason: Option<String>,
    pub tries: i32,
    pub last_error: Option<String>,
    pub created_at: DateTime<Utc>,
    pub trace: String,
    pub record: serde_json::Value,
    /// The guest's texts that the turn answers, oldest first: id and text.
    pub texts: serde_json::Value,
    /// Outbound texts of the turn: id, state, segments.
    pub sent: serde_json::Value,
}

impl Tx {
    /// Returns the turn; `None` when the casino has no such turn.
    pub async fn shown_turn(&mut self, turn: Uuid) -> Result<Option<ShownTurn>> {
        Ok(sqlx::query_as(
            "select turn_id, agent, model, intent, language, verdict, draft, disclosure_kind, grounded, class, state, reason, tries, last_error,
               created_at, trace, record,
               coalesce((select jsonb_agg(jsonb_build_object('id', i.inbound_id, 'text', i.body) order by i.arrival)
                 from inbound_messages i where i.conversation_id = t.conversation_id and i.disposition_ref = t.turn_id), '[]') as texts,
               coalesce((select jsonb_agg(jsonb_build_object('id', o.outbound_id, 'state', o.state, 'segments', o.segments) order by o.part)
                 from outbound_messages o where o.turn_id = t.turn_id), '[]') as sent
             from turns t where turn_id = $1",
        )
        .bind(turn)
        .fetch_optional(self.conn())
        .await?)
    }

    /// Returns the newest turns: time, id, agent, intent and state.
    pub async fn newest_turns(&mut self, most: i64) -> Result<Vec<TurnSummary>> {
        Ok(sqlx::query_as(
            "select created_at, turn_id, agent, model, intent, grounded, state,
               coalesce(jsonb_array_length(record->'findings'), 0) as findings from turns order by created_at desc limit $1",
        )
        .bind(most)
        .fetch_all(self.conn())
        .await?)
    }
}

#[derive(Debug, Clone, FromRow, Serialize)]
pub struct TurnSummary {
    pub created_at: DateTime<Utc>,
    pub turn_id: Uuid,
    pub agent: String,
    pub model: String,
    pub intent: String,
    pub grounded: bool,
    pub state: TurnState,
    pub findings: i32,
}

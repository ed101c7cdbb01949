//! Usage of a casino between two times: tokens, segments, conversations. The usage is counted from
//! the rows themselves, so neither sampling nor a restart loses any of it (C-28).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use seven_domain::ConversationId;
use sqlx::FromRow;

use crate::{Result, Tx};

/// Usage counts; prices are applied elsewhere.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, FromRow, Serialize)]
pub struct Used {
    pub turns: i64,
    pub conversations: i64,
    pub input_tokens: i64,
    pub output_tokens: i64,
    /// Cost in billionths of a dollar, each call at the prices on its day.
    pub model_nano_usd: i64,
    pub segments_out: i64,
    /// Segments of guests' texts, estimated from their length as if all were GSM-7.
    pub segments_in: i64,
}

/// The calls of hosted models that all turns together made for one kind of step (OBS-41).
#[derive(Debug, Clone, PartialEq, Eq, FromRow, Serialize, Deserialize)]
pub struct UsedByStep {
    pub step: String,
    pub calls: i64,
    pub input_tokens: i64,
    pub output_tokens: i64,
    /// Cost in billionths of a dollar, each call at the prices on its day.
    pub nano_usd: i64,
}

/// Cost of hosted models for guests of the website in the last 24 hours, in billionths of a dollar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, FromRow)]
pub struct WebSpent {
    pub visitor: i64,
    pub casino: i64,
}

impl Tx {
    /// Returns the cost for the visitor of this conversation and for all visitors of the casino.
    pub async fn web_spent(&mut self, conversation: ConversationId) -> Result<WebSpent> {
        Ok(sqlx::query_as(
            "select coalesce(sum(nano) filter (where turn.conversation_id = $1), 0)::bigint as visitor,
               coalesce(sum(nano), 0)::bigint as casino
             from conversations talk join turns turn on turn.conversation_id = talk.conversation_id,
               lateral (select (turn.record->'usage'->>'nano_dollars')::bigint as nano) cost
             where talk.channel = 'web' and talk.last_inbound_at > now() - interval '1 day'
               and turn.created_at > now() - interval '1 day'",
        )
        .bind(conversation.0)
        .fetch_one(self.conn())
        .await?)
    }

    /// Returns the model usage of the bound casino by step, for turns made at or after `from` and
    /// before `to`.
    pub async fn used_by_step(
        &mut self,
        from: DateTime<Utc>,
        to: DateTime<Utc>,
    ) -> Result<Vec<UsedByStep>> {
        Ok(sqlx::query_as(
            "select step->>'name' as step, count(*) as calls,
                    coalesce(sum((step->'usage'->>'input_tokens')::bigint), 0)::bigint as input_tokens,
                    coalesce(sum((step->'usage'->>'output_tokens')::bigint), 0)::bigint as output_tokens,
                    coalesce(sum((step->'usage'->>'nano_dollars')::bigint), 0)::bigint as nano_usd
             from turns, jsonb_array_elements(record->'steps') as step
             where created_at >= $1 and created_at < $2 and step ? 'usage' group by 1",
        )
        .bind(from)
        .bind(to)
        .fetch_all(self.conn())
        .await?)
    }

    /// Returns the usage of the bound casino at or after `from` and before `to`.
    pub async fn used(&mut self, from: DateTime<Utc>, to: DateTime<Utc>) -> Result<Used> {
        Ok(sqlx::query_as(include_str!("../sql/used.sql"))
            .bind(from)
            .bind(to)
            .fetch_one(self.conn())
            .await?)
    }
}

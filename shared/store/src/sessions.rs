//! Sessions (DATA-25, SMS-26): opened with a guest's text, written with each turn. What they hold is `seven-guest`'s to read.

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;
use seven_domain::ConversationId;
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Tx, pauses::Paused};

/// A session as its row stands. `phase`, `summary` and `counts` are read together with the rest by `seven_guest::Session`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct SessionRow {
    pub session_id: Uuid,
    /// The whole row, as JSON.
    #[serde(flatten)]
    pub rest: Value,
}

/// Where a conversation stands when a turn begins.
#[derive(Debug, Clone, Default)]
pub struct Place {
    /// The session under way; none for a conversation from before there were any.
    pub session: Option<SessionRow>,
    /// The newest earlier one in which the host spoke.
    pub before: Option<SessionRow>,
    pub paused: Option<Paused>,
    /// Cases of the last seven days: all of them, and those a person has not settled.
    pub recent_cases: i64,
    pub open_cases: i64,
}

#[derive(FromRow)]
struct Row {
    session: Option<Value>,
    before: Option<Value>,
    paused_at: Option<DateTime<Utc>>,
    paused_until: Option<DateTime<Utc>>,
    pause_reason: Option<String>,
    pause_held: bool,
    pause_over: bool,
    recent_cases: i64,
    open_cases: i64,
}

const PLACE: &str = "
select to_jsonb(s) as session, to_jsonb(b) as before, c.paused_at, c.paused_until, c.pause_reason, c.pause_held,
  coalesce(c.paused_until <= now(), false) as pause_over, coalesce(e.recent, 0) as recent_cases, coalesce(e.unsettled, 0) as open_cases
from conversations c
left join sessions s on s.conversation_id = c.conversation_id and s.started_at = c.session_started_at
left join lateral (
  select p.* from sessions p where p.conversation_id = c.conversation_id and p.started_at < c.session_started_at and p.turns > 0
  order by p.started_at desc limit 1) b on true
left join lateral (
  select count(*) as recent, count(*) filter (where x.resolved_at is null and x.severity <> 'sev3') as unsettled
  from escalations x where x.conversation_id = c.conversation_id and x.created_at > now() - interval '7 days') e on true
where c.conversation_id = $1";

impl Tx {
    /// Everything a turn needs to know of its session, in one query.
    pub async fn place(&mut self, conversation: ConversationId) -> Result<Place> {
        let row: Option<Row> = sqlx::query_as(PLACE).bind(conversation.0).fetch_optional(self.conn()).await?;
        let Some(row) = row else { return Ok(Place::default()) };
        let read = |json: Option<Value>| json.and_then(|json| serde_json::from_value(json).ok());
        let paused = row.paused_at.filter(|_| !row.pause_over).map(|since| Paused {
            since,
            until: row.paused_until,
            reason: row.pause_reason.unwrap_or_default(),
            held: row.pause_held,
        });
        Ok(Place {
            session: read(row.session),
            before: read(row.before),
            paused,
            recent_cases: row.recent_cases,
            open_cases: row.open_cases,
        })
    }

    /// Writes what a turn made of its session. The conversation's lock is held.
    pub async fn write_session(
        &mut self,
        session: Uuid,
        phase: &str,
        turns: u32,
        summary: &Value,
        counts: &Value,
    ) -> Result<()> {
        sqlx::query("update sessions set phase = $2, turns = $3, summary = $4, counts = $5 where session_id = $1")
            .bind(session)
            .bind(phase)
            .bind(i32::try_from(turns).unwrap_or(i32::MAX))
            .bind(summary)
            .bind(counts)
            .execute(self.conn())
            .await?;
        Ok(())
    }
}

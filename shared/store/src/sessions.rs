//! Sessions (DATA-25, SMS-26): opened by a guest's text, updated with each turn. `seven-guest`
//! interprets their contents.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;
use seven_domain::ConversationId;
use sqlx::{FromRow, types::Json};
use uuid::Uuid;

use crate::{
    Result, Tx,
    inbound::{OpenText, open_texts},
    pauses::Paused,
};

/// A session as stored. `seven_guest::Session` parses `phase`, `summary` and `counts` together with
/// the rest.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct SessionRow {
    pub session_id: Uuid,
    /// The whole row, as JSON.
    #[serde(flatten)]
    pub rest: Value,
}

/// A session after a turn was added.
#[derive(Debug, Clone)]
pub struct SessionAfter {
    pub session_id: Uuid,
    pub phase: &'static str,
    pub turns: u32,
    pub summary: Value,
    pub counts: Value,
}

/// The state of a conversation when a turn begins.
#[derive(Debug, Clone, Default)]
pub struct ConversationState {
    /// The current session; `None` for a conversation older than sessions.
    pub session: Option<SessionRow>,
    /// The newest earlier session in which the host answered.
    pub before: Option<SessionRow>,
    pub paused: Option<Paused>,
    /// Cases of the last seven days: all of them, and those that no person has settled.
    pub recent_cases: i64,
    pub open_cases: i64,
    /// The guest's profile; `None` if nothing was learnt about the guest yet. The lease's lock
    /// serialises readers that will write it.
    pub profile: Option<Value>,
    /// The newest exchanges, oldest first: (guest's text, our text).
    pub exchanges: Vec<(String, String)>,
    /// Texts that wait for an answer and are still useful, in the order in which the guest wrote
    /// them.
    pub open: Vec<OpenText>,
}

/// Limits on the part of a conversation that a turn sees.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// Open texts older than this are closed as stale and listed for operators.
    pub useful: Duration,
    /// Maximum number of exchanges.
    pub most: usize,
    /// Verdicts of texts that were answered without a turn but still belong to the exchanges.
    pub canned: &'a [&'a str],
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
    profile: Option<Value>,
    exchanges: Option<Json<Vec<(String, String)>>>,
    open: Json<Vec<OpenText>>,
}

const PLACE: &str = concat!(
    "
with stale as (
  update inbound_messages set disposition = 'closed', reason = 'stale', closed_at = now()
  where conversation_id = $1 and disposition = 'open' and coalesce(released_at, stored_at) < now() - make_interval(secs => $4)
  returning inbound_id)
select to_jsonb(s) as session, to_jsonb(b) as before, c.paused_at, c.paused_until, c.pause_reason, c.pause_held,
  coalesce(c.paused_until <= now(), false) as pause_over, coalesce(e.recent, 0) as recent_cases, coalesce(e.unsettled, 0) as open_cases,
  g.document as profile, h.exchanges, coalesce((select jsonb_agg(to_jsonb(o)) from (",
    open_texts!(),
    " and inbound_id not in (select inbound_id from stale) order by occurred_at, arrival) o), '[]') as open
from conversations c
left join profiles g on g.guest_id = c.guest_id
left join sessions s on s.conversation_id = c.conversation_id and s.started_at = c.session_started_at
left join lateral (
  select p.* from sessions p where p.conversation_id = c.conversation_id and p.started_at < c.session_started_at and p.turns > 0
  order by p.started_at desc limit 1) b on true
left join lateral (
  select count(*) as recent, count(*) filter (where x.resolved_at is null and x.severity <> 'sev3') as unsettled
  from escalations x where x.conversation_id = c.conversation_id and x.created_at > now() - interval '7 days') e on true
left join lateral (
  select jsonb_agg(jsonb_build_array(x.guest, x.host) order by x.at) as exchanges from (
    (select coalesce((select string_agg(i.body, ' ' order by i.occurred_at, i.arrival) from inbound_messages i
                      where i.conversation_id = t.conversation_id and i.disposition = 'answered' and i.disposition_ref = t.turn_id), '') as guest,
       t.draft as host, t.created_at as at
     from turns t where t.conversation_id = c.conversation_id and t.state in ('drafted', 'shaped') order by t.created_at desc limit $3)
    union all
    (select i.body, o.body, i.stored_at from inbound_messages i
       join outbound_messages o on o.casino_id = i.casino_id and o.inbound_id = i.inbound_id and o.part = 1
     where i.conversation_id = c.conversation_id and i.disposition = 'canned' and i.verdict = any($2) order by i.arrival desc limit $3)
    union all
    -- What a person wrote in a takeover, with what it answered.
    (select coalesce((select string_agg(i.body, ' ' order by i.occurred_at, i.arrival) from inbound_messages i
                      where i.conversation_id = o.conversation_id and i.disposition = 'canned' and i.disposition_ref = o.outbound_id), ''),
       o.body, o.created_at
     from outbound_messages o where o.conversation_id = c.conversation_id and o.kind = 'person' and o.state in ('sending', 'sent', 'delivered', 'unknown')
     order by o.created_at desc limit $3)
    order by at desc limit $3) x) h on true
where c.conversation_id = $1"
);

impl Tx {
    /// Returns the conversation's state for a turn, in one query. If the lease's lock on the
    /// conversation was taken before, the list of open texts is complete and final.
    pub async fn place(&mut self, conversation: ConversationId, shown: Shown<'_>) -> Result<ConversationState> {
        let row: Option<Row> = sqlx::query_as(PLACE)
            .bind(conversation.0)
            .bind(shown.canned)
            .bind(i64::try_from(shown.most).unwrap_or(i64::MAX))
            .bind(shown.useful.as_secs_f64())
            .fetch_optional(self.conn())
            .await?;
        let Some(row) = row else { return Ok(ConversationState::default()) };
        let read = |json: Option<Value>| json.and_then(|json| serde_json::from_value(json).ok());
        let paused = row.paused_at.filter(|_| !row.pause_over).map(|since| Paused {
            since,
            until: row.paused_until,
            reason: row.pause_reason.unwrap_or_default(),
            held: row.pause_held,
        });
        Ok(ConversationState {
            session: read(row.session),
            before: read(row.before),
            paused,
            recent_cases: row.recent_cases,
            open_cases: row.open_cases,
            profile: row.profile,
            exchanges: row.exchanges.map(|Json(exchanges)| exchanges).unwrap_or_default(),
            open: row.open.0,
        })
    }
}

//! A conversation as `seven conversation show` prints it.

use chrono::{DateTime, Utc};
use seven_domain::ConversationId;
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Tx};

#[derive(Debug, Clone, FromRow, serde::Serialize)]
pub struct ShownConversation {
    pub conversation_id: Uuid,
    pub guest_id: Uuid,
    pub channel: String,
    pub language: Option<String>,
    pub status: String,
    pub consent_tier: String,
    pub last_inbound_at: Option<DateTime<Utc>>,
    pub paused: bool,
    pub paused_at: Option<DateTime<Utc>>,
    pub paused_until: Option<DateTime<Utc>>,
    pub pause_reason: Option<String>,
    pub open_texts: i64,
    pub held_texts: i64,
    pub sessions: i64,
    /// The current session: id, started_at, last_at, phase, turns, about.
    pub session: Option<serde_json::Value>,
    /// Unsettled cases, most severe first: id, severity, reason, due times, who acknowledged them.
    pub cases: serde_json::Value,
    /// The guest's profile document; null when there is none.
    pub profile: Option<serde_json::Value>,
}

const SHOWN: &str = "
select c.conversation_id, c.guest_id, c.channel, g.language, g.status, g.consent_tier, c.last_inbound_at,
  c.paused_at is not null and coalesce(c.paused_until > now(), true) as paused, c.paused_at, c.paused_until, c.pause_reason,
  (select count(*) from inbound_messages i where i.conversation_id = c.conversation_id and i.disposition = 'open') as open_texts,
  (select count(*) from inbound_messages i where i.conversation_id = c.conversation_id and i.disposition = 'held') as held_texts,
  (select count(*) from sessions s where s.conversation_id = c.conversation_id) as sessions,
  (select jsonb_build_object('session_id', s.session_id, 'started_at', s.started_at, 'last_at', s.last_at, 'phase', s.phase, 'turns', s.turns,
     'about', coalesce((select jsonb_agg(x->>'name') from jsonb_array_elements(s.summary->'subjects') x), '[]'))
   from sessions s where s.conversation_id = c.conversation_id and s.started_at = c.session_started_at) as session,
  coalesce((select jsonb_agg(jsonb_build_object('escalation_id', e.escalation_id, 'severity', e.severity, 'reason', e.reason, 'created_at', e.created_at,
     'ack_due_at', e.ack_due_at, 'respond_due_at', e.respond_due_at, 'repeats', e.repeats, 'acknowledged_by', e.acknowledged_by)
     order by e.severity, e.created_at) from escalations e where e.conversation_id = c.conversation_id and e.resolved_at is null), '[]') as cases,
  (select p.document from profiles p where p.guest_id = c.guest_id) as profile
from conversations c join guests g on g.guest_id = c.guest_id where c.conversation_id = $1";

impl Tx {
    /// Returns the conversation; `None` when the casino has no such conversation.
    pub async fn shown_conversation(&mut self, conversation: ConversationId) -> Result<Option<ShownConversation>> {
        Ok(sqlx::query_as(SHOWN).bind(conversation.0).fetch_optional(self.conn()).await?)
    }
}

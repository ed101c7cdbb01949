//! A conversation as `seven conversation show` prints it.

use chrono::{DateTime, Utc};
use seven_domain::{Channel, ConsentTier, ConversationId, GuestStatus};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Tx};

#[derive(Debug, Clone, FromRow, serde::Serialize)]
pub struct ShownConversation {
    pub conversation_id: Uuid,
    pub guest_id: Uuid,
    pub channel: Channel,
    pub language: Option<String>,
    pub status: GuestStatus,
    pub consent_tier: ConsentTier,
    pub last_inbound_at: Option<DateTime<Utc>>,
    pub paused: bool,
    pub paused_at: Option<DateTime<Utc>>,
    pub paused_until: Option<DateTime<Utc>>,
    pub pause_reason: Option<String>,
    /// The person who took the conversation over.
    pub taken_by: Option<String>,
    /// The number of the ticket that waits for a person.
    pub ticket: Option<i64>,
    /// The last four digits of the guest's phone.
    #[serde(skip)]
    pub last_four: Option<String>,
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

const SHOWN: &str = include_str!("../../sql/shown_conversation.sql");

impl Tx {
    /// Returns the conversation; `None` when the casino has no such conversation.
    pub async fn shown_conversation(
        &mut self,
        conversation: ConversationId,
    ) -> Result<Option<ShownConversation>> {
        Ok(sqlx::query_as(SHOWN)
            .bind(conversation.0)
            .fetch_optional(self.conn())
            .await?)
    }
}

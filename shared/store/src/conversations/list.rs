//! Conversations as `seven conversation list` prints them, and the texts of one conversation.

use chrono::{DateTime, Utc};
use serde::Serialize;
use seven_domain::{CaseSeverity, ConversationId, Language};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Tx, day::least_id};

/// Number of newest texts that the list's query reads, for each conversation that it may return.
const RECENT_TEXTS: i64 = 5;

/// A conversation in a list.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct ListedConversation {
    pub conversation_id: Uuid,
    pub guest_id: Uuid,
    /// `escalated`, `paused`, `waiting` or `quiet`, the most urgent one that applies.
    pub state: String,
    /// The severity of the gravest open case.
    pub severity: Option<CaseSeverity>,
    /// Number of open cases.
    pub cases: i64,
    /// Whether every open case is acknowledged.
    pub acknowledged: bool,
    pub pause_reason: Option<String>,
    pub paused_until: Option<DateTime<Utc>>,
    /// The person who took the conversation over.
    pub taken_by: Option<String>,
    pub paused: bool,
    /// The last four digits of the guest's phone.
    #[serde(skip)]
    pub last_four: Option<String>,
    /// The language of the guest's newest text that was answered.
    pub language: Option<Language>,
    /// Number of the guest's texts that the host has not answered yet.
    pub open_texts: i64,
    /// Number of the guest's texts that are kept for a person.
    pub held_texts: i64,
    pub last_inbound_at: Option<DateTime<Utc>>,
}

/// A text of a conversation, in either direction.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct TranscriptLine {
    /// `in` from the guest, `out` to the guest.
    pub direction: String,
    pub id: Uuid,
    pub at: DateTime<Utc>,
    pub state: String,
    pub reason: Option<String>,
    /// The origin of an outbound text: `turn`, `person`, `campaign` or the name of a pack's text.
    pub kind: Option<String>,
    /// The host's turn that wrote an outbound text; `None` for any other text.
    pub turn_id: Option<Uuid>,
    pub text: String,
}

impl Tx {
    /// Returns conversations, the most urgent first. Returns those in which a guest wrote since
    /// `since`, and those of any age that are paused or have an open case or an unanswered text. To
    /// find the guests who wrote, the query reads only the newest texts, at most five times `most`.
    pub async fn list_conversations(
        &mut self,
        since: DateTime<Utc>,
        most: i64,
    ) -> Result<Vec<ListedConversation>> {
        Ok(
            sqlx::query_as(include_str!("../../sql/listed_conversations.sql"))
                .bind(since)
                .bind(least_id(since))
                .bind(most.saturating_mul(RECENT_TEXTS))
                .bind(most)
                .fetch_all(self.conn())
                .await?,
        )
    }

    /// Returns the newest `most` texts of a conversation, oldest first.
    pub async fn transcript(
        &mut self,
        conversation: ConversationId,
        most: i64,
    ) -> Result<Vec<TranscriptLine>> {
        Ok(sqlx::query_as(include_str!("../../sql/transcript.sql"))
            .bind(conversation.0)
            .bind(most)
            .fetch_all(self.conn())
            .await?)
    }

    /// Returns the number of texts in the conversation, in both directions, as a mark that changes
    /// with every text. A time cannot be the mark: a transaction that began earlier, and so has an
    /// earlier time, may commit later.
    pub async fn thread_mark(&mut self, conversation: ConversationId) -> Result<i64> {
        Ok(sqlx::query_scalar(
            "select (select count(*) from inbound_messages where conversation_id = $1)
               + (select count(*) from outbound_messages where conversation_id = $1)",
        )
        .bind(conversation.0)
        .fetch_one(self.conn())
        .await?)
    }
}

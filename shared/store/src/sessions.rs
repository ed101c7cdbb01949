//! Sessions (DATA-25, SMS-26). A guest's text opens a session, and each turn updates the session.
//! `seven-guest` interprets the stored contents.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;
use seven_domain::ConversationId;
use sqlx::{FromRow, types::Json};
use uuid::Uuid;

use crate::{Result, Tx, inbound::OpenText, pauses::Paused};

/// A session as stored. `seven_guest::Session` parses `phase`, `summary`, `counts` and `dialogue`
/// together with `rest`.
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
    /// `seven_guest::DialogueState`.
    pub dialogue: Value,
}

/// The state of a conversation when a turn begins.
#[derive(Debug, Clone, Default)]
pub struct ConversationState {
    /// The current session; `None` for a conversation that began before sessions were introduced.
    pub session: Option<SessionRow>,
    /// The newest earlier session in which the host answered.
    pub before: Option<SessionRow>,
    pub paused: Option<Paused>,
    /// Number of cases of the last seven days.
    pub recent_cases: i64,
    /// Number of these cases that nobody has settled, without those of severity `sev3`.
    pub open_cases: i64,
    /// The guest's profile; `None` if nothing was learnt about the guest yet. Turns of a
    /// conversation read and write the profile one after the other, because each turn holds the
    /// lease.
    pub profile: Option<Value>,
    /// The newest exchanges, oldest first: (guest's text, our text).
    pub exchanges: Vec<(String, String)>,
    /// Texts that wait for an answer and are not stale, in the order in which the guest wrote them.
    pub open: Vec<OpenText>,
}

/// Limits on the part of a conversation that a turn sees.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// Open texts older than this are closed as stale and listed for operators.
    pub useful: Duration,
    /// Maximum number of exchanges.
    pub most: usize,
    /// Verdicts of texts that are part of the exchanges although they were answered without a turn.
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

const PLACE: &str = include_str!("../sql/conversation_state.sql");

impl Tx {
    /// Returns the conversation's state for a turn, in one query, and closes stale texts. If the
    /// transaction already holds the lease's lock on the conversation, no open text can be added
    /// meanwhile.
    pub async fn place(
        &mut self,
        conversation: ConversationId,
        shown: Shown<'_>,
    ) -> Result<ConversationState> {
        let row: Option<Row> = sqlx::query_as(PLACE)
            .bind(conversation.0)
            .bind(shown.canned)
            .bind(i64::try_from(shown.most).unwrap_or(i64::MAX))
            .bind(shown.useful.as_secs_f64())
            .fetch_optional(self.conn())
            .await?;
        let Some(row) = row else {
            return Ok(ConversationState::default());
        };
        let read = |json: Option<Value>| json.and_then(|json| serde_json::from_value(json).ok());
        let paused = row
            .paused_at
            .filter(|_| !row.pause_over)
            .map(|since| Paused {
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
            exchanges: row
                .exchanges
                .map(|Json(exchanges)| exchanges)
                .unwrap_or_default(),
            open: row.open.0,
        })
    }
}

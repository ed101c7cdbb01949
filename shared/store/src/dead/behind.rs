//! Reads the guest and the row that a dead letter concerns. This serves to find a guest's dead
//! letters, and to refuse a replay that would have no effect.

use std::time::Duration;

use chrono::{DateTime, Utc};
use seven_domain::{
    CasinoStatus, Channel, Disposition, GuestHash, Invalid, OutboundState, TurnState,
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Tx};

/// The row or the guest that a dead letter's message is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// An inbound text that has no row yet.
    Text {
        guest: GuestHash,
        channel: Channel,
        occurred_at: DateTime<Utc>,
    },
    /// A conversation, and the text whose arrival was signalled.
    Conversation {
        id: Uuid,
        text: Option<Uuid>,
    },
    Turn(Uuid),
    Outbound(Uuid),
    Attempt(Uuid),
    /// A receipt that names no attempt.
    Nobody,
}

/// The state of the row that a dead letter concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowState {
    Inbound(Disposition),
    Turn(TurnState),
    Outbound(OutboundState),
}

/// The current state of the guest and the row that a dead letter concerns.
#[derive(Debug, Clone, Default)]
pub struct Behind {
    pub key_id: i16,
    pub phone_hash: Vec<u8>,
    /// The time of the STOP in force, if there is one.
    pub stopped_as_of: Option<DateTime<Utc>>,
    pub state: Option<RowState>,
    /// Whether the text may be sent even after a STOP, if the pre-send check allows it.
    pub safety: bool,
    /// Whether a person wrote to the guest after the row was stored.
    pub by_person: bool,
    /// When an answer stopped being useful; `None` while it is still useful.
    pub useless_since: Option<DateTime<Utc>>,
}

#[derive(FromRow)]
struct Row {
    key_id: i16,
    phone_hash: Vec<u8>,
    stopped_as_of: Option<DateTime<Utc>>,
    state: Option<String>,
    safety: bool,
    by_person: bool,
    useless_since: Option<DateTime<Utc>>,
}

// === impl RowState ===

impl RowState {
    /// Returns whether a stage still has to handle the row, or would handle it after a replay.
    pub fn is_replayable(self) -> bool {
        match self {
            Self::Inbound(state) => matches!(
                state,
                Disposition::Open | Disposition::Held | Disposition::Parked
            ),
            Self::Turn(state) => matches!(state, TurnState::Drafted | TurnState::Parked),
            Self::Outbound(state) => matches!(state, OutboundState::Queued | OutboundState::Failed),
        }
    }

    fn read(about: &About, name: &str) -> Result<Option<Self>, Invalid> {
        Ok(match about {
            About::Conversation { .. } => Some(Self::Inbound(name.parse()?)),
            About::Turn(_) => Some(Self::Turn(name.parse()?)),
            About::Outbound(_) | About::Attempt(_) => Some(Self::Outbound(name.parse()?)),
            About::Text { .. } | About::Nobody => None,
        })
    }
}

// === impl Row ===

impl Row {
    fn read(self, about: &About) -> Result<Behind> {
        let state = self
            .state
            .map(|name| RowState::read(about, &name))
            .transpose()?
            .flatten();
        let Self {
            key_id,
            phone_hash,
            stopped_as_of,
            safety,
            by_person,
            useless_since,
            ..
        } = self;
        Ok(Behind {
            key_id,
            phone_hash,
            stopped_as_of,
            state,
            safety,
            by_person,
            useless_since,
        })
    }
}

// === impl Behind ===

impl Behind {
    pub fn guest(&self) -> Option<GuestHash> {
        Some(GuestHash {
            key_id: self.key_id,
            bytes: self.phone_hash.as_slice().try_into().ok()?,
        })
    }
}

impl Tx {
    /// Returns the casino's status; `None` if the casino never existed.
    pub async fn casino_status(&mut self) -> Result<Option<CasinoStatus>> {
        Ok(sqlx::query_scalar("select status from casinos")
            .fetch_optional(self.conn())
            .await?)
    }

    /// Returns the state of the rows that a dead letter concerns; `None` if the rows are gone. For
    /// a text without a row, returns the guest's state, unless the text was erased.
    pub async fn behind(&mut self, about: &About, useful: Duration) -> Result<Option<Behind>> {
        let (query, id, text) = match about {
            About::Nobody => return Ok(Some(Behind::default())),
            About::Text {
                guest, occurred_at, ..
            } => {
                return self.behind_text(guest, *occurred_at).await;
            }
            About::Conversation { id, text } => (
                include_str!("../../sql/behind_conversation.sql"),
                *id,
                *text,
            ),
            About::Turn(id) => (include_str!("../../sql/behind_turn.sql"), *id, None),
            About::Outbound(id) => (include_str!("../../sql/behind_outbound.sql"), *id, None),
            About::Attempt(id) => (include_str!("../../sql/behind_attempt.sql"), *id, None),
        };
        let useful = useful.as_secs_f64();
        let row: Option<Row> = sqlx::query_as(query)
            .bind(id)
            .bind(useful)
            .bind(text)
            .fetch_optional(self.conn())
            .await?;
        row.map(|row| row.read(about)).transpose()
    }

    async fn behind_text(
        &mut self,
        guest: &GuestHash,
        occurred_at: DateTime<Utc>,
    ) -> Result<Option<Behind>> {
        if self
            .erased_until(guest)
            .await?
            .is_some_and(|until| occurred_at <= until)
        {
            return Ok(None);
        }
        let query = "select as_of from suppressions where key_id = $1 and phone_hash = $2 and state = 'stopped'";
        let stopped_as_of = sqlx::query_scalar(query)
            .bind(guest.key_id)
            .bind(&guest.bytes[..])
            .fetch_optional(self.conn())
            .await?;
        Ok(Some(Behind {
            key_id: guest.key_id,
            phone_hash: guest.bytes.to_vec(),
            stopped_as_of,
            ..Behind::default()
        }))
    }
}

//! The guest and the row that a dead letter concerns: for finding a guest's dead letters, and for
//! refusing a pointless replay.

use std::time::Duration;

use chrono::{DateTime, Utc};
use seven_domain::GuestHash;
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Tx};

/// The subject of a dead letter's message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// An inbound text that has no row yet.
    Text {
        guest: GuestHash,
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

/// The current state of the guest and the row that a dead letter concerns.
#[derive(Debug, Clone, Default, FromRow)]
pub struct Behind {
    pub key_id: i16,
    pub phone_hash: Vec<u8>,
    /// The time of the STOP in force, if there is one.
    pub stopped_as_of: Option<DateTime<Utc>>,
    /// Disposition of the inbound text, or state of the turn or outbound text.
    pub state: Option<String>,
    /// Whether the text may be sent even after a STOP; the pre-send check decides.
    pub safety: bool,
    /// The time since which an answer is no longer useful, if it is not.
    pub useless_since: Option<DateTime<Utc>>,
}

impl Behind {
    pub fn guest(&self) -> Option<GuestHash> {
        Some(GuestHash { key_id: self.key_id, bytes: self.phone_hash.as_slice().try_into().ok()? })
    }
}

macro_rules! behind {
    ($state:literal, $safety:literal, $useful_until:literal, $from:literal) => {
        concat!(
            "select g.key_id, g.phone_hash, case when s.state = 'stopped' then s.as_of end as stopped_as_of, ",
            $state,
            " as state, ",
            $safety,
            " as safety, case when u < now() then u end as useless_since from ",
            $from,
            " left join suppressions s on s.key_id = g.key_id and s.phone_hash = g.phone_hash
              cross join lateral (select ",
            $useful_until,
            " as u) v"
        )
    };
}

impl Tx {
    /// Returns `active`, `suspended` or `removed`; `None` if the casino never existed.
    pub async fn casino_status(&mut self) -> Result<Option<String>> {
        Ok(sqlx::query_scalar("select status from casinos").fetch_optional(self.conn()).await?)
    }

    /// Returns the state of the rows behind a dead letter; `None` if they are gone. For a text
    /// without a row, it returns the guest's state, unless the text was erased.
    pub async fn behind(&mut self, about: &About, useful: Duration) -> Result<Option<Behind>> {
        let (query, id, text) = match about {
            About::Nobody => return Ok(Some(Behind::default())),
            About::Text { guest, occurred_at } => return self.behind_text(guest, *occurred_at).await,
            About::Conversation { id, text } => (
                behind!(
                    "i.disposition",
                    "false",
                    "coalesce(i.released_at, i.stored_at) + make_interval(secs => $2)",
                    "conversations c join guests g on g.guest_id = c.guest_id and c.conversation_id = $1
                     left join inbound_messages i on i.inbound_id = $3 and i.conversation_id = c.conversation_id"
                ),
                *id,
                *text,
            ),
            About::Turn(id) => (
                behind!(
                    "t.state",
                    "false",
                    "t.created_at + make_interval(secs => $2)",
                    "turns t join guests g on g.guest_id = t.guest_id and t.turn_id = $1 and $3::uuid is null"
                ),
                *id,
                None,
            ),
            About::Outbound(id) => (
                behind!(
                    "o.state",
                    "p.lane = 'safety'",
                    "case when $2::float8 is not null then o.useful_until end",
                    "outbound_messages o join guests g on g.guest_id = o.guest_id and o.outbound_id = $1 and $3::uuid is null
                     join send_policy p on p.class = o.class"
                ),
                *id,
                None,
            ),
            About::Attempt(id) => (
                behind!(
                    "o.state",
                    "true",
                    "case when $2::float8 is null then now() end",
                    "send_attempts a join outbound_messages o on o.outbound_id = a.outbound_id and a.attempt_id = $1 and $3::uuid is null
                     join guests g on g.guest_id = o.guest_id"
                ),
                *id,
                None,
            ),
        };
        let useful = useful.as_secs_f64();
        Ok(sqlx::query_as(query).bind(id).bind(useful).bind(text).fetch_optional(self.conn()).await?)
    }

    async fn behind_text(&mut self, guest: &GuestHash, occurred_at: DateTime<Utc>) -> Result<Option<Behind>> {
        if self.erased_until(guest).await?.is_some_and(|until| occurred_at <= until) {
            return Ok(None);
        }
        let query = "select as_of from suppressions where key_id = $1 and phone_hash = $2 and state = 'stopped'";
        let stopped_as_of =
            sqlx::query_scalar(query).bind(guest.key_id).bind(&guest.bytes[..]).fetch_optional(self.conn()).await?;
        Ok(Some(Behind { key_id: guest.key_id, phone_hash: guest.bytes.to_vec(), stopped_as_of, ..Behind::default() }))
    }
}

//! Dead letters as rows that operators list, replay and discard (D17).

mod behind;
mod handle;
mod orders;
mod select;
mod unannounced;

use chrono::{DateTime, Utc};
use seven_domain::{CasinoId, Channel, DeadId, DeadOrder, DeadState, GuestHash, Stage};
use sqlx::FromRow;
use uuid::Uuid;

pub use behind::{About, Behind, RowState};
pub use handle::{Handled, Locked};
pub use orders::{Ordered, Waiting};
pub use select::{Cursor, Filter, Listed};
pub use unannounced::Unannounced;

use crate::{Result, Store, Tx};

/// A dead letter to file. `dead_id` is used only if this message has no row yet; an existing row
/// keeps its id.
#[derive(Debug, Clone)]
pub struct NewDead {
    pub dead_id: DeadId,
    pub stage: Stage,
    pub reason: String,
    pub error: String,
    pub attempts: i32,
    /// The subject on which the message re-enters its stage.
    pub subject: String,
    /// The message's identity, by which its row is found if the same message fails again.
    pub message_key: String,
    pub payload: Vec<u8>,
    pub stream_seq: Option<i64>,
    /// The guest concerned, if known.
    pub guest: Option<GuestHash>,
    /// The guest's channel if the message names it; if `None`, the channel of the guest's
    /// conversation is filed.
    pub channel: Option<Channel>,
    /// When the dead letter's announcement entered the stream.
    pub announced_at: DateTime<Utc>,
    pub trace: String,
}

/// A complete dead letter, payload included.
#[derive(Debug, Clone, FromRow)]
pub struct DeadLetter {
    pub dead_id: Uuid,
    pub stage: Stage,
    pub reason: String,
    pub first_error: String,
    pub last_error: String,
    pub attempts: i32,
    pub subject: String,
    pub message_key: String,
    pub payload: Vec<u8>,
    pub state: DeadState,
    pub replays: i32,
    pub stream_seq: Option<i64>,
    pub guest_hash: Option<String>,
    /// The guest's channel; `None` if it is unknown.
    pub channel: Option<Channel>,
    pub claim: Option<Uuid>,
    pub claimed_by: Option<String>,
    pub claimed_at: Option<DateTime<Utc>>,
    /// The order that waits to be carried out; the next two fields say who gave it and when.
    pub asked: Option<DeadOrder>,
    pub asked_by: Option<String>,
    pub asked_at: Option<DateTime<Utc>>,
    /// Code of the reason for which the last order was refused.
    pub refused: Option<String>,
    pub trace: String,
    pub first_at: DateTime<Utc>,
    pub last_at: DateTime<Utc>,
}

macro_rules! letter {
    ($rest:literal) => {
        concat!(
            "select dead_id, stage, reason, first_error, last_error, attempts, subject, message_key, payload, state, replays, stream_seq, guest_hash, channel,
               claim, claimed_by, claimed_at, asked, asked_by, asked_at, refused, trace, first_at, last_at from dead_letters where dead_id = $1 ",
            $rest
        )
    };
}
use letter;

macro_rules! file {
    ($known:literal) => {
        concat!(
            "insert into dead_letters (casino_id, dead_id, stage, reason, first_error, last_error, attempts, subject, message_key, payload, stream_seq,
               trace, guest_hash, announced_at, first_at, last_at, channel)
             values ($1, $2, $3, $4, $5, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13, $13,
               coalesce($14, (select conversation.channel from guests guest join conversations conversation using (casino_id, guest_id)
                 where guest.casino_id = $1 and guest.key_id = $15 and guest.phone_hash = $16 limit 1)))
             on conflict (casino_id, stage, message_key) do ",
            $known
        )
    };
}

impl Store {
    /// Returns the owners of dead letters in any state. They include removed casinos, and the
    /// pseudo tenant for numbers that belong to no casino.
    pub async fn dead_owners(&self) -> Result<Vec<CasinoId>> {
        self.owners("select casino_id from fleet_dead_owners() order by 1")
            .await
    }

    async fn owners(&self, query: &'static str) -> Result<Vec<CasinoId>> {
        let owners: Vec<String> = sqlx::query_scalar(query)
            .fetch_all(&mut *self.fleet().await?)
            .await?;
        Ok(owners
            .iter()
            .map(|owner| CasinoId::trusted(owner))
            .collect::<Result<_, _>>()?)
    }

    /// Returns the casino, or pseudo tenant, that owns the dead letter with this id.
    pub async fn dead_owner(&self, id: DeadId) -> Result<Option<CasinoId>> {
        let query = "select casino_id from fleet_dead_owner($1)";
        let owner: Option<String> = sqlx::query_scalar(query)
            .bind(id.0)
            .fetch_optional(&mut *self.fleet().await?)
            .await?;
        Ok(owner.map(|owner| CasinoId::trusted(&owner)).transpose()?)
    }
}

impl Tx {
    /// Files a dead letter. If the message already has a dead letter, that one gets the new error
    /// and is reopened. Filing the same announcement again changes nothing.
    pub async fn file_dead(&mut self, dead: &NewDead) -> Result<()> {
        let again = file!(
            "update
               set last_error = excluded.last_error, reason = excluded.reason, attempts = dead_letters.attempts + excluded.attempts,
                 last_at = excluded.last_at, announced_at = excluded.announced_at, state = 'open',
                 guest_hash = coalesce(dead_letters.guest_hash, excluded.guest_hash), channel = coalesce(dead_letters.channel, excluded.channel), claim = null, claimed_by = null, claimed_at = null
               where dead_letters.announced_at < excluded.announced_at"
        );
        self.file(again, dead).await?;
        Ok(())
    }

    /// Discards an open dead letter that needs no action.
    pub async fn settle_dead(&mut self, stage: Stage, message_key: &str) -> Result<()> {
        let settle = "update dead_letters set state = 'discarded', handled_by = 'scheduler', handled_at = now()
                      where stage = $1 and message_key = $2 and state = 'open'";
        sqlx::query(settle)
            .bind(stage)
            .bind(message_key)
            .execute(self.conn())
            .await?;
        Ok(())
    }

    /// Files a dead letter again if its row was removed, and returns whether that was necessary. An
    /// existing row stays unchanged.
    pub async fn refile_dead(&mut self, dead: &NewDead) -> Result<bool> {
        self.file(file!("nothing"), dead).await
    }

    /// Returns whether the dead letter has a row, in any state.
    pub async fn has_dead(&mut self, stage: Stage, message_key: &str) -> Result<bool> {
        let query =
            "select exists (select 1 from dead_letters where stage = $1 and message_key = $2)";
        Ok(sqlx::query_scalar(query)
            .bind(stage)
            .bind(message_key)
            .fetch_one(self.conn())
            .await?)
    }

    async fn file(&mut self, statement: &'static str, dead: &NewDead) -> Result<bool> {
        let casino = self.casino_str();
        let done = sqlx::query(statement)
            .bind(casino)
            .bind(dead.dead_id.0)
            .bind(dead.stage)
            .bind(&dead.reason)
            .bind(&dead.error)
            .bind(dead.attempts)
            .bind(&dead.subject)
            .bind(&dead.message_key)
            .bind(&dead.payload)
            .bind(dead.stream_seq)
            .bind(&dead.trace)
            .bind(dead.guest.as_ref().map(GuestHash::tag))
            .bind(dead.announced_at)
            .bind(dead.channel)
            .bind(dead.guest.as_ref().map(|guest| guest.key_id))
            .bind(dead.guest.as_ref().map(|guest| &guest.bytes[..]))
            .execute(self.conn())
            .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Returns one dead letter without locking it.
    pub async fn dead_letter(&mut self, id: DeadId) -> Result<Option<DeadLetter>> {
        Ok(sqlx::query_as(letter!(""))
            .bind(id.0)
            .fetch_optional(self.conn())
            .await?)
    }
}

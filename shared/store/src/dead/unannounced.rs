//! Rows that ended as dead without a dead letter: their process crashed between its commit and the
//! announcement (D17).

use std::time::Duration;

use chrono::{DateTime, Utc};
use seven_domain::{GuestHash, Stage};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Tx};

/// A row that is marked as dead but has no dead letter.
#[derive(Debug, Clone, FromRow)]
pub struct Unannounced {
    /// Id of the inbound text, turn or outbound text; it is the key of the dead letter.
    pub row_id: Uuid,
    pub conversation_id: Uuid,
    /// Class of an outbound text; empty otherwise.
    pub class: String,
    pub error: String,
    pub attempts: i32,
    pub trace: String,
    /// When the row ended.
    pub at: DateTime<Utc>,
    pub key_id: i16,
    pub phone_hash: Vec<u8>,
}

impl Unannounced {
    pub fn guest(&self) -> Option<GuestHash> {
        Some(GuestHash {
            key_id: self.key_id,
            bytes: self.phone_hash.as_slice().try_into().ok()?,
        })
    }
}

/// Selects one row per failed answer. All texts to which the guest got the same fallback text
/// belong to one answer. A signal may carry the id of any of these texts.
const SWARM: &str = include_str!("../../sql/unannounced_swarm.sql");

/// Selects parked turns. A turn does not record when it was parked. If a parked turn's dead letter
/// was replayed longer than the margin ago, the turn counts as dead again.
const ENVELOPE: &str = include_str!("../../sql/unannounced_envelope.sql");

/// Selects texts that were retried until they were given up; a permanent refusal does not become a
/// dead letter (SMS-44).
const SENDER: &str = include_str!("../../sql/unannounced_sender.sql");

impl Tx {
    /// Returns the stage's rows that have no dead letter and died longer than `margin` ago, but at
    /// most three days ago. Empty for stages whose messages leave no dead row.
    pub async fn unannounced(
        &mut self,
        stage: Stage,
        margin: Duration,
    ) -> Result<Vec<Unannounced>> {
        let query = match stage {
            Stage::Swarm => SWARM,
            Stage::Envelope => ENVELOPE,
            Stage::Sender => SENDER,
            Stage::Ingress | Stage::Gate | Stage::Receipts => return Ok(Vec::new()),
        };
        Ok(sqlx::query_as(query)
            .bind(margin.as_secs_f64())
            .fetch_all(self.conn())
            .await?)
    }

    /// Returns whether a dead letter of this stage about this guest was announced since `since`.
    /// The dead letter's key may be that of an earlier text.
    pub async fn has_dead_of(
        &mut self,
        stage: Stage,
        guest: &GuestHash,
        since: DateTime<Utc>,
    ) -> Result<bool> {
        Ok(
            sqlx::query_scalar("select exists (select 1 from dead_letters where stage = $1 and guest_hash = $2 and last_at >= $3 and state <> 'replayed')")
                .bind(stage)
                .bind(guest.tag())
                .bind(since)
                .fetch_one(self.conn())
                .await?,
        )
    }
}

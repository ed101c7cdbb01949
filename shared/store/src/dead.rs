//! Dead letters as rows that operators list, replay and discard (D17).

use chrono::{DateTime, Utc};
use seven_domain::{DeadId, Stage};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Tx};

#[derive(Debug, Clone)]
pub struct NewDead {
    pub dead_id: DeadId,
    pub stage: Stage,
    pub reason: String,
    pub error: String,
    pub attempts: i32,
    /// The subject on which it re-enters its stage.
    pub subject: String,
    /// The message's identity: the same message dying again finds its row.
    pub message_key: String,
    pub payload: Vec<u8>,
    pub stream_seq: Option<i64>,
    pub trace: String,
}

#[derive(Debug, Clone, FromRow)]
pub struct DeadLetter {
    pub dead_id: Uuid,
    pub stage: String,
    pub reason: String,
    pub first_error: String,
    pub last_error: String,
    pub attempts: i32,
    pub subject: String,
    pub message_key: String,
    pub payload: Vec<u8>,
    pub state: String,
    pub replays: i32,
    pub trace: String,
    pub first_at: DateTime<Utc>,
    pub last_at: DateTime<Utc>,
}

impl Tx {
    /// Files a dead letter; a known one takes the new error and opens again.
    pub async fn file_dead(&mut self, dead: &NewDead) -> Result<()> {
        let casino = self.casino_str();
        sqlx::query(
            "insert into dead_letters (casino_id, dead_id, stage, reason, first_error, last_error, attempts, subject, message_key, payload, stream_seq, trace)
             values ($1, $2, $3, $4, $5, $5, $6, $7, $8, $9, $10, $11)
             on conflict (casino_id, stage, message_key) do update
               set last_error = excluded.last_error, reason = excluded.reason, attempts = dead_letters.attempts + excluded.attempts, last_at = now(), state = 'open'",
        )
        .bind(casino)
        .bind(dead.dead_id.0)
        .bind(dead.stage.as_str())
        .bind(&dead.reason)
        .bind(&dead.error)
        .bind(dead.attempts)
        .bind(&dead.subject)
        .bind(&dead.message_key)
        .bind(&dead.payload)
        .bind(dead.stream_seq)
        .bind(&dead.trace)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    pub async fn dead_letters(&mut self, state: Option<&str>, most: i64) -> Result<Vec<DeadLetter>> {
        Ok(sqlx::query_as(
            "select dead_id, stage, reason, first_error, last_error, attempts, subject, message_key, payload, state, replays, trace, first_at, last_at
             from dead_letters where $1::text is null or state = $1 order by last_at desc limit $2",
        )
        .bind(state)
        .bind(most)
        .fetch_all(self.conn())
        .await?)
    }

    pub async fn dead_letter(&mut self, id: DeadId) -> Result<Option<DeadLetter>> {
        Ok(sqlx::query_as(
            "select dead_id, stage, reason, first_error, last_error, attempts, subject, message_key, payload, state, replays, trace, first_at, last_at
             from dead_letters where dead_id = $1 for update",
        )
        .bind(id.0)
        .fetch_optional(self.conn())
        .await?)
    }

    /// Gives the row behind a dead letter back to its stage. Rows that went on meanwhile stay as they are, so a replay of what in
    /// truth succeeded does nothing.
    pub async fn reopen_for_replay(&mut self, letter: &DeadLetter) -> Result<()> {
        let Ok(row) = Uuid::parse_str(&letter.message_key) else { return Ok(()) };
        let base = self.sweep_base();
        match letter.stage.as_str() {
            "swarm" => {
                sqlx::query(
                    "update inbound_messages i set disposition = 'open', disposition_ref = null, reason = null, closed_at = null, tries = 0,
                       next_sweep_at = now() + make_interval(secs => $2)
                     from inbound_messages k where k.inbound_id = $1 and k.disposition = 'parked' and i.disposition = 'parked'
                       and i.conversation_id = k.conversation_id and i.disposition_ref is not distinct from k.disposition_ref",
                )
                .bind(row)
                .bind(base)
                .execute(self.conn())
                .await?;
            }
            "sender" => {
                sqlx::query(
                    "update outbound_messages o set state = 'queued', reason = null, ended_at = null, tries = 0, not_before = now(),
                       next_sweep_at = now() + make_interval(secs => $2)
                     where o.outbound_id = $1 and o.state = 'failed' and not exists (
                       select 1 from send_attempts a where a.outbound_id = o.outbound_id and a.outcome in ('accepted', 'confirmed', 'ambiguous', 'pending'))",
                )
                .bind(row)
                .bind(base)
                .execute(self.conn())
                .await?;
            }
            _ => {}
        }
        Ok(())
    }

    pub async fn mark_replayed(&mut self, id: DeadId) -> Result<()> {
        sqlx::query(
            "update dead_letters set state = 'replayed', replays = replays + 1, last_at = now() where dead_id = $1",
        )
        .bind(id.0)
        .execute(self.conn())
        .await?;
        Ok(())
    }
}

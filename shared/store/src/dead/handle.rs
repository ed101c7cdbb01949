//! Handling of dead letters. A replay claims the row first. If the replay crashes, the next one
//! publishes under the id of the same claim. The bus accepts each id only once.

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use seven_domain::{DeadId, Stage};
use sqlx::FromRow;
use uuid::Uuid;

use super::{DeadLetter, letter};
use crate::{Result, Tx};

/// Result of locking a dead letter in order to act on it.
#[derive(Debug)]
pub enum Locked {
    Letter(Box<DeadLetter>),
    /// Another process has the dead letter locked.
    Busy,
    Gone,
}

/// One action on a dead letter, from the audit log.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct Handled {
    pub at: DateTime<Utc>,
    pub actor: String,
    pub detail: Value,
}

impl Tx {
    /// Locks the dead letter until this transaction ends; never waits for another transaction that
    /// holds the lock.
    pub async fn lock_dead(&mut self, id: DeadId) -> Result<Locked> {
        let found: Option<DeadLetter> = sqlx::query_as(letter!("for update skip locked"))
            .bind(id.0)
            .fetch_optional(self.conn())
            .await?;
        if let Some(letter) = found {
            return Ok(Locked::Letter(Box::new(letter)));
        }
        let there: bool =
            sqlx::query_scalar("select exists (select 1 from dead_letters where dead_id = $1)")
                .bind(id.0)
                .fetch_one(self.conn())
                .await?;
        Ok(if there { Locked::Busy } else { Locked::Gone })
    }

    /// Claims a locked dead letter for a replay, and returns the claim in force. If a process
    /// crashed during an earlier replay, that process's claim stays in force.
    pub async fn claim_dead(&mut self, id: DeadId, claim: Uuid, by: &str) -> Result<Uuid> {
        let query = "update dead_letters set claim = coalesce(claim, $2), claimed_by = $3, claimed_at = now(), state = 'open'
                     where dead_id = $1 returning claim";
        Ok(sqlx::query_scalar(query)
            .bind(id.0)
            .bind(claim)
            .bind(by)
            .fetch_one(self.conn())
            .await?)
    }

    /// Locks the dead letter, and waits while another transaction holds the lock. Returns false if
    /// the claim is no longer in force.
    pub async fn holds_claim(&mut self, id: DeadId, claim: Uuid) -> Result<bool> {
        let query =
            "select claim is not distinct from $2 from dead_letters where dead_id = $1 for update";
        let held: Option<bool> = sqlx::query_scalar(query)
            .bind(id.0)
            .bind(claim)
            .fetch_optional(self.conn())
            .await?;
        Ok(held.unwrap_or_default())
    }

    /// Records that the dead letter re-entered its stage.
    pub async fn mark_replayed(&mut self, id: DeadId, by: &str) -> Result<()> {
        sqlx::query(
            "update dead_letters set state = 'replayed', replays = replays + 1, claim = null, claimed_by = null, claimed_at = null,
               asked = null, asked_by = null, asked_at = null, asked_reason = null, refused = null,
               handled_by = $2, handled_at = now() where dead_id = $1",
        )
        .bind(id.0)
        .bind(by)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Records that the dead letter was discarded.
    pub async fn mark_discarded(&mut self, id: DeadId, by: &str) -> Result<()> {
        sqlx::query(
            "update dead_letters set state = 'discarded', claim = null, claimed_by = null, claimed_at = null,
               asked = null, asked_by = null, asked_at = null, asked_reason = null, refused = null,
               handled_by = $2, handled_at = now()
             where dead_id = $1",
        )
        .bind(id.0)
        .bind(by)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Returns the actions taken on a dead letter with their actors, oldest first.
    pub async fn dead_history(&mut self, id: DeadId) -> Result<Vec<Handled>> {
        Ok(
            sqlx::query_as("select at, actor, detail from audit_log where subject = $1 and action = 'dead_letter_handled' order by at, entry")
                .bind(id.to_string())
                .fetch_all(self.conn())
                .await?,
        )
    }

    /// Resets the row that a dead letter concerns, so that its stage handles the row once more. A
    /// row that has progressed stays unchanged. The caller must commit this before it publishes the
    /// signal: if the signal is then lost, the sweep finds the row.
    pub async fn reopen_for_replay(&mut self, letter: &DeadLetter) -> Result<()> {
        let Ok(row) = Uuid::parse_str(&letter.message_key) else {
            return Ok(());
        };
        let statement = match letter.stage {
            Stage::Swarm => {
                "update inbound_messages i set disposition = 'open', disposition_ref = null, reason = null, closed_at = null, tries = 0,
                   next_sweep_at = now() + make_interval(secs => $2)
                 from inbound_messages k where k.inbound_id = $1 and k.disposition = 'parked' and i.disposition = 'parked'
                   and i.conversation_id = k.conversation_id and i.disposition_ref is not distinct from k.disposition_ref"
            }
            Stage::Envelope => {
                "update turns set state = 'drafted', reason = null, tries = 0, next_sweep_at = now() + make_interval(secs => $2)
                 where turn_id = $1 and state = 'parked'"
            }
            Stage::Sender => {
                "update outbound_messages o set state = 'queued', reason = null, ended_at = null, tries = 0, not_before = now(),
                   next_sweep_at = now() + make_interval(secs => $2)
                 where o.outbound_id = $1 and o.state = 'failed' and not exists (
                   select 1 from send_attempts a where a.outbound_id = o.outbound_id and a.outcome in ('accepted', 'confirmed', 'ambiguous', 'pending'))"
            }
            Stage::Ingress | Stage::Gate | Stage::Receipts => return Ok(()),
        };
        let base = self.sweep_base();
        sqlx::query(statement)
            .bind(row)
            .bind(base)
            .execute(self.conn())
            .await?;
        Ok(())
    }
}

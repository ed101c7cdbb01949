//! Work that becomes due at a time (D13): rows without guest data that any scheduler may claim.

use std::time::Duration;

use seven_domain::{CasinoId, Invalid, text_enum};
use uuid::Uuid;

use crate::{Result, Store, Tx};

text_enum! {
    /// Kinds of due rows. Each comment says what happens when the row is due; `row_id` is the id of
    /// the row that it names.
    DueKind {
        /// Signals a queued outbound text.
        Send => "send",
        /// Signals a queued outbound text that waits for a provider.
        Held => "held",
        /// Settles an attempt that the provider did not answer.
        AttemptDoubt => "attempt_doubt",
        /// Ends the pause of a conversation, after which the host answers again.
        Resume => "resume",
        /// Applies the STOP in an inbound text to the other casinos that it concerns (D40).
        StopReach => "stop_reach",
        /// Tells people that a held reply has waited too long for a person's decision.
        HeldReply => "held_reply",
        /// Carries out a deletion request.
        Delete => "delete",
    }
}

/// The kinds of due rows to claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kinds {
    /// Deletions of guests, which take long.
    Deletions,
    /// All other kinds.
    Signals,
}

/// A claimed row. It is due again after the claim expires, unless it is cleared.
#[derive(Debug, Clone)]
pub struct Due {
    pub casino: CasinoId,
    /// An error if a newer release wrote the row, with a kind that this build does not know.
    pub kind: Result<DueKind, UnknownKind>,
    pub row_id: Uuid,
}

/// A kind of due row that this build does not know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a due row of a kind that this version does not know: {name}")]
pub struct UnknownKind {
    pub name: String,
}

impl Tx {
    /// Adds a due row, or moves the existing one to the new time.
    pub async fn put_due(&mut self, kind: DueKind, row: Uuid, after: Duration) -> Result<()> {
        let casino = self.casino_str();
        sqlx::query(
            "insert into due (casino_id, kind, row_id, due_at) values ($1, $2, $3, now() + make_interval(secs => $4))
             on conflict (casino_id, kind, row_id) do update set due_at = excluded.due_at, claimed_until = null",
        )
        .bind(casino)
        .bind(kind)
        .bind(row)
        .bind(after.as_secs_f64())
        .execute(self.conn())
        .await?;
        Ok(())
    }

    pub async fn clear_due(&mut self, kind: DueKind, row: Uuid) -> Result<()> {
        self.clear_due_named(kind.as_str(), row).await
    }

    /// Clears a row that nothing in this build can handle.
    pub async fn clear_unknown_due(&mut self, kind: &UnknownKind, row: Uuid) -> Result<()> {
        self.clear_due_named(&kind.name, row).await
    }

    async fn clear_due_named(&mut self, kind: &str, row: Uuid) -> Result<()> {
        let casino = self.casino_str();
        sqlx::query("delete from due where casino_id = $1 and kind = $2 and row_id = $3")
            .bind(casino)
            .bind(kind)
            .bind(row)
            .execute(self.conn())
            .await?;
        Ok(())
    }
}

impl Store {
    /// Claims up to `most` due rows; no two schedulers hold the same one.
    pub async fn claim_due(&self, kinds: Kinds, most: i64, claim: Duration) -> Result<Vec<Due>> {
        let rows: Vec<(String, String, Uuid)> = sqlx::query_as(
            "update due set claimed_until = now() + make_interval(secs => $2)
             where (casino_id, kind, row_id) in (
               select casino_id, kind, row_id from due
               where due_at <= now() and (kind = 'delete') = $3 and (claimed_until is null or claimed_until < now())
               order by due_at limit $1 for update skip locked)
             returning casino_id, kind, row_id",
        )
        .bind(most)
        .bind(claim.as_secs_f64())
        .bind(kinds == Kinds::Deletions)
        .fetch_all(&mut *self.fleet().await?)
        .await?;
        rows.into_iter()
            .map(|(casino, name, row_id)| {
                let kind = name.parse().map_err(|_: Invalid| UnknownKind { name });
                Ok(Due {
                    casino: CasinoId::trusted(&casino)?,
                    kind,
                    row_id,
                })
            })
            .collect()
    }
}

//! Replays or discards one dead letter (D17).
//!
//! A replay takes two transactions. The first claims the letter and reopens the row that the letter
//! is about. The second publishes the letter and marks it as replayed. If the process dies in
//! between, the letter stays open with its claim. The next replay publishes under the id of the
//! same claim, and the bus accepts that id only once.

use std::time::Duration;

use seven_domain::{AuditEvent, CasinoId, DeadId, DeadState};
use seven_faults::failpoint;
use seven_runtime::{Error, Fleet};
use seven_store::{
    Tx,
    audit::Entry,
    dead::{DeadLetter, Locked},
};

use crate::reentry::{Reentry, Refusal};

const PUBLISH_DEADLINE: Duration = Duration::from_secs(5);

/// The outcome of replaying or discarding one letter.
#[derive(Debug, PartialEq, Eq)]
pub enum Did {
    Done,
    Refused(Refusal),
    /// Another person or process has handled the letter, or is handling it now.
    Elsewhere,
}

/// Returns the outcome that [`replay`] would have; writes nothing.
///
/// # Errors
/// Fails when a store is unreachable.
pub async fn judge(
    fleet: &Fleet,
    owner: &CasinoId,
    id: DeadId,
    wanted: Option<DeadState>,
) -> Result<Did, Error> {
    let mut tx = fleet.store.bind(owner).await?;
    let decided = decide(fleet, &mut tx, owner, id, wanted).await?;
    tx.rollback().await?;
    Ok(decided.map_or_else(|did| did, |_| Did::Done))
}

/// Locks the letter. Returns the letter and the message to publish, or the reason why the letter is
/// not replayed.
async fn decide(
    fleet: &Fleet,
    tx: &mut Tx,
    owner: &CasinoId,
    id: DeadId,
    wanted: Option<DeadState>,
) -> Result<Result<(Box<DeadLetter>, Reentry), Did>, Error> {
    let letter = match tx.lock_dead(id).await? {
        Locked::Letter(letter) if wanted.is_none_or(|wanted| wanted == letter.state) => letter,
        Locked::Letter(_) | Locked::Busy | Locked::Gone => return Ok(Err(Did::Elsewhere)),
    };
    if wanted.is_none() && letter.state == DeadState::Discarded {
        return Ok(Err(Did::Refused(Refusal::Discarded)));
    }
    Ok(match Reentry::of(fleet, owner, &letter).await? {
        Ok(reentry) => Ok((letter, reentry)),
        Err(refusal) => Err(Did::Refused(refusal)),
    })
}

/// Sends a letter back to the stage that failed, with the same identity and a fresh message id. The
/// letter must be in the state `wanted`; `None` accepts every state except discarded.
///
/// # Errors
/// Fails when a store or the bus is unreachable. The letter is then unchanged or claimed.
pub async fn replay(
    fleet: &Fleet,
    owner: &CasinoId,
    id: DeadId,
    wanted: Option<DeadState>,
    by: &str,
) -> Result<Did, Error> {
    let mut tx = fleet.store.bind(owner).await?;
    let (letter, reentry) = match decide(fleet, &mut tx, owner, id, wanted).await? {
        Ok(decided) => decided,
        Err(did) => return Ok(did),
    };
    tx.reopen_for_replay(&letter).await?;
    let claim = tx.claim_dead(id, fleet.ids.uuid(), by).await?;
    tx.commit().await?;
    failpoint!("dead.after_claim");

    let mut tx = fleet.store.bind(owner).await?;
    if !tx.holds_claim(id, claim).await? {
        return Ok(Did::Elsewhere);
    }
    fleet
        .bus
        .publish(
            &reentry.outgoing(format!("replay:{claim}"), &letter.trace),
            PUBLISH_DEADLINE,
        )
        .await?;
    failpoint!("dead.after_publish");
    tx.mark_replayed(id, by).await?;
    let subject = id.to_string();
    tx.audit(&entry(
        &letter,
        &subject,
        by,
        serde_json::json!({ "did": "replay", "stage": letter.stage, "claim": claim }),
    ))
    .await?;
    tx.commit().await?;
    Ok(Did::Done)
}

/// Marks a letter as not needed, with a reason. The letter stays visible until retention deletes
/// it.
///
/// # Errors
/// Fails when the store is unreachable.
pub async fn discard(
    fleet: &Fleet,
    owner: &CasinoId,
    id: DeadId,
    by: &str,
    reason: &str,
) -> Result<Did, Error> {
    let mut tx = fleet.store.bind(owner).await?;
    let letter = match tx.lock_dead(id).await? {
        Locked::Letter(letter) if letter.state != DeadState::Discarded => letter,
        Locked::Letter(_) | Locked::Busy | Locked::Gone => return Ok(Did::Elsewhere),
    };
    tx.mark_discarded(id, by).await?;
    let (subject, detail) = (
        id.to_string(),
        serde_json::json!({ "did": "discard", "stage": letter.stage, "reason": reason }),
    );
    tx.audit(&entry(&letter, &subject, by, detail)).await?;
    tx.commit().await?;
    Ok(Did::Done)
}

/// Returns the audit entry of one letter.
fn entry<'a>(
    letter: &'a DeadLetter,
    subject: &'a str,
    by: &'a str,
    detail: serde_json::Value,
) -> Entry<'a> {
    Entry {
        trace: Some(&letter.trace),
        ..Entry::of(AuditEvent::DeadLetterHandled, by, subject, detail)
    }
}

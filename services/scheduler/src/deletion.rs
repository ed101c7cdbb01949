//! Deletes guests' data: first the copies outside Postgres, then every row in one transaction.
//! Every step may be repeated, because a deletion starts again after a crash.

mod unread;

use std::time::Duration;

use seven_bus::topology;
use seven_domain::{Address, CasinoId, DeletionState, Stage};
use seven_runtime::{Error, Fleet};
use seven_store::due::{Due, DueKind, Kinds};
use uuid::Uuid;

use self::unread::Read;
use crate::mutant;

/// Wait between two checks for unsent texts. The confirmation of the deletion must be sent before
/// the rows that contain it are deleted.
const UNSENT_RETRY_DELAY: Duration = Duration::from_secs(2);
/// Maximum time that a deletion waits for a text that cannot be sent.
const UNSENT_TIMEOUT: Duration = Duration::from_secs(600);
/// Wait between two checks whether the gate has read the guest's texts.
const UNREAD_RETRY_DELAY: Duration = Duration::from_secs(2);
const BATCH: i64 = 20;
/// After this time, another process may claim the same deletion.
const CLAIM_TTL: Duration = Duration::from_secs(600);

/// Runs the due deletions one after the other. They have a separate loop, because searching streams
/// may take a while.
pub(crate) async fn round(fleet: Fleet) -> Result<(), Error> {
    let due = fleet
        .store
        .claim_due(Kinds::Deletions, BATCH, CLAIM_TTL)
        .await?;
    crate::rounds::each_of(due, |row| &row.casino, |row| forget(&fleet, row)).await
}

/// Runs one deletion, then clears its due row. If it is too early for the deletion, postpones the
/// row.
async fn forget(fleet: &Fleet, row: Due) -> Result<(), Error> {
    let wait = run(fleet, &row.casino, row.row_id).await?;
    let mut tx = fleet.store.bind(&row.casino).await?;
    match wait {
        Some(wait) => tx.put_due(DueKind::Delete, row.row_id, wait).await?,
        None => tx.clear_due(DueKind::Delete, row.row_id).await?,
    }
    Ok(tx.commit().await?)
}

/// Runs the deletion. Returns how long to wait if it is too early; `None` if nothing is left to do.
async fn run(fleet: &Fleet, casino: &CasinoId, id: Uuid) -> Result<Option<Duration>, Error> {
    let mut tx = fleet.store.bind(casino).await?;
    let Some(deletion) = tx
        .deletion(id)
        .await?
        .filter(|d| matches!(d.state, DeletionState::Pending | DeletionState::Running))
    else {
        return Ok(None);
    };
    let guest = deletion
        .guest()
        .ok_or_else(|| Error::Other("a deletion's hash is not 32 bytes".into()))?;
    if deletion.state == DeletionState::Pending {
        let read = if mutant::erases_unread() {
            tx.commit().await?;
            Read::All
        } else {
            unread::before_destroying(fleet, tx, casino, &deletion).await?
        };
        match read {
            Read::All => {}
            Read::Waits => {
                return Ok(Some(
                    fleet
                        .timing
                        .scaled(UNREAD_RETRY_DELAY)
                        .max(Duration::from_millis(200)),
                ));
            }
            Read::TakenBack => return Ok(None),
        }
        tx = fleet.store.bind(casino).await?;
        // The gate may have read a KEEP meanwhile, which withdraws the deletion.
        if tx
            .deletion(id)
            .await?
            .is_none_or(|now| now.state != DeletionState::Pending)
        {
            return Ok(None);
        }
    }
    let Some(remains) = tx.start_deletion(id, deletion.guest_id).await? else {
        // The guest's row is gone: an earlier run has already searched by the phone number and
        // deleted what it found.
        tx.erase(
            &deletion,
            &guest,
            None,
            fleet.clock.now(),
            &serde_json::json!({}),
            &fleet.keys,
        )
        .await?;
        tx.commit().await?;
        return Ok(None);
    };
    tx.commit().await?;
    let waited = (fleet.clock.now() - deletion.due_at)
        .to_std()
        .unwrap_or_default();
    if remains.unsent > 0 && waited < UNSENT_TIMEOUT {
        return Ok(Some(
            fleet
                .timing
                .scaled(UNSENT_RETRY_DELAY)
                .max(Duration::from_millis(200)),
        ));
    }
    let address = remains.address()?;
    let elsewhere = serde_json::json!({
        "ingress_stream": erase(
            fleet,
            topology::stream_of(Stage::Gate),
            &seven_bus::subject(Stage::Gate, casino, None),
            &address,
        ).await?,
        "dead_letter_stream": erase(
            fleet,
            topology::DEAD_STREAM,
            &format!("dead.*.{casino}"),
            &address,
        ).await?,
        "unknown_letter_stream": erase(
            fleet,
            topology::DEAD_STREAM,
            &format!("dead.*.{}", CasinoId::unknown()),
            &address,
        ).await?,
        "unknown_letters": letters(fleet, &CasinoId::unknown(), &address).await?,
        "letters": letters(fleet, casino, &address).await?,
    });
    let mut tx = fleet.store.bind(casino).await?;
    let counts = tx
        .erase(
            &deletion,
            &guest,
            Some(&address.text()),
            fleet.clock.now(),
            &elsewhere,
            &fleet.keys,
        )
        .await?;
    tx.commit().await?;
    if let Some(counts) = counts {
        tracing::info!(%casino, deletion_id = %id, %counts, "a guest was forgotten");
    }
    Ok(None)
}

/// Returns the spellings of the address: as events write it and, for a phone, also as Twilio's raw
/// webhooks write it, with the plus encoded as %2B.
fn spellings(address: &Address) -> Vec<Vec<u8>> {
    let raw = address.phone().map(|phone| {
        let digits = phone.as_str().trim_start_matches('+');
        format!("%2B{digits}").into_bytes()
    });
    std::iter::once(address.text().into_bytes())
        .chain(raw)
        .collect()
}

async fn erase(
    fleet: &Fleet,
    stream: &str,
    subject: &str,
    address: &Address,
) -> Result<u64, Error> {
    let mut erased = 0;
    for spelling in spellings(address) {
        erased += fleet.bus.erase_holding(stream, subject, &spelling).await?;
    }
    Ok(erased)
}

/// Deletes dead letters with this address: texts to a number that belonged to no casino, and
/// raw webhook bodies.
async fn letters(fleet: &Fleet, owner: &CasinoId, address: &Address) -> Result<u64, Error> {
    let mut tx = fleet.store.bind(owner).await?;
    let erased = tx.erase_letters(&spellings(address)).await?;
    tx.commit().await?;
    Ok(erased)
}

//! One guest forgotten (SEC-77 to SEC-79, DATA-57): first what stands outside Postgres, then every row in one transaction. Each step may
//! be repeated; a crash in between leaves the due row, and the job begins again.

use std::time::Duration;

use seven_bus::topology;
use seven_domain::{CasinoId, PhoneE164, Stage};
use seven_runtime::{Error, Fleet, failpoint};
use uuid::Uuid;

/// The guest's own confirmation goes out before the rows that carry it are removed.
const WAIT_FOR_TEXTS: Duration = Duration::from_secs(2);
/// A text that will not leave holds nothing up for longer than this.
const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// Works on the request; returns how long to wait when it is too early, none when nothing is left to do.
pub(crate) async fn run(fleet: &Fleet, casino: &CasinoId, id: Uuid) -> Result<Option<Duration>, Error> {
    let mut tx = fleet.store.bind(casino).await?;
    let Some(deletion) = tx.deletion(id).await?.filter(|d| matches!(d.state.as_str(), "pending" | "running")) else {
        return Ok(None);
    };
    let guest = deletion.guest().ok_or_else(|| Error::Other("a deletion's hash is not 32 bytes".into()))?;
    let Some(remains) = tx.start_deletion(id, deletion.guest_id).await? else {
        // No row, no phone: all that could be found by it is gone.
        tx.erase(&deletion, &guest, None, fleet.clock.now(), &serde_json::json!({}), &fleet.keys).await?;
        tx.commit().await?;
        return Ok(None);
    };
    tx.commit().await?;
    let waited = (fleet.clock.now() - deletion.requested_at).to_std().unwrap_or_default();
    if remains.unsent > 0 && waited < LONGEST_WAIT {
        return Ok(Some(fleet.timing.scaled(WAIT_FOR_TEXTS).max(Duration::from_millis(200))));
    }
    failpoint("scheduler.before_erasing_streams");
    let phone: PhoneE164 = remains.phone.parse()?;
    let elsewhere = serde_json::json!({
        "ingress_stream": erase(fleet, topology::stream_of(Stage::Gate), &seven_bus::subject(Stage::Gate, casino, None), &phone).await?,
        "dead_letter_stream": erase(fleet, topology::DEAD_STREAM, &format!("dead.*.{casino}"), &phone).await?,
    });
    failpoint("scheduler.before_erasing_rows");
    let mut tx = fleet.store.bind(casino).await?;
    let counts = tx.erase(&deletion, &guest, Some(phone.as_str()), fleet.clock.now(), &elsewhere, &fleet.keys).await?;
    tx.commit().await?;
    tracing::info!(%casino, deletion_id = %id, %counts, "a guest was forgotten");
    Ok(None)
}

async fn erase(fleet: &Fleet, stream: &str, subject: &str, phone: &PhoneE164) -> Result<u64, Error> {
    Ok(fleet.bus.erase_holding(stream, subject, phone.as_str().as_bytes()).await?)
}

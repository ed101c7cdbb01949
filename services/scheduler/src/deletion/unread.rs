//! Makes sure that the guest's texts are read before a deletion. The bus may still hold a KEEP or a
//! cry for help that the gate has not read.

use chrono::TimeDelta;
use prost::Message;
use seven_bus::events::InboundText;
use seven_compliance::dialogue::keeps_data;
use seven_domain::{CasinoId, GuestId, Stage};
use seven_runtime::{Error, Fleet};
use seven_store::{Tx, deletions::Deletion};
use seven_telemetry::Alert;

use crate::cry::open_case;

/// If the gate has not read the texts within this time, operators get an alert, and the scheduler
/// reads the guest's texts itself.
const UNREAD_TIMEOUT: TimeDelta = TimeDelta::hours(1);

/// Whether the guest's texts on the bus have been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Read {
    All,
    /// Some texts are not read yet; check again later.
    Waits,
    /// The guest withdrew the deletion.
    TakenBack,
}

/// Checks whether the gate has read all of the guest's texts that were on the bus when the deletion
/// became due. After `UNREAD_TIMEOUT`, or if the casino has no gate, [`read_here`] reads them. A
/// KEEP among them withdraws the deletion. Commits `tx`.
pub(super) async fn before_destroying(
    fleet: &Fleet,
    mut tx: Tx,
    casino: &CasinoId,
    deletion: &Deletion,
) -> Result<Read, Error> {
    let last = fleet.bus.last_sequence(Stage::Gate).await?;
    let (read_to, since) = tx
        .read_before_deletion(
            deletion.deletion_id,
            i64::try_from(last).unwrap_or(i64::MAX),
        )
        .await?;
    tx.commit().await?;
    // Without a consumer, the casino has no gate that could read its texts.
    let Some(floor) = fleet.bus.read_up_to(Stage::Gate, casino).await? else {
        return read_here(fleet, casino, deletion, 0).await;
    };
    if floor >= u64::try_from(read_to).unwrap_or_default() {
        return Ok(Read::All);
    }
    let longest = fleet
        .timing
        .scaled(UNREAD_TIMEOUT.to_std().unwrap_or_default());
    if fleet.clock.now() - since < TimeDelta::from_std(longest).unwrap_or(UNREAD_TIMEOUT) {
        return Ok(Read::Waits);
    }
    let text = "no gate has read this casino's texts for an hour; a deletion that is due waits, and its guest's texts are read by the scheduler";
    Alert {
        name: "deletion_unread",
        casino: casino.as_str(),
        provider: "",
        code: "",
        text,
    }
    .raise();
    read_here(fleet, casino, deletion, floor).await
}

/// Reads the guest's texts after the stream position `floor`. A KEEP withdraws the deletion. A cry
/// for help opens its case, and the deletion waits until the gate has answered the cry.
async fn read_here(
    fleet: &Fleet,
    casino: &CasinoId,
    deletion: &Deletion,
    floor: u64,
) -> Result<Read, Error> {
    let guest = deletion
        .guest()
        .ok_or_else(|| Error::Other("a deletion's hash is not 32 bytes".into()))?;
    let mut tx = fleet.store.bind(casino).await?;
    let guest_id = GuestId(deletion.guest_id);
    let (address, row) = (tx.address_of(guest_id).await?, tx.casino_row().await?);
    let (Some(address), Some(row)) = (address, row) else {
        return Ok(Read::All);
    };
    let address = address.text();
    let rails = fleet.packs.of(&row.config)?.guardrails();
    let unread = fleet
        .bus
        .holding_after(Stage::Gate, casino, floor, address.as_bytes())
        .await?;
    let mut read = Read::All;
    for text in unread
        .iter()
        .filter_map(|payload| InboundText::decode(payload.as_ref()).ok())
    {
        if text.from != address {
            continue;
        }
        if keeps_data(&text.text) {
            tx.withdraw_deletion(&guest, guest_id).await?;
            tx.commit().await?;
            return Ok(Read::TakenBack);
        }
        let cry = rails
            .decide(&text.text)
            .hits
            .iter()
            .map(|hit| hit.layer)
            .find(|layer| layer.is_urgent());
        if let Some(layer) = cry {
            let id = deletion.deletion_id;
            if open_case(&mut tx, id, &guest, Some(guest_id), layer).await? {
                tracing::error!(
                    %casino,
                    deletion_id = %id,
                    layer = layer.as_str(),
                    "an urgent text was not read by any gate; the guest's deletion waits"
                );
            }
            read = Read::Waits;
        }
    }
    tx.commit().await?;
    Ok(read)
}

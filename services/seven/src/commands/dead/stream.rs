//! Dead letters whose rows are gone, but whose announcements are still in the dead-letter stream
//! (kept for 30 days).

use anyhow::Result;
use prost::Message;
use seven_bus::{Taken, events::DeadLetter, subjects_of_dead, topology::DEAD_STREAM};
use seven_domain::{CasinoId, Stage};
use seven_runtime::{Error, Fleet};
use seven_scheduler::dead::row_of;
use seven_store::{Tx, dead::NewDead};

use super::select::Part;

const BATCH: usize = 200;

/// Returns the announced dead letters that have no row, by casino and stage.
pub(super) async fn lost(fleet: &Fleet, parts: &[Part]) -> Result<Vec<(CasinoId, Stage)>> {
    let mut lost = std::collections::BTreeSet::new();
    each(fleet, parts, async |tx, dead| {
        if !tx.has_dead(dead.stage, &dead.message_key).await? {
            // The same message may have been announced more than once.
            lost.insert((
                tx.casino().clone(),
                dead.message_key.clone(),
                dead.stage.as_str(),
            ));
        }
        Ok(())
    })
    .await?;
    Ok(lost
        .into_iter()
        .map(|(casino, _, stage)| Ok((casino, stage.parse()?)))
        .collect::<Result<_, Error>>()?)
}

/// Restores the rows of the announced dead letters, in the open state.
pub(super) async fn refile(fleet: &Fleet, parts: &[Part]) -> Result<()> {
    each(fleet, parts, async |tx, dead| {
        tx.refile_dead(dead).await?;
        Ok(())
    })
    .await
}

/// Calls `act` for every announcement that the filters match, in order.
async fn each(
    fleet: &Fleet,
    parts: &[Part],
    mut act: impl AsyncFnMut(&mut Tx, &NewDead) -> Result<(), Error>,
) -> Result<()> {
    for part in parts {
        let mut reader = fleet
            .bus
            .read(
                DEAD_STREAM,
                &subjects_of_dead(part.filter.stage, Some(&part.owner)),
            )
            .await?;
        loop {
            let messages = reader.next(BATCH).await?;
            if messages.is_empty() {
                break;
            }
            let mut tx = fleet.store.bind(&part.owner).await?;
            for message in &messages {
                if let Some(dead) = row(fleet, &mut tx, message).await?
                    && part.filter.matches(&dead)
                {
                    act(&mut tx, &dead).await?;
                }
            }
            tx.commit().await?;
        }
    }
    Ok(())
}

/// Returns the row that an announcement describes. Returns `None` if the announcement cannot be
/// read or belongs to another casino. An unreadable announcement stays in the stream.
async fn row(fleet: &Fleet, tx: &mut Tx, message: &Taken) -> Result<Option<NewDead>, Error> {
    let Ok(letter) = DeadLetter::decode(message.payload()) else {
        return Ok(None);
    };
    if letter.casino != tx.casino().as_str() {
        return Ok(None);
    }
    match row_of(fleet, tx, &letter, message.trace(), message.published()).await {
        Ok(dead) => Ok(Some(dead)),
        Err(Error::Event(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

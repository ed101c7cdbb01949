//! Replays and discards dead letters as people ordered on the console's pages. The console cannot
//! publish to the stages itself.

use seven_dead_letters::{Did, discard, replay};
use seven_domain::{CasinoId, DeadId, DeadOrder};
use seven_runtime::{Error, Fleet};
use seven_store::dead::Waiting;

use crate::rounds;

/// Maximum number of orders that one round carries out for a casino. At one round a second, this is
/// the default rate of `seven dead replay`.
const BATCH: i64 = 5;
/// Refusal code of an order that failed, if another try in a later round would not help.
const FAILED: &str = "failed";

pub(crate) async fn round(fleet: Fleet) -> Result<(), Error> {
    let casinos = fleet.store.dead_order_owners().await?;
    rounds::each(casinos, |casino| of_casino(fleet.clone(), casino)).await
}

async fn of_casino(fleet: Fleet, casino: CasinoId) -> Result<(), Error> {
    let mut tx = fleet.store.bind(&casino).await?;
    let orders = tx.dead_orders(BATCH).await?;
    tx.commit().await?;
    for order in orders {
        carry_out(&fleet, &casino, &order).await?;
    }
    Ok(())
}

/// Carries out one order. An unreachable store or bus leaves it for the next round.
async fn carry_out(fleet: &Fleet, casino: &CasinoId, order: &Waiting) -> Result<(), Error> {
    let (id, by) = (DeadId(order.dead_id), &order.asked_by);
    let did = match order.asked {
        DeadOrder::Replay => replay(fleet, casino, id, None, by).await,
        DeadOrder::Discard => discard(fleet, casino, id, by, &order.asked_reason).await,
    };
    let refused = match did {
        Ok(Did::Done | Did::Elsewhere) => return Ok(()),
        Ok(Did::Refused(refusal)) => refusal.code(),
        Err(Error::Store(error)) if error.is_contended() => return Ok(()),
        Err(error) if error.is_away() => return Err(error),
        Err(error) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "an order for a dead letter failed"
            );
            FAILED
        }
    };
    let mut tx = fleet.store.bind(casino).await?;
    tx.refuse_dead_order(id, refused).await?;
    tx.commit().await?;
    Ok(())
}

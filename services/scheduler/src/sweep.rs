//! Repeats the signal, with a new message id, for rows whose next step never happened (D3). It acts
//! sooner after a store was unreachable, because commits (D23) or signals may be lost.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};
use seven_domain::{Queue, Stage};
use seven_runtime::{Error, Fleet};
use seven_store::fleet::Swept;
use seven_telemetry::{metrics, trace};
use tokio::time::Instant;

const PER_CASINO: i32 = 200;
/// Once a store is reachable again, rows that have waited for at least this long are swept at once.
/// Their signal is probably lost.
const SIGNAL_LOST_AFTER: Duration = Duration::from_secs(1);
/// For this long after its return, a store counts as just back, because workers reconnect one after
/// the other.
const RECONNECTED_FOR: Duration = Duration::from_secs(6);

/// The values found at the last check: the database's start time, and how often we had connected to
/// the bus. Also holds when one of the two last changed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stores(Arc<Mutex<Option<Known>>>);

#[derive(Debug, Clone, Copy)]
struct Known {
    database: DateTime<Utc>,
    bus: u64,
    /// When `database` or `bus` last changed; `None` if neither has since this process first
    /// checked.
    since: Option<Instant>,
}

impl Stores {
    /// Returns whether the database or the bus has become reachable again just now.
    fn came_back(&self, database: DateTime<Utc>, bus: u64, now: Instant) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.get_or_insert(Known {
            database,
            bus,
            since: None,
        });
        if (known.database, known.bus) != (database, bus) {
            *known = Known {
                database,
                bus,
                since: Some(now),
            };
        }
        known
            .since
            .is_some_and(|since| now.saturating_duration_since(since) < RECONNECTED_FOR)
    }
}

pub(crate) async fn round(fleet: Fleet, stores: Stores) -> Result<(), Error> {
    // While the bus is away, no sweep runs: it could publish no signal but would postpone the rows'
    // next sweep.
    if !fleet.bus.ready().await {
        return Ok(());
    }
    if stores.came_back(
        fleet.store.up_since().await?,
        fleet.bus.connections(),
        Instant::now(),
    ) {
        let rows = fleet.store.hasten(SIGNAL_LOST_AFTER).await?;
        if rows > 0 {
            tracing::info!(
                rows,
                "a store is reachable again; rows whose signals were lost are swept at once"
            );
        }
    }
    let longest = fleet.timing.sweep().longest;
    for stage in [Stage::Swarm, Stage::Envelope, Stage::Sender] {
        for row in fleet.store.sweep(stage, longest, PER_CASINO).await? {
            metrics().swept.with_label_values(&[stage.as_str()]).inc();
            let copy = Some(format!("sweep:{}", fleet.ids.uuid()));
            // The sweep adds a span to the text's trace, which shows that a signal was lost.
            trace::resume(
                "sweep",
                &row.casino,
                &row.trace,
                signal(&fleet, stage, &row, copy),
            )
            .await?;
        }
    }
    Ok(())
}

async fn signal(
    fleet: &Fleet,
    stage: Stage,
    row: &Swept,
    copy: Option<String>,
) -> Result<(), Error> {
    trace::set("seven.swept_stage", stage.as_str());
    match stage {
        Stage::Swarm => {
            fleet
                .bus
                .signal_conversation(
                    &row.casino,
                    row.conversation_id,
                    row.row_id,
                    copy,
                    &row.trace,
                )
                .await?;
        }
        Stage::Envelope => {
            fleet
                .bus
                .signal_draft(&row.casino, row.row_id, copy, &row.trace)
                .await?;
        }
        _ => {
            fleet
                .bus
                .signal_outbound(
                    &row.casino,
                    row.row_id,
                    row.queue.unwrap_or(Queue::Reply),
                    copy,
                    &row.trace,
                )
                .await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // D23
    fn a_store_came_back_lately_when_it_started_anew_or_was_connected_to_again() {
        let (stores, at, began) = (
            Stores::default(),
            DateTime::<Utc>::UNIX_EPOCH,
            Instant::now(),
        );
        let later = at + chrono::TimeDelta::seconds(1);
        for (database, bus, after, wanted, why) in [
            (at, 1, 0, false, "our own start"),
            (at, 1, 6, false, "long ago"),
            (later, 1, 10, true, "another database"),
            (later, 1, 13, true, "a moment ago"),
            (later, 1, 16, false, "long ago"),
            (later, 2, 17, true, "connected again"),
            (later, 2, 23, false, "long ago"),
        ] {
            assert_eq!(
                stores.came_back(database, bus, began + Duration::from_secs(after)),
                wanted,
                "{why} at {after}"
            );
        }
    }
}

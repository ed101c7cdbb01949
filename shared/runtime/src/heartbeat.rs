//! Every second, a worker writes a heartbeat for `seven status`: to Postgres, and to NATS for
//! readers while Postgres is unreachable.

use std::time::Duration;

use seven_bus::events::WorkerBeat;
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::Fleet;

const HEARTBEAT_PERIOD: Duration = Duration::from_secs(1);

/// Writes heartbeats until the fleet's shutdown, then removes the worker's row. If a store is
/// unreachable, only its heartbeats are lost.
pub async fn beat(fleet: Fleet, name: &str) {
    let instance = format!(
        "{}-{}",
        std::process::id(),
        &fleet.ids.uuid().simple().to_string()[20..]
    );
    let stored = async {
        let mut ticks = seconds();
        loop {
            ticks.tick().await;
            if let Err(error) = fleet
                .store
                .beat(&instance, name, env!("CARGO_PKG_VERSION"))
                .await
            {
                tracing::debug!(
                    error = &error as &dyn std::error::Error,
                    "the heartbeat could not be written"
                );
            }
        }
    };
    let told = async {
        let (mut ticks, beat) = (
            seconds(),
            WorkerBeat {
                worker: name.to_owned(),
                instance: instance.clone(),
            },
        );
        loop {
            ticks.tick().await;
            fleet.bus.beat(&beat).await;
        }
    };
    // Both run concurrently, because a call to an unreachable database takes seconds to fail.
    let beating = async { tokio::select!(() = stored => {}, () = told => {}) };
    fleet.shutdown.run_until_cancelled(beating).await;
    drop(fleet.store.sign_off(&instance, name).await);
}

fn seconds() -> Interval {
    let mut ticks = interval(HEARTBEAT_PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

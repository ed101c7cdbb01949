//! A worker says every second that it lives, for `seven status`.

use std::time::Duration;

use seven_runtime::Fleet;
use tokio::time::{MissedTickBehavior, interval};

use crate::wiring::Worker;

const PERIOD: Duration = Duration::from_secs(1);

/// Beats until the fleet's shutdown, then signs off. A database that is away costs beats, nothing else.
pub(crate) async fn beat(fleet: Fleet, worker: Worker) {
    let instance = format!("{}-{}", std::process::id(), &fleet.ids.uuid().simple().to_string()[20..]);
    let name = worker.name();
    let mut ticks = interval(PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = fleet.shutdown.cancelled() => break,
            _ = ticks.tick() => {}
        }
        if let Err(error) = fleet.store.beat(&instance, name, env!("CARGO_PKG_VERSION")).await {
            tracing::debug!(error = &error as &dyn std::error::Error, "no beat could be written");
        }
    }
    drop(fleet.store.sign_off(&instance, name).await);
}

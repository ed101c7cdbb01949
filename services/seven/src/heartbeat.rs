//! A worker says every second that it lives, for `seven status`.

use std::time::Duration;

use clap::ValueEnum;
use seven_runtime::Fleet;
use tokio::time::{MissedTickBehavior, interval};

use crate::wiring::Worker;

const PERIOD: Duration = Duration::from_secs(1);

/// The worker's name, as `seven run` takes it.
pub(crate) fn name(worker: Worker) -> String {
    worker.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Beats until the fleet's shutdown, then signs off. A database that is away costs beats, nothing else.
pub(crate) async fn beat(fleet: Fleet, worker: Worker) {
    let instance = format!("{}-{}", std::process::id(), &fleet.ids.uuid().simple().to_string()[20..]);
    let name = name(worker);
    let mut ticks = interval(PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = fleet.shutdown.cancelled() => break,
            _ = ticks.tick() => {}
        }
        if let Err(error) = fleet.store.beat(&instance, &name, env!("CARGO_PKG_VERSION")).await {
            tracing::debug!(error = &error as &dyn std::error::Error, "no beat could be written");
        }
    }
    drop(fleet.store.sign_off(&instance, &name).await);
}

//! A worker says every second that it lives, for `seven status`: to Postgres, and to whoever listens on NATS while Postgres is away.

use std::time::Duration;

use seven_bus::events::WorkerBeat;
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::Fleet;

const PERIOD: Duration = Duration::from_secs(1);

/// Beats until the fleet's shutdown, then signs off. A store that is away costs beats there, nothing else.
pub async fn beat(fleet: Fleet, name: &str) {
    let instance = format!("{}-{}", std::process::id(), &fleet.ids.uuid().simple().to_string()[20..]);
    let stored = async {
        let mut ticks = seconds();
        loop {
            ticks.tick().await;
            if let Err(error) = fleet.store.beat(&instance, name, env!("CARGO_PKG_VERSION")).await {
                tracing::debug!(error = &error as &dyn std::error::Error, "no beat could be written");
            }
        }
    };
    let told = async {
        let (mut ticks, beat) = (seconds(), WorkerBeat { worker: name.to_owned(), instance: instance.clone() });
        loop {
            ticks.tick().await;
            fleet.bus.beat(&beat).await;
        }
    };
    // Side by side: a database that is away takes seconds to say so.
    let beating = async { tokio::select!(() = stored => {}, () = told => {}) };
    fleet.shutdown.run_until_cancelled(beating).await;
    drop(fleet.store.sign_off(&instance, name).await);
}

fn seconds() -> Interval {
    let mut ticks = interval(PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

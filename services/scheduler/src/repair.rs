//! Streams, consumers, bucket and mirror, put back when they are gone (D14, D16), and the roster this process works by.

use seven_bus::{events::Control, topology};
use seven_runtime::{Error, Fleet};
use seven_store::fleet::RosterEntry;
use seven_telemetry::metrics;

pub(crate) async fn round(fleet: Fleet) -> Result<(), Error> {
    let roster = fleet.store.roster().await?;
    for created in fleet.bus.ensure_streams().await? {
        tracing::warn!(what = created, "was gone; created anew");
        metrics().repairs.with_label_values(&["stream"]).inc();
    }
    for stage in topology::CONSUMING {
        let present = fleet.bus.consumers(stage).await?;
        for casino in roster.iter().map(|entry| &entry.casino) {
            for lane in topology::lanes_of(stage) {
                let name = topology::consumer_name(stage, casino, *lane);
                if present.contains(&name) {
                    continue;
                }
                let start =
                    fleet.store.oldest_open(casino, stage).await?.map_or(topology::Start::All, topology::Start::At);
                fleet.bus.create_consumer(stage, casino, *lane, start).await?;
                tracing::warn!(consumer = name, "was gone; created anew");
                metrics().repairs.with_label_values(&["consumer"]).inc();
            }
        }
    }
    for entry in roster {
        let control = control(entry);
        if fleet.bus.mirror(&control).await? {
            metrics().repairs.with_label_values(&["mirror"]).inc();
        }
        fleet.roster.put(control);
    }
    Ok(())
}

/// A casino's row as the bucket mirrors it (D14).
pub fn control(entry: RosterEntry) -> Control {
    Control {
        casino: entry.casino.to_string(),
        active: entry.active,
        config_version: entry.config_version,
        content_version: entry.content_version,
        numbers: entry.numbers,
        paused: entry.paused,
    }
}

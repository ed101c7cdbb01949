//! Streams, consumers, bucket and mirror, put back when they are gone (D14, D16), and the roster this process works by.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use seven_bus::{events::Control, topology};
use seven_runtime::{Error, Fleet};
use seven_store::fleet::RosterEntry;
use seven_telemetry::metrics;
use tokio::time::Instant;

/// What the bucket was told, and when: it is told again when that changes, when the bucket was gone, and every half minute in case somebody
/// took a key out of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mirrored(Arc<Mutex<HashMap<String, (Control, Instant)>>>);

impl Mirrored {
    fn stands(&self, control: &Control, for_long: Duration) -> bool {
        let told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.get(&control.casino).is_some_and(|(known, since)| known == control && since.elapsed() < for_long)
    }

    fn told(&self, control: &Control) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.insert(control.casino.clone(), (control.clone(), Instant::now()));
    }

    fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

pub(crate) async fn round(fleet: Fleet, mirrored: Mirrored) -> Result<(), Error> {
    let roster = fleet.store.roster().await?;
    for created in fleet.bus.ensure_streams().await? {
        tracing::warn!(what = created, "was gone; created anew");
        mirrored.forget();
        metrics().repairs.with_label_values(&["stream"]).inc();
    }
    for stage in topology::CONSUMING {
        let present: HashSet<String> = fleet.bus.consumers(stage).await?.into_iter().collect();
        for casino in roster.iter().map(|entry| &entry.casino) {
            for lane in topology::lanes_of(stage) {
                let name = topology::consumer_name(stage, casino, *lane);
                if present.contains(&name) {
                    continue;
                }
                let start =
                    fleet.store.oldest_open(casino, stage).await?.map_or(topology::Start::All, topology::Start::At);
                if fleet.bus.create_consumer(stage, casino, *lane, start).await? {
                    tracing::warn!(consumer = name, "was gone; created anew");
                    metrics().repairs.with_label_values(&["consumer"]).inc();
                }
            }
        }
    }
    for entry in roster {
        let control = control(entry);
        if !mirrored.stands(&control, fleet.timing.mirror_check()) {
            if fleet.bus.mirror(&control).await? {
                metrics().repairs.with_label_values(&["mirror"]).inc();
            }
            mirrored.told(&control);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mirror_is_compared_when_it_changed_is_old_or_was_lost() {
        let (mirrored, hour) = (Mirrored::default(), Duration::from_secs(3_600));
        let control = Control { casino: "here".into(), active: true, ..Control::default() };
        assert!(!mirrored.stands(&control, hour));
        mirrored.told(&control);
        assert!(mirrored.stands(&control, hour));
        assert!(!mirrored.stands(&control, Duration::ZERO), "old");
        assert!(!mirrored.stands(&Control { active: false, ..control.clone() }, hour), "changed");
        mirrored.forget();
        assert!(!mirrored.stands(&control, hour), "lost");
    }
}

//! Restores lost streams and consumers, and the bucket that holds a copy of the controls (D14,
//! D16). It also updates this process's roster (its list of casinos).

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};
use futures::{StreamExt, TryStreamExt, stream};
use seven_bus::{
    Floor, StreamState,
    events::Control,
    topology::{self, Start},
};
use seven_domain::{CasinoId, Queue, Stage};
use seven_runtime::{Error, Fleet};
use seven_store::{
    fleet::{HandedOn, RosterEntry},
    floors::AckFloor,
};
use seven_telemetry::metrics;
use tokio::time::Instant;

use crate::floors::{NOTED, Noted};

/// The order in which lost consumers are restored. Those of the sender come first, beginning with
/// the queue of answers to cries. Those of the gate come next, because guests' texts may be STOPs.
const ORDER: [Stage; 5] = [
    Stage::Sender,
    Stage::Gate,
    Stage::Swarm,
    Stage::Envelope,
    Stage::Receipts,
];
/// Number of consumers that are restored at the same time. After a restart of NATS, the consumers
/// of all casinos may be missing.
const AT_ONCE: usize = 8;

/// For each casino, the control (its switches and versions) that was last copied to the bucket, and
/// when. It is copied again if it changes or the bucket is lost. It is also copied every 30
/// seconds, in case somebody deleted its key.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mirrored(Arc<Mutex<HashMap<String, (Control, Instant)>>>);

impl Mirrored {
    fn stands(&self, control: &Control, for_long: Duration) -> bool {
        let told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.get(&control.casino)
            .is_some_and(|(known, since)| known == control && since.elapsed() < for_long)
    }

    fn told(&self, control: &Control) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.insert(control.casino.clone(), (control.clone(), Instant::now()));
    }

    fn forget(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }
}

/// For each stage, the last [`Seen`] for which no consumer was missing, and when that was.
/// Consumers are listed again if `Seen` changes, and every 30 seconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Complete(Arc<Mutex<HashMap<Stage, (Seen, Instant)>>>);

/// Values that change if a consumer, a stream or a casino is added or lost.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    consumers: usize,
    made: DateTime<Utc>,
    casinos: Arc<[CasinoId]>,
}

impl Complete {
    fn stands(&self, stage: Stage, now: &Seen, for_long: Duration) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known
            .get(&stage)
            .is_some_and(|(seen, since)| seen == now && since.elapsed() < for_long)
    }

    fn note(&self, stage: Stage, now: Seen) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(stage, (now, Instant::now()));
    }
}

/// The casinos for which a round failed, with the errors.
#[derive(Debug, Default)]
struct Failures(Mutex<Vec<(CasinoId, Error)>>);

impl Failures {
    /// Notes a casino's failure, so that the round goes on. If a store or the bus is unreachable,
    /// returns the error, which ends the round: no single casino is at fault.
    async fn unless(
        &self,
        fleet: &Fleet,
        casino: &CasinoId,
        outcome: Result<(), Error>,
    ) -> Result<(), Error> {
        match outcome {
            Err(error) if !error.is_away() && fleet.bus.ready().await => {
                self.0
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push((casino.clone(), error));
                Ok(())
            }
            other => other,
        }
    }

    fn told(self) -> Result<(), Error> {
        crate::rounds::casinos_failed(self.0.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

pub(crate) async fn round(
    fleet: Fleet,
    mirrored: Mirrored,
    complete: Complete,
    floors: Noted,
) -> Result<(), Error> {
    let roster = fleet.store.roster().await?;
    let streams = fleet.bus.ensure_streams().await?;
    for created in &streams.created {
        tracing::warn!(
            what = created,
            "stream or consumer was missing; created again"
        );
        mirrored.forget();
        metrics().repairs.with_label_values(&["stream"]).inc();
    }
    let casinos: Arc<[CasinoId]> = roster.iter().map(|entry| entry.casino.clone()).collect();
    let failures = Failures::default();
    for stage in ORDER {
        let Some(found) = streams.found(stage) else {
            continue;
        };
        // `found` was read before the consumers are listed. If a consumer is lost in between, the
        // next round sees a different number of consumers and lists them again.
        let now = Seen {
            consumers: found.consumers,
            made: found.made,
            casinos: Arc::clone(&casinos),
        };
        if complete.stands(stage, &now, fleet.timing.mirror_check()) {
            continue;
        }
        if consumers(&fleet, (stage, found), &casinos, &failures).await? {
            complete.note(stage, now);
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
    for stage in NOTED {
        if let Some(found) = streams.found(stage) {
            floors
                .follow(&fleet, stage, found.last_sequence, &casinos)
                .await?;
        }
    }
    failures.told()
}

/// Restores the lost consumers of a stage, those of the most urgent queue first. Returns whether
/// none was missing. A failure at one casino does not stop the others.
async fn consumers(
    fleet: &Fleet,
    (stage, found): (Stage, StreamState),
    casinos: &[CasinoId],
    failures: &Failures,
) -> Result<bool, Error> {
    let present: HashSet<String> = fleet.bus.consumers(stage).await?.into_iter().collect();
    let all = topology::queues_of(stage)
        .iter()
        .flat_map(|queue| casinos.iter().map(move |casino| (casino, *queue)));
    let gone: Vec<_> = all
        .filter(|(casino, queue)| {
            !present.contains(&topology::consumer_name(stage, casino, *queue))
        })
        .collect();
    let complete = gone.is_empty();
    stream::iter(gone)
        .map(Ok::<_, Error>)
        .try_for_each_concurrent(AT_ONCE, async |(casino, queue)| {
            failures
                .unless(
                    fleet,
                    casino,
                    put_back(fleet, (stage, found), casino, queue).await,
                )
                .await
        })
        .await?;
    Ok(complete)
}

async fn put_back(
    fleet: &Fleet,
    (stage, found): (Stage, StreamState),
    casino: &CasinoId,
    queue: Option<Queue>,
) -> Result<(), Error> {
    let start = beginning(fleet, (stage, found), casino, queue).await?;
    if fleet
        .bus
        .create_consumer(stage, casino, queue, start)
        .await?
    {
        let consumer = topology::consumer_name(stage, casino, queue);
        tracing::warn!(consumer, "stream or consumer was missing; created again");
        metrics().repairs.with_label_values(&["consumer"]).inc();
    }
    Ok(())
}

/// Returns where a restored consumer starts: at the oldest open row. If there is none, it starts
/// after the stored floor, up to which all messages were acknowledged (D16, D25). Without a floor,
/// it starts at the first message.
async fn beginning(
    fleet: &Fleet,
    (stage, found): (Stage, StreamState),
    casino: &CasinoId,
    queue: Option<Queue>,
) -> Result<Start, Error> {
    if let Some(oldest) = fleet.store.oldest_open(casino, stage, queue).await? {
        return Ok(Start::At(oldest));
    }
    match fleet.store.ack_floor(casino, stage).await? {
        Some(AckFloor {
            sequence,
            acked_at,
            stream_made,
            ..
        }) => Ok(fleet
            .bus
            .after(
                stage,
                Floor {
                    sequence,
                    acked_at,
                    stream_made,
                },
                found,
            )
            .await?),
        None => Ok(Start::All),
    }
}

/// Returns a casino's control (its switches) in the form that the bucket stores (D14).
pub fn control(entry: RosterEntry) -> Control {
    Control {
        casino: entry.casino.to_string(),
        active: entry.active,
        config_version: entry.config_version,
        content_version: entry.content_version,
        numbers: entry.numbers,
        paused: entry.paused,
        handed_on: entry.handed_on.into_iter().map(handed_on).collect(),
    }
}

fn handed_on(number: HandedOn) -> seven_bus::events::HandedOn {
    seven_bus::events::HandedOn {
        number: number.number,
        former_casino: number.former_casino,
        since_ms: number.since.timestamp_millis(),
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn a_mirror_is_compared_when_it_changed_is_old_or_was_lost() {
        let (mirrored, hour) = (Mirrored::default(), Duration::from_secs(3_600));
        let control = Control {
            casino: "here".into(),
            active: true,
            ..Control::default()
        };
        assert!(!mirrored.stands(&control, hour));
        mirrored.told(&control);
        assert!(mirrored.stands(&control, hour));
        assert!(!mirrored.stands(&control, Duration::ZERO), "old");
        assert!(
            !mirrored.stands(
                &Control {
                    active: false,
                    ..control.clone()
                },
                hour
            ),
            "changed"
        );
        mirrored.forget();
        assert!(!mirrored.stands(&control, hour), "lost");
    }

    #[test] // D16
    fn consumers_are_listed_when_something_came_or_went_or_it_was_long_ago() {
        let (complete, hour) = (Complete::default(), Duration::from_secs(3_600));
        let began = DateTime::<Utc>::UNIX_EPOCH;
        let casinos = |names: &[&str]| {
            names
                .iter()
                .map(|name| CasinoId::trusted(name).unwrap())
                .collect::<Arc<[_]>>()
        };
        let seen = Seen {
            consumers: 4,
            made: began,
            casinos: casinos(&["here"]),
        };
        assert!(!complete.stands(Stage::Gate, &seen, hour), "never listed");
        complete.note(Stage::Gate, seen.clone());
        assert!(complete.stands(Stage::Gate, &seen, hour));
        assert!(!complete.stands(Stage::Swarm, &seen, hour), "another stage");
        assert!(
            !complete.stands(Stage::Gate, &seen, Duration::ZERO),
            "long ago"
        );
        assert!(
            !complete.stands(
                Stage::Gate,
                &Seen {
                    consumers: 3,
                    ..seen.clone()
                },
                hour
            ),
            "one is gone"
        );
        assert!(
            !complete.stands(
                Stage::Gate,
                &Seen {
                    made: began + TimeDelta::seconds(1),
                    ..seen.clone()
                },
                hour
            ),
            "another stream"
        );
        let more = Seen {
            casinos: casinos(&["here", "there"]),
            ..seen
        };
        assert!(!complete.stands(Stage::Gate, &more, hour), "another casino");
    }

    #[test] // D25
    fn every_stage_is_put_back_and_what_is_for_guests_before_receipts() {
        assert!(
            topology::CONSUMING
                .iter()
                .all(|stage| ORDER.contains(stage))
        );
        assert_eq!(
            (ORDER[0], ORDER[ORDER.len() - 1]),
            (Stage::Sender, Stage::Receipts)
        );
        assert_eq!(topology::queues_of(Stage::Sender)[0], Some(Queue::Urgent));
    }
}

//! Stores consumers' floors in Postgres, for stages that leave no open row. A floor is the message
//! up to which the consumer has acknowledged all messages. A lost consumer is restored from its
//! floor (D25).

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, Utc};
use seven_bus::Floor;
use seven_domain::{CasinoId, Stage};
use seven_runtime::{Error, Fleet};
use seven_store::{Store, floors::AckFloor};

use crate::gauges;

/// The sequence of a consumer's floor, and when its stream was created.
type NotedFloor = (u64, DateTime<Utc>);

/// A stage's floors are stored again after `UNNOTED` new messages in the stage's stream, or after
/// `UNNOTED_PER_CASINO` messages per casino if that is more. A restored consumer reads all messages
/// after its stored floor again.
const UNNOTED: u64 = 200;
const UNNOTED_PER_CASINO: u64 = 4;

/// The stages whose floors are stored.
pub(crate) const NOTED: [Stage; 2] = [Stage::Gate, Stage::Receipts];

/// The floors that this process stored last, so that it writes only changed floors.
#[derive(Debug, Clone, Default)]
pub(crate) struct Noted(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    floors: HashMap<(Stage, CasinoId), NotedFloor>,
    /// For each stage, the sequence number of the stream's last message when the consumers were
    /// last listed.
    listed: HashMap<Stage, u64>,
}

impl Noted {
    pub(crate) async fn note(
        &self,
        store: &Store,
        floors: impl Iterator<Item = (Stage, &CasinoId, Floor)>,
    ) -> Result<(), Error> {
        let moved = self.moved(floors);
        if moved.is_empty() {
            return Ok(());
        }
        store.note_ack_floors(&moved).await?;
        self.state().floors.extend(moved.into_iter().map(|floor| {
            (
                (floor.stage, floor.casino),
                (floor.sequence, floor.stream_made),
            )
        }));
        Ok(())
    }

    /// If the stage's stream has enough new messages since the last listing, lists the stage's
    /// consumers and stores their floors.
    pub(crate) async fn follow(
        &self,
        fleet: &Fleet,
        stage: Stage,
        last_sequence: u64,
        casinos: &[CasinoId],
    ) -> Result<(), Error> {
        if !self.is_behind(stage, last_sequence, casinos.len()) {
            return Ok(());
        }
        let named = gauges::named(stage, casinos);
        let listed = fleet.bus.lag(stage).await?;
        let ours = listed
            .iter()
            .filter_map(|lag| Some((stage, named.get(&lag.consumer)?.0, lag.floor?)));
        self.note(&fleet.store, ours).await?;
        self.state().listed.insert(stage, last_sequence);
        Ok(())
    }

    fn is_behind(&self, stage: Stage, last_sequence: u64, casinos: usize) -> bool {
        let listed = self.state().listed.get(&stage).copied().unwrap_or_default();
        last_sequence.abs_diff(listed) >= UNNOTED.max(UNNOTED_PER_CASINO * casinos as u64)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the changed floors, each consumer once. A paged listing may contain a consumer twice
    /// if another consumer is created during the listing.
    fn moved<'a>(
        &self,
        floors: impl Iterator<Item = (Stage, &'a CasinoId, Floor)>,
    ) -> Vec<AckFloor> {
        let state = self.state();
        let ours: HashMap<_, _> = floors
            .filter(|(stage, ..)| NOTED.contains(stage))
            .map(|(stage, casino, floor)| ((stage, casino.clone()), floor))
            .collect();
        ours.into_iter()
            .filter(|(of, floor)| {
                state.floors.get(of) != Some(&(floor.sequence, floor.stream_made))
            })
            .map(
                |(
                    (stage, casino),
                    Floor {
                        sequence,
                        acked_at,
                        stream_made,
                    },
                )| AckFloor {
                    casino,
                    stage,
                    sequence,
                    acked_at,
                    stream_made,
                },
            )
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // D25
    fn what_leaves_no_row_is_noted_when_it_moved() {
        let casino: CasinoId = "here".parse().unwrap();
        let began = DateTime::<Utc>::UNIX_EPOCH;
        let floor = |sequence| Floor {
            sequence,
            acked_at: began,
            stream_made: began,
        };
        let noted = Noted::default();
        // The listing contains the same consumer twice.
        let moved = |stage, sequence| {
            noted
                .moved([(stage, &casino, floor(sequence)); 2].into_iter())
                .len()
        };
        assert_eq!(
            (
                moved(Stage::Gate, 7),
                moved(Stage::Receipts, 7),
                moved(Stage::Swarm, 7)
            ),
            (1, 1, 0)
        );
        noted
            .state()
            .floors
            .insert((Stage::Gate, casino.clone()), (7, began));
        assert_eq!(
            (
                moved(Stage::Gate, 7),
                moved(Stage::Gate, 9),
                moved(Stage::Receipts, 7)
            ),
            (0, 1, 1)
        );
        let another = Floor {
            stream_made: DateTime::<Utc>::MAX_UTC,
            ..floor(7)
        };
        assert_eq!(
            noted
                .moved([(Stage::Gate, &casino, another)].into_iter())
                .len(),
            1,
            "another stream"
        );
    }

    #[test] // D25
    fn a_stream_that_takes_much_is_looked_at_more_often() {
        let noted = Noted::default();
        assert!(!noted.is_behind(Stage::Gate, 199, 1) && noted.is_behind(Stage::Gate, 200, 1));
        assert!(
            !noted.is_behind(Stage::Gate, 1_999, 500) && noted.is_behind(Stage::Gate, 2_000, 500)
        );
        noted.state().listed.insert(Stage::Gate, 5_000);
        assert!(
            !noted.is_behind(Stage::Gate, 5_100, 1) && noted.is_behind(Stage::Receipts, 5_100, 1)
        );
        assert!(noted.is_behind(Stage::Gate, 3, 1), "another stream");
    }
}

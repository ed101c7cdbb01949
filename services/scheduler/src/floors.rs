//! How far consumers are acknowledged, noted in Postgres for stages whose messages leave no open row: there a consumer begins that the bus
//! has lost (D25).

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use chrono::{DateTime, Utc};
use seven_bus::Floor;
use seven_domain::{CasinoId, Stage};
use seven_runtime::Error;
use seven_store::{Store, floors::AckFloor};

/// What this process noted last of each; only what moved is noted again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Noted(Arc<Mutex<HashMap<(Stage, CasinoId), (u64, DateTime<Utc>)>>>);

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
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.extend(moved.into_iter().map(|floor| ((floor.stage, floor.casino), (floor.sequence, floor.stream_made))));
        Ok(())
    }

    /// Each consumer once: listed in pages, one may be met twice while another is made.
    fn moved<'a>(&self, floors: impl Iterator<Item = (Stage, &'a CasinoId, Floor)>) -> Vec<AckFloor> {
        let noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ours: HashMap<_, _> = floors
            .filter(|(stage, ..)| matches!(stage, Stage::Gate | Stage::Receipts))
            .map(|(stage, casino, floor)| ((stage, casino.clone()), floor))
            .collect();
        ours.into_iter()
            .filter(|(of, floor)| noted.get(of) != Some(&(floor.sequence, floor.stream_made)))
            .map(|((stage, casino), Floor { sequence, acked_at, stream_made })| AckFloor {
                casino,
                stage,
                sequence,
                acked_at,
                stream_made,
            })
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
        let floor = |sequence| Floor { sequence, acked_at: began, stream_made: began };
        let noted = Noted::default();
        // Listed twice.
        let moved = |stage, sequence| noted.moved([(stage, &casino, floor(sequence)); 2].into_iter()).len();
        assert_eq!((moved(Stage::Gate, 7), moved(Stage::Receipts, 7), moved(Stage::Swarm, 7)), (1, 1, 0));
        noted.0.lock().unwrap().insert((Stage::Gate, casino.clone()), (7, began));
        assert_eq!((moved(Stage::Gate, 7), moved(Stage::Gate, 9), moved(Stage::Receipts, 7)), (0, 1, 1));
        let another = Floor { stream_made: DateTime::<Utc>::MAX_UTC, ..floor(7) };
        assert_eq!(noted.moved([(Stage::Gate, &casino, another)].into_iter()).len(), 1, "another stream");
    }
}

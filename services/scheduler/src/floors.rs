//! How far consumers are acknowledged, noted in Postgres for stages whose messages leave no open row: there a consumer begins that the bus
//! has lost (D25).

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use seven_bus::Floor;
use seven_domain::{CasinoId, Stage};
use seven_runtime::Error;
use seven_store::{Store, floors::AckFloor};

/// What this process noted last of each; only what moved is noted again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Noted(Arc<Mutex<HashMap<(Stage, CasinoId), u64>>>);

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
        noted.extend(moved.into_iter().map(|floor| ((floor.stage, floor.casino), floor.sequence)));
        Ok(())
    }

    fn moved<'a>(&self, floors: impl Iterator<Item = (Stage, &'a CasinoId, Floor)>) -> Vec<AckFloor> {
        let noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ours = floors.filter(|(stage, ..)| matches!(stage, Stage::Gate | Stage::Receipts));
        ours.map(|(stage, casino, floor)| AckFloor {
            casino: casino.clone(),
            stage,
            sequence: floor.sequence,
            acked_at: floor.acked_at,
        })
        .filter(|floor| noted.get(&(floor.stage, floor.casino.clone())) != Some(&floor.sequence))
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};

    use super::*;

    #[test] // D25
    fn what_leaves_no_row_is_noted_when_it_moved() {
        let casino: CasinoId = "here".parse().unwrap();
        let floor = |sequence| Floor { sequence, acked_at: DateTime::<Utc>::UNIX_EPOCH };
        let noted = Noted::default();
        let moved = |stage, sequence| noted.moved([(stage, &casino, floor(sequence))].into_iter()).len();
        assert_eq!((moved(Stage::Gate, 7), moved(Stage::Receipts, 7), moved(Stage::Swarm, 7)), (1, 1, 0));
        noted.0.lock().unwrap().insert((Stage::Gate, casino.clone()), 7);
        assert_eq!((moved(Stage::Gate, 7), moved(Stage::Gate, 9), moved(Stage::Receipts, 7)), (0, 1, 1));
        assert_eq!(moved(Stage::Gate, 3), 1, "another stream");
    }
}

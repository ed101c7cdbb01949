//! compliance-gate: stores each guest text once, answers keywords and cries for help at once,
//! closes what must not be answered, and signals the swarm about the rest. Depends on neither the
//! model nor the send API (D2, PROD-6).

mod canned;
mod cries;
mod decide;
mod handler;
mod keywords;
mod likely;
mod limits;
mod moved;
mod mutant;
mod privacy;
mod reading;
mod repeats;
mod types;

use seven_bus::{Worker, WorkerSettings};
use seven_runtime::Fleet;

pub use types::Gate;

/// Runs the worker until the fleet's shutdown. `fleet_per_minute` is the number of texts of all
/// casinos that are answered per minute (PROD-1). `second_reader` tells whether suspicious texts
/// are read twice (D20); the reader's 30 MB are loaded with the first such text.
pub async fn run(fleet: Fleet, fleet_per_minute: u32, second_reader: bool, settings: WorkerSettings) {
    // Builds the guardrails now, so that no guest has to wait for it.
    fleet.packs.iter().for_each(|pack| drop(pack.guardrails().decide("")));
    let gate = Gate { fleet: fleet.clone(), fleet_per_minute, second_reader };
    let (bus, roster, shutdown) = (fleet.bus.clone(), fleet.roster.clone(), fleet.shutdown.clone());
    Worker::new(gate, bus, roster, settings, shutdown).run().await;
}

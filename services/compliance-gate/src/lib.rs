//! compliance-gate: stores each guest text once, answers keywords and cries for help, closes what
//! must not be answered, and signals the rest. It needs neither model nor send API (D2).

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
mod staff;
mod types;

use seven_bus::{Worker, WorkerSettings};
use seven_runtime::Fleet;

pub use types::Gate;

/// Runs the worker until the fleet shuts down. `fleet_per_minute` is the maximum number of texts
/// that are answered per minute, of all casinos together. With `second_reader`, suspicious texts
/// are judged a second time (D20), which takes 30 MB of memory.
pub async fn run(
    fleet: Fleet,
    fleet_per_minute: u32,
    second_reader: bool,
    settings: WorkerSettings,
) {
    // Builds the guardrails now, so that no guest waits for it.
    fleet
        .packs
        .iter()
        .for_each(|pack| drop(pack.guardrails().decide("")));
    let gate = Gate {
        fleet: fleet.clone(),
        fleet_per_minute,
        second_reader,
    };
    let (bus, roster, shutdown) = (
        fleet.bus.clone(),
        fleet.roster.clone(),
        fleet.shutdown.clone(),
    );
    Worker::new(gate, bus, roster, settings, shutdown)
        .run()
        .await;
}

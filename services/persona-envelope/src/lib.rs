//! persona-envelope: turns a draft into at most two texts and queues them with the typing delay of
//! a person (D13). It changes no fact and asks no model.

mod handler;
mod typing;

use seven_bus::{Worker, WorkerSettings};
use seven_runtime::Fleet;

pub use handler::Envelope;

/// Runs the worker until the fleet shuts down.
pub async fn run(fleet: Fleet, settings: WorkerSettings) {
    let (bus, roster, shutdown) = (
        fleet.bus.clone(),
        fleet.roster.clone(),
        fleet.shutdown.clone(),
    );
    let envelope = Envelope { fleet };
    Worker::new(envelope, bus, roster, settings, shutdown)
        .run()
        .await;
}

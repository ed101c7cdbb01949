//! persona-envelope: turns a finished turn into at most two texts (GSM-7 where possible, one
//! segment each) and queues them with a human typing delay (D13). Deterministic except for the
//! random part of the delay. It changes no fact and asks no model.

mod handler;
mod typing;

use seven_bus::{Worker, WorkerSettings};
use seven_runtime::Fleet;

pub use handler::Envelope;

/// Runs the worker until the fleet's shutdown.
pub async fn run(fleet: Fleet, settings: WorkerSettings) {
    let (bus, roster, shutdown) = (fleet.bus.clone(), fleet.roster.clone(), fleet.shutdown.clone());
    let envelope = Envelope { fleet };
    Worker::new(envelope, bus, roster, settings, shutdown).run().await;
}

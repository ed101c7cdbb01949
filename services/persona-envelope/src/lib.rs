//! persona-envelope: turns a finished turn into at most two good texts (GSM-7 where it can be, one segment each) and queues them
//! behind a human typing delay (D13). Deterministic but for the delay's draw; changes no fact, asks no model.

mod handler;
mod typing;

use seven_bus::{Worker, WorkerSettings};
use seven_runtime::Fleet;

pub use handler::Envelope;

/// Works until the fleet's shutdown.
pub async fn run(fleet: Fleet, settings: WorkerSettings) {
    let (bus, roster, shutdown) = (fleet.bus.clone(), fleet.roster.clone(), fleet.shutdown.clone());
    let envelope = Envelope { fleet };
    Worker::new(envelope, bus, roster, settings, shutdown).run().await;
}

//! outbound-sender: runs the pre-send check (D6), keeps rate limits, makes one provider call per
//! permitted text (D5), and handles the receipts. No other worker sends texts through a provider.

mod attempt;
mod batch;
mod carrier;
mod content;
mod handler;
mod late;
mod line;
mod measure;
mod mutant;
mod numbers;
mod opted_out;
mod pace;
mod protection;
mod receipts;
mod refusal;
mod registry;
mod route;
pub mod stops;
mod types;
mod web;
mod window;

use std::sync::Arc;

use seven_bus::{Worker, WorkerSettings};
use seven_providers::Provider;
use seven_runtime::Fleet;

pub use carrier::breaker_name;
pub use protection::Unprotected;
pub use receipts::Receipts;
pub use registry::{Asked, NumberRegistry, Registry};
pub use types::{Limits, Sender};

/// Runs the worker until the fleet's shutdown. Refuses to start with a real provider while a
/// helpline or a law is unverified.
pub async fn run(
    fleet: Fleet,
    providers: Vec<Arc<dyn Provider>>,
    registry: Registry,
    limits: Limits,
    settings: WorkerSettings,
) -> Result<(), Unprotected> {
    if providers.iter().any(|provider| !provider.is_local()) {
        protection::check(&fleet).await?;
    }
    let (bus, roster, shutdown) = (
        fleet.bus.clone(),
        fleet.roster.clone(),
        fleet.shutdown.clone(),
    );
    let receipts = Worker::new(
        Receipts {
            fleet: fleet.clone(),
        },
        bus.clone(),
        roster.clone(),
        settings,
        shutdown.clone(),
    );
    let watch = Sender::new(fleet.clone(), providers.clone(), None);
    let sender = Worker::new(
        Sender {
            limits,
            ..Sender::new(fleet, providers, registry)
        },
        bus,
        roster,
        settings,
        shutdown,
    );
    tokio::join!(sender.run(), receipts.run(), stops::watch_stops(&watch));
    Ok(())
}

impl Receipts {
    /// Makes the handler without its worker loop, as [`Sender::new`] does.
    pub fn new(fleet: Fleet) -> Self {
        Self { fleet }
    }
}

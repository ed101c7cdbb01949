//! outbound-sender: the last look (D6), the pace, one provider call per permitted text (D5), by the casino's first provider that takes it, and the receipts that settle it.
//! Nothing else in the fleet calls a provider.

mod attempt;
mod batch;
mod carrier;
mod content;
mod handler;
mod late;
mod line;
mod measure;
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
mod window;

use std::sync::Arc;

use seven_bus::{Worker, WorkerSettings};
use seven_providers::Provider;
use seven_runtime::Fleet;

pub use carrier::breaker_name;
pub use protection::Unprotected;
pub use receipts::Receipts;
pub use registry::{Asked, Holder, NumberRegistry, Registry};
pub use types::{Limits, Sender};

/// Works until the fleet's shutdown. Refuses to start against a real provider with what nobody has verified.
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
    let (bus, roster, shutdown) = (fleet.bus.clone(), fleet.roster.clone(), fleet.shutdown.clone());
    let receipts =
        Worker::new(Receipts { fleet: fleet.clone() }, bus.clone(), roster.clone(), settings, shutdown.clone());
    let watch = Sender::new(fleet.clone(), providers.clone(), None);
    let sender =
        Worker::new(Sender { limits, ..Sender::new(fleet, providers, registry) }, bus, roster, settings, shutdown);
    tokio::join!(sender.run(), receipts.run(), stops::watch_stops(&watch));
    Ok(())
}

impl Receipts {
    /// As [`Sender::new`].
    pub fn new(fleet: Fleet) -> Self {
        Self { fleet }
    }
}

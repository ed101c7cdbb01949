//! outbound-sender: the last look (D6), the pace, one provider call per permitted text (D5), by the casino's first provider that takes it, and the receipts that settle it.
//! Nothing else in the fleet calls a provider.

mod attempt;
mod carriers;
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
pub mod stops;
mod together;
mod window;

use std::sync::Arc;

use seven_bus::{Worker, WorkerSettings};
use seven_providers::Provider;
use seven_runtime::Fleet;

use carriers::Carrier;
pub use carriers::breaker_name;
pub use handler::Sender;
pub use numbers::{Asked, Holder, NumberRegistry, Registry};
pub use pace::Limits;
pub use protection::Unprotected;
pub use receipts::Receipts;
use together::Together;

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
    tokio::join!(sender.run(), receipts.run(), watch.watch_stops());
    Ok(())
}

impl Sender {
    /// A sender without its worker loop: for whoever decides alone what is delivered when, as the model test does.
    pub fn new(fleet: Fleet, providers: Vec<Arc<dyn Provider>>, registry: Registry) -> Self {
        let carriers = providers.into_iter().map(|provider| Carrier::new(&fleet, provider)).collect();
        let connections = fleet.store.most_connections();
        Self {
            fleet,
            carriers,
            registry,
            limits: Limits::default(),
            lines: pace::Lines::default(),
            reads: Together::over(connections),
            looks: Together::over(connections),
            ends: Together::over(connections),
        }
    }
}

impl Receipts {
    /// As [`Sender::new`].
    pub fn new(fleet: Fleet) -> Self {
        Self { fleet }
    }
}

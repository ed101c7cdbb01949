//! outbound-sender: the last look (D6), the pace, one provider call per permitted text (D5), and the receipts that settle it.
//! Nothing else in the fleet calls a provider.

mod attempt;
mod handler;
mod receipts;
mod refusal;

use std::sync::Arc;

use seven_bus::{Worker, WorkerSettings};
use seven_compliance::Guardrails;
use seven_providers::Provider;
use seven_runtime::Fleet;

pub use handler::Sender;
pub use receipts::Receipts;

/// Sending to people needs what protects them.
#[derive(Debug, thiserror::Error)]
#[error(
    "guardrails are not installed, so texts may only go to a provider on this machine; point [telnyx] base_url at carrier-sim"
)]
pub struct Unprotected;

/// Works until the fleet's shutdown. Refuses to start against a real provider without guardrails.
pub async fn run(fleet: Fleet, provider: Arc<dyn Provider>, settings: WorkerSettings) -> Result<(), Unprotected> {
    if !Guardrails::default().installed() && !provider.is_local() {
        return Err(Unprotected);
    }
    let (bus, roster, shutdown) = (fleet.bus.clone(), fleet.roster.clone(), fleet.shutdown.clone());
    let receipts =
        Worker::new(Receipts { fleet: fleet.clone() }, bus.clone(), roster.clone(), settings, shutdown.clone());
    let sender = Worker::new(Sender { fleet, provider }, bus, roster, settings, shutdown);
    tokio::join!(sender.run(), receipts.run());
    Ok(())
}

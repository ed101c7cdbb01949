//! agent-swarm: one turn at a time per guest (D4). Waits out the quiet window, takes the lease, reads all open texts, asks the
//! model, and commits the turn only if nobody raised the epoch meanwhile. Sends nothing and shapes nothing.

mod content;
mod fallback;
mod handler;
mod speech;
mod turn;

use std::{sync::Arc, time::Duration};

use seven_bus::{Worker, WorkerSettings};
use seven_llm::Model;
use seven_packs::{Rules, Texts};
use seven_runtime::Fleet;

pub use handler::Swarm;

#[derive(Clone)]
pub struct Settings {
    pub model: Arc<dyn Model>,
    /// A model call that takes longer failed.
    pub model_deadline: Duration,
    /// Bytes of content indexes kept in memory (D12).
    pub index_bytes: u64,
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings").field("model", &self.model.name()).finish_non_exhaustive()
    }
}

/// Works until the fleet's shutdown.
pub async fn run(fleet: Fleet, settings: Settings, worker: WorkerSettings) {
    let (bus, roster, shutdown) = (fleet.bus.clone(), fleet.roster.clone(), fleet.shutdown.clone());
    let library = content::Library::new(settings.index_bytes);
    let swarm = Swarm { fleet, settings, library, rules: Rules::casino(), texts: Texts::casino() };
    Worker::new(swarm, bus, roster, worker, shutdown).run().await;
}

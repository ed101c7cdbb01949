//! agent-swarm: runs one turn at a time per guest (D4). A turn waits until the guest is quiet,
//! takes the lease, asks the model and commits if the epoch is unchanged. It sends nothing.

mod agent_reply;
mod content;
mod fallback;
mod handler;
mod history;
mod hosted;
mod joined;
mod lease;
mod models;
mod mutant;
mod pause;
mod session;
mod spending;
mod switches;
mod think;
mod turn;
mod turn_input;
mod types;
mod vetting;

use std::sync::Arc;

use seven_bus::{Worker, WorkerSettings};
use seven_runtime::Fleet;

pub use hosted::trial;
pub use models::{Deadlines, Hosted, Models};
pub use seven_llm::embedding::Embedding;
pub use spending::WebLimits;
pub use types::{Settings, Swarm};

/// Runs the worker until the fleet shuts down.
pub async fn run(fleet: Fleet, settings: Settings, worker: WorkerSettings) {
    let (bus, roster, shutdown) = (
        fleet.bus.clone(),
        fleet.roster.clone(),
        fleet.shutdown.clone(),
    );
    for pack in fleet.packs.iter() {
        tracing::info!(pack = pack.name, agents = pack.agents.registry(), "pack");
    }
    if let (Some(hosted), Some(pack)) = (&settings.hosted, fleet.packs.iter().next()) {
        let judge = Arc::clone(&hosted.judge);
        hosted
            .trial
            .start(judge, pack.prompts(), hosted.deadlines.judge);
    }
    let swarm = Swarm::new(fleet.clone(), settings);
    let follow = tokio::spawn(swarm.library.clone().follow(fleet.clone()));
    let warm = tokio::spawn(swarm.library.clone().warm(fleet));
    Worker::new(swarm, bus, roster, worker, shutdown)
        .run()
        .await;
    // Both tasks end with the fleet; aborting them matters if the worker ended earlier.
    follow.abort();
    warm.abort();
}

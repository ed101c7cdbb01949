//! Types that pass between the stages of the swarm.

use std::{sync::Arc, time::Duration};

use seven_domain::{CasinoConfig, CasinoId};
use seven_guest::Profile;
use seven_knowledge::Index;
use seven_llm::{Model, embedding::Embedding};
use seven_packs::Pack;
use seven_runtime::Fleet;
use seven_store::{conversations::Lease, inbound::OpenText};
use tokio::{sync::Semaphore, task::JoinHandle};

use crate::{
    content::Library,
    history::History,
    models::{Hosted, Models},
    spending::WebLimits,
};

#[derive(Clone)]
pub struct Settings {
    /// The offline model of each pack.
    pub models: Models,
    /// The hosted models; `None` if only the offline models answer.
    pub hosted: Option<Hosted>,
    /// Limits of what the hosted models may cost for guests of the website.
    pub web_limits: WebLimits,
    /// The embedder by which content is found by meaning.
    pub embedding: Embedding,
    /// Maximum time that the models may take for a turn.
    pub model_deadline: Duration,
    /// How many bytes of content indexes are kept in memory (D12).
    pub index_bytes: u64,
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings")
            .field("models", &self.models)
            .finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub struct Swarm {
    pub(crate) fleet: Fleet,
    pub(crate) settings: Settings,
    pub(crate) library: Library,
    /// Limits how many turns are committed and announced at the same time. Many more may wait for
    /// their models.
    pub(crate) commits: Semaphore,
}

/// A conversation whose lease was taken, with everything that its turn needs.
pub(crate) struct Work {
    pub(crate) casino: CasinoId,
    pub(crate) config: Arc<CasinoConfig>,
    pub(crate) pack: Arc<Pack>,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) lease: Lease,
    pub(crate) open: Vec<OpenText>,
    pub(crate) history: History,
    /// `None` for a guest about whom nothing is stored.
    pub(crate) profile: Option<Profile>,
    pub(crate) index: Arc<Index>,
    pub(crate) trace: String,
}

/// The commit of the transaction that took the lease. It may still run while the turn asks its
/// model. The turn's writes wait for the commit (`leased` in turn.rs). Until the commit ends, the
/// row's lock keeps other turns out.
pub(crate) type LeaseCommit = JoinHandle<seven_store::Result<()>>;

impl Swarm {
    pub fn new(fleet: Fleet, settings: Settings) -> Self {
        let library = Library::new(settings.index_bytes, settings.embedding.clone());
        let commits = Semaphore::new(fleet.database_work());
        Self {
            fleet,
            settings,
            library,
            commits,
        }
    }
}

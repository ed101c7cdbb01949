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
    models::{Hosted, Models},
    recall::Recall,
};

#[derive(Clone)]
pub struct Settings {
    /// The offline model of each pack.
    pub models: Models,
    /// The hosted models, which are asked first where configured.
    pub hosted: Option<Hosted>,
    /// The embedding that finds content by meaning.
    pub embedding: Embedding,
    /// The longest that a model may take for a turn.
    pub model_deadline: Duration,
    /// Bytes of content indexes kept in memory (D12).
    pub index_bytes: u64,
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings").field("models", &self.models).finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub struct Swarm {
    pub(crate) fleet: Fleet,
    pub(crate) settings: Settings,
    pub(crate) library: Library,
    /// Limits how many turns are committed and announced at once; many more may wait for their
    /// models.
    pub(crate) commits: Semaphore,
}

/// A leased conversation with everything its turn needs.
pub(crate) struct Work {
    pub(crate) casino: CasinoId,
    pub(crate) config: Arc<CasinoConfig>,
    pub(crate) pack: Arc<Pack>,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) lease: Lease,
    pub(crate) open: Vec<OpenText>,
    pub(crate) recall: Recall,
    /// None for a guest about whom nothing is stored.
    pub(crate) profile: Option<Profile>,
    pub(crate) index: Arc<Index>,
    pub(crate) trace: String,
}

/// The pending commit of a turn's lease. The turn has read all it needs; its writes wait for the
/// commit (`leased` in turn.rs). Until then the row's lock excludes other turns, as the lease does
/// afterwards.
pub(crate) type LeaseCommit = JoinHandle<seven_store::Result<()>>;

impl Swarm {
    pub fn new(fleet: Fleet, settings: Settings) -> Self {
        let library = Library::new(settings.index_bytes, settings.embedding.clone());
        let commits = Semaphore::new(fleet.database_work());
        Self { fleet, settings, library, commits }
    }
}

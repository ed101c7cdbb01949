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
    /// Asked first where there is one.
    pub hosted: Option<Hosted>,
    /// The embedding that finds content by meaning.
    pub embedding: Embedding,
    /// A turn's thinking that takes longer is broken off.
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
    /// Turns that are committed and announced at once: models may be waited for by many more.
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
    /// None for a guest of whom nothing is known.
    pub(crate) profile: Option<Profile>,
    pub(crate) index: Arc<Index>,
    pub(crate) trace: String,
}

/// The commit of a turn's lease, under way. The turn has read all it needs; its writes wait for the
/// commit (`leased` in turn.rs). Until then the row's lock keeps other turns out, as the lease does
/// afterwards.
pub(crate) type LeaseCommit = JoinHandle<seven_store::Result<()>>;

impl Swarm {
    pub fn new(fleet: Fleet, settings: Settings) -> Self {
        let library = Library::new(settings.index_bytes, settings.embedding.clone());
        let commits = Semaphore::new(fleet.database_work());
        Self { fleet, settings, library, commits }
    }
}

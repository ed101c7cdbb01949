//! Who answers for a pack: the offline host has its words from it.

use std::{collections::BTreeMap, fmt, sync::Arc};

use seven_llm::{Model, OfflineModel};
use seven_packs::{Pack, Packs};

/// A model per pack, by the pack's name; cheap to clone.
#[derive(Clone)]
pub struct Models {
    of: Arc<BTreeMap<String, Arc<dyn Model>>>,
}

// === impl Models ===

impl Models {
    /// What `make` gives each pack; all packs or none.
    pub fn each<E>(packs: &Packs, make: impl Fn(&Pack) -> Result<Arc<dyn Model>, E>) -> Result<Self, E> {
        let of: Result<_, E> = packs.iter().map(|pack| Ok((pack.name.clone(), make(pack)?))).collect();
        Ok(Self { of: Arc::new(of?) })
    }

    /// One for all of them: it has no words of its own.
    pub fn same(packs: &Packs, model: &Arc<dyn Model>) -> Self {
        Self { of: Arc::new(packs.iter().map(|pack| (pack.name.clone(), Arc::clone(model))).collect()) }
    }

    /// The offline host, with each pack's own words.
    pub fn offline(packs: &Packs) -> Result<Self, seven_llm::Error> {
        Self::each(packs, |pack| Ok(Arc::new(OfflineModel::from_toml(&pack.files.host)?)))
    }

    /// None for a pack that was not there when the models were made.
    pub fn of(&self, pack: &Pack) -> Option<Arc<dyn Model>> {
        self.of.get(&pack.name).cloned()
    }
}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.of.iter().map(|(pack, model)| (pack, model.name()))).finish()
    }
}

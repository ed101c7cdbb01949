//! The models that answer guests, for each pack. An offline model takes its wording from its pack.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use seven_llm::{Model, chat::ChatModel};
use seven_offline_host::OfflineModel;
use seven_packs::{Pack, Packs};

use crate::hosted::trial::Trial;

/// One model per pack, by the pack's name. A clone is cheap, because it shares the models.
#[derive(Clone)]
pub struct Models {
    of: Arc<BTreeMap<String, Arc<dyn Model>>>,
}

// === impl Models ===

impl Models {
    /// Makes a model for each pack with `make`; fails if `make` fails for one of them.
    pub fn each<E>(
        packs: &Packs,
        make: impl Fn(&Pack) -> Result<Arc<dyn Model>, E>,
    ) -> Result<Self, E> {
        let of: Result<_, E> = packs
            .iter()
            .map(|pack| Ok((pack.name.clone(), make(pack)?)))
            .collect();
        Ok(Self { of: Arc::new(of?) })
    }

    /// Uses the same model for all packs. This model takes no wording from the packs.
    pub fn same(packs: &Packs, model: &Arc<dyn Model>) -> Self {
        Self {
            of: Arc::new(
                packs
                    .iter()
                    .map(|pack| (pack.name.clone(), Arc::clone(model)))
                    .collect(),
            ),
        }
    }

    /// Makes an offline model for each pack, with the pack's wording.
    pub fn offline(packs: &Packs) -> Result<Self, seven_llm::Error> {
        Self::each(packs, |pack| {
            Ok(Arc::new(OfflineModel::from_toml(&pack.files.host)?))
        })
    }

    /// Returns the pack's model; `None` for a pack that was added after the models were made.
    pub fn of(&self, pack: &Pack) -> Option<Arc<dyn Model>> {
        self.of.get(&pack.name).cloned()
    }
}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.of.iter().map(|(pack, model)| (pack, model.name())))
            .finish()
    }
}

/// The hosted models for the four kinds of call, with the calls' deadlines.
#[derive(Clone)]
pub struct Hosted {
    /// The model that routes and plans.
    pub quick: Arc<dyn ChatModel>,
    /// The model that writes replies.
    pub speaker: Arc<dyn ChatModel>,
    /// The model that judges drafts.
    pub judge: Arc<dyn ChatModel>,
    pub deadlines: Deadlines,
    pub temperature: f32,
    /// Maximum number of tokens of one answer.
    pub max_output_tokens: u32,
    /// The trial of the judge, with its result.
    pub trial: Trial,
}

impl std::fmt::Debug for Hosted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hosted")
            .field("speaker", &self.speaker.name())
            .finish_non_exhaustive()
    }
}

/// The deadlines for one call of each kind, including its retries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    pub route: Duration,
    pub plan: Duration,
    pub speak: Duration,
    pub judge: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            route: seconds(2),
            plan: seconds(3),
            speak: seconds(10),
            judge: seconds(5),
        }
    }
}

//! The models that answer guests, for each pack. An offline model takes its wording from its pack.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use seven_domain::Language;
use seven_llm::{Model, Request, Responding, chat::ChatModel};
use seven_offline_host::{Facts, OfflineModel};
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

    /// Makes an offline model for each pack, with the pack's wording. All of them share `facts`.
    pub fn offline(packs: &Packs, facts: Option<&Facts>) -> Result<Self, seven_llm::Error> {
        Self::each(packs, |pack| {
            let model = OfflineModel::from_toml(&pack.files.host)?;
            Ok(match facts {
                Some(facts) => Arc::new(Apart(Arc::new(model.with_facts(facts.clone())))),
                None => Arc::new(model),
            })
        })
    }

    /// Returns the pack's model; `None` for a pack that was added after the models were made.
    pub fn of(&self, pack: &Pack) -> Option<Arc<dyn Model>> {
        self.of.get(&pack.name).cloned()
    }
}

/// An offline model that finds facts. This takes tens of milliseconds, so the model answers on a
/// thread that serves nothing else.
struct Apart(Arc<OfflineModel>);

impl Model for Apart {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn language(&self, texts: &[String], stored: Option<Language>) -> Language {
        self.0.language(texts, stored)
    }

    fn respond<'a>(&'a self, request: &'a Request) -> Responding<'a> {
        let (model, request) = (Arc::clone(&self.0), request.clone());
        let answer = tokio::task::spawn_blocking(move || model.answer(&request));
        Box::pin(async move {
            answer.await.map_err(|error| match error.try_into_panic() {
                // The turn counts a panic as a failed try.
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => seven_llm::Error::Unavailable {
                    model: "offline".to_owned(),
                    source: None,
                },
            })
        })
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

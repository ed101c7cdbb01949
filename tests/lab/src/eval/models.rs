//! Two models that play bad hosts: one always gives the fallback, the other only recites a content
//! row. Both must pass few checks, or the dialogues are too easy. Also the seed that makes runs
//! repeatable.

use std::{convert::Infallible, sync::Arc, time::Duration};

use seven_agent_swarm::{Hosted, Models};
use seven_knowledge::{Query, formatter};
use seven_llm::{Model, Reply, Request, Responding, Usage};
use seven_packs::{Packs, Slots, TextKey, Texts};

/// A model that always answers with the pack's fallback.
struct Null {
    texts: Texts,
}

/// A model that always answers with the first content row that the retrieval finds.
struct TopRow;

/// Wraps a model so that its choice between equivalent wordings depends on the conversation so far.
/// Otherwise the choice would depend on a text's id, and ids differ in every run.
struct Steady(Arc<dyn Model>);

/// The models that speak as the host in an evaluation.
#[derive(Debug, Clone)]
pub struct Host {
    pub models: Models,
    /// The hosted model that answers; `models` answer only if it cannot. `None`: `models` alone
    /// answer.
    pub hosted: Option<Hosted>,
    /// Longest time that the hosted model may take for a turn; `None` uses the default of the
    /// settings.
    pub deadline: Option<Duration>,
    /// Number of dialogues that are played at the same time.
    pub at_once: usize,
}

/// Number of dialogues that are played at the same time with models that need no server.
pub const AT_ONCE: usize = 8;

impl From<Models> for Host {
    fn from(models: Models) -> Self {
        Self {
            models,
            hosted: None,
            deadline: None,
            at_once: AT_ONCE,
        }
    }
}

pub fn null(packs: &Packs) -> Models {
    let made = Models::each(packs, |pack| {
        Ok::<Arc<dyn Model>, Infallible>(Arc::new(Null {
            texts: pack.texts.clone(),
        }))
    });
    match made {
        Ok(models) => models,
        Err(never) => match never {},
    }
}

pub fn top_row(packs: &Packs) -> Models {
    Models::same(packs, &(Arc::new(TopRow) as Arc<dyn Model>))
}

/// Returns the models, changed so that their wordings are equal in every run.
pub fn steady(packs: &Packs, models: &Models) -> Models {
    let made = Models::each(packs, |pack| {
        let model = models.of(pack).ok_or(())?;
        Ok::<Arc<dyn Model>, ()>(Arc::new(Steady(model)))
    });
    // If a pack has no model, returns the models unchanged.
    made.unwrap_or_else(|()| models.clone())
}

fn reply(request: &Request, text: String, sources: Vec<String>, intent: &str) -> Reply {
    let language = request.language.unwrap_or_default();
    Reply {
        text,
        language,
        grounded: !sources.is_empty(),
        sources,
        intent: intent.to_owned(),
        asked: None,
        state: request.state.clone(),
        staff: Vec::new(),
        usage: Usage::default(),
    }
}

impl Model for Null {
    fn name(&self) -> &'static str {
        "null"
    }

    fn respond<'a>(&'a self, request: &'a Request) -> Responding<'a> {
        let slots = Slots {
            casino: &request.casino_name,
            phone: &request.contact_phone,
            persona: &request.persona,
            helpline: "",
            state_helpline: "",
            min_age: 0,
            guest: "",
            topic: "",
        };
        let text = self.texts.render(
            TextKey::Fallback,
            request.language.unwrap_or_default(),
            &slots,
        );
        let reply = reply(request, text, Vec::new(), "fallback");
        Box::pin(async move { Ok(reply) })
    }
}

impl Model for TopRow {
    fn name(&self) -> &'static str {
        "top-row"
    }

    fn respond<'a>(&'a self, request: &'a Request) -> Responding<'a> {
        let query = Query::new(&request.texts.join(" "), request.now);
        let found = request
            .index
            .retrieve(&query)
            .into_iter()
            .next()
            .map(|found| found.item);
        let row = found.or_else(|| request.index.current(request.now).next().cloned());
        let (text, sources) = row.map_or_else(Default::default, |row| {
            (formatter::text(&row, request.zone), vec![row.id.clone()])
        });
        let reply = reply(request, text, sources, "top_row");
        Box::pin(async move { Ok(reply) })
    }
}

impl Model for Steady {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn language(
        &self,
        texts: &[String],
        stored: Option<seven_domain::Language>,
    ) -> seven_domain::Language {
        self.0.language(texts, stored)
    }

    fn respond<'a>(&'a self, request: &'a Request) -> Responding<'a> {
        let mut request = request.clone();
        request.seed = seed(&request);
        Box::pin(async move { self.0.respond(&request).await })
    }
}

/// Derives the seed from the conversation so far.
fn seed(request: &Request) -> u64 {
    use sha2::{Digest, Sha256};
    let mut hash = Sha256::new();
    request
        .texts
        .iter()
        .chain(request.history.iter().map(|turn| &turn.guest))
        .for_each(|text| {
            hash.update(text.as_bytes());
            hash.update([0]);
        });
    hash.finalize()
        .iter()
        .take(8)
        .fold(0, |seed, byte| seed << 8 | u64::from(*byte))
}

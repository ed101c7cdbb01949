//! The offline host answers without a connection or a language model (D11). It reads a text with
//! word lists and, if it is given one, with a finder of facts (D48). It replies only with facts of
//! content rows, in the fixed wording of the pack.

mod about;
mod acts;
mod adults;
mod again;
mod answer;
mod asked;
mod calendar;
mod cautions;
mod choice;
mod clock_words;
mod company;
mod compare;
mod compose;
mod dates;
mod exceptions;
mod exchanges;
mod exists;
mod facts;
mod finding;
mod fit;
mod focus;
mod follow_up;
mod found;
mod hear;
mod host;
mod language;
mod minors;
mod pack;
mod phrases;
mod plan;
mod pointed;
mod profiling;
mod reading;
mod request;
mod resolve;
mod sentences;
mod spelling;
mod subject;
mod subjects;
mod suggest;
#[cfg(test)]
mod tests;
mod understand;
mod weighing;
mod when;

use std::collections::HashSet;

use seven_domain::Language;
use seven_text::words;

pub use adults::is_for_adults;
pub use choice::Weighed;
pub use finding::Facts;
use fit::Room;
pub use pack::HostPack;

use seven_llm::{Error, Model, Reply, Request, Responding, Usage};

/// The offline model. Equal requests, the seed included, get equal replies.
#[derive(Debug, Clone)]
pub struct OfflineModel {
    pack: HostPack,
    facts: Option<Facts>,
}

// === impl OfflineModel ===

impl OfflineModel {
    pub fn new(pack: HostPack) -> Self {
        Self { pack, facts: None }
    }

    /// Reads the pack from TOML text, such as `packs/casino/host.toml`.
    pub fn from_toml(text: &str) -> Result<Self, Error> {
        Ok(Self::new(HostPack::from_toml(text)?))
    }

    /// Also answers with what the finder of facts finds, once `facts` are prepared.
    #[must_use]
    pub fn with_facts(self, facts: Facts) -> Self {
        Self {
            facts: Some(facts),
            ..self
        }
    }

    /// Returns the language of a text, if its words show it.
    pub fn detect_language(&self, text: &str) -> Option<Language> {
        self.pack.language.detect(text)
    }

    /// Returns a text as the table of acts reads it: shorthand written out, words folded.
    pub fn folded(&self, text: &str) -> String {
        let nothing = HashSet::new();
        let known = spelling::Known {
            content: &nothing,
            names: &nothing,
            is_word: &|_| true,
        };
        acts::learnt::line(&words(&self.pack.speller.mend(text, &known)))
    }

    pub fn answer(&self, request: &Request) -> Reply {
        let language = self.pack.language.choose(&request.texts, request.language);
        let request = &self.mended(request);
        let answer::Answered {
            mut parts,
            mut state,
        } = answer::parts(&self.pack, self.facts.as_ref(), request, language);
        state.grave |= parts.iter().any(|part| part.is_grave);
        if state.asked_last {
            parts.iter_mut().for_each(|part| part.ask = None);
        }
        let known = request.ask.is_some_and(|topic| state.knows(topic));
        let question = (state.may_ask() && !known)
            .then(|| profiling::ask(&self.pack, request, language, &mut parts))
            .flatten();
        let again = self.pack.say("ask_again", language, request.seed, &[]);
        let fitted = fit::assemble(Room::of(request), parts, &again);
        let asked = request
            .ask
            .filter(|_| question.is_some_and(|question| fitted.text.ends_with(&question)));
        // The answers have already put the rows that they named into `listed`.
        state.told(&state.listed.clone(), asked, fitted.text.ends_with('?'));
        Reply {
            asked,
            text: fitted.text,
            language,
            sources: fitted.sources,
            intent: fitted.intent,
            grounded: fitted.grounded,
            state,
            staff: fitted.staff,
            usage: Usage::default(),
        }
    }
}

impl OfflineModel {
    /// Returns the request with the guest's typing errors and shorthand corrected, and with a row's
    /// name in place of "that massage". The host's own texts stay as they are.
    fn mended(&self, request: &Request) -> Request {
        let (mut known, mut told) = (HashSet::new(), HashSet::new());
        for item in request.index.current(request.now) {
            let own = [Some(&item.description), item.description_es.as_ref()];
            told.extend(
                own.into_iter()
                    .flatten()
                    .chain(&item.keywords)
                    .flat_map(|text| words(text)),
            );
            known.extend(
                [Some(&item.name), item.name_es.as_ref()]
                    .into_iter()
                    .flatten()
                    .flat_map(|name| words(name)),
            );
        }
        let names: HashSet<String> = known.difference(&told).cloned().collect();
        known.extend(told);
        let is_word = |word: &str| {
            let terms = request.index.terms(word);
            terms
                .iter()
                .all(|term| term.known && term.is_literally_in(word))
        };
        let known = spelling::Known {
            content: &known,
            names: &names,
            is_word: &is_word,
        };
        let mut mended = request.clone();
        let mend = |text: &mut String| {
            *text = clock_words::in_digits(&self.pack.speller.mend(text, &known));
        };
        mended.texts.iter_mut().for_each(mend);
        mended
            .history
            .iter_mut()
            .for_each(|earlier| mend(&mut earlier.guest));
        for text in &mut mended.texts {
            if let Some(named) = pointed::named(&self.pack, request, text) {
                *text = named;
            }
        }
        mended
    }
}

impl Model for OfflineModel {
    fn name(&self) -> &str {
        "offline"
    }

    fn language(&self, texts: &[String], stored: Option<Language>) -> Language {
        self.pack.language.choose(texts, stored)
    }

    fn respond<'a>(&'a self, request: &'a Request) -> Responding<'a> {
        Box::pin(async move { Ok(self.answer(request)) })
    }
}

//! The offline host: reads a text with word lists, finds content rows, and says only what they hold (D11).
//!
//! Steps: language, what is asked (`understand`), the rows that answer it, the wording from the pack, the fit into two texts.
//! Nothing in a reply comes from anywhere but content rows, the pack's fixed wording, and the casino's name and phone.

mod about;
mod answer;
mod company;
mod compose;
mod dates;
mod exceptions;
mod exchanges;
mod fit;
mod focus;
mod follow_up;
mod host;
mod language;
mod minors;
mod pack;
mod phrases;
mod profiling;
mod reading;
mod sentences;
mod spelling;
#[cfg(test)]
mod tests;
mod understand;
mod when;

use std::collections::HashSet;

use seven_domain::Language;
use seven_knowledge::text::words;

use fit::Room;
pub use pack::HostPack;

use seven_llm::{Error, Model, Reply, Request, Responding, Usage};

/// The offline model. Deterministic for a given request and seed; it ignores tools, output schema
/// and system prompt.
#[derive(Debug, Clone)]
pub struct OfflineModel {
    pack: HostPack,
}

// === impl OfflineModel ===

impl OfflineModel {
    pub fn new(pack: HostPack) -> Self {
        Self { pack }
    }

    /// Reads the pack from the text of `packs/casino/host.toml`.
    pub fn from_toml(text: &str) -> Result<Self, Error> {
        Ok(Self::new(HostPack::from_toml(text)?))
    }

    /// Returns the language of a text, if its words show it (SMS-24, C-28).
    pub fn detect_language(&self, text: &str) -> Option<Language> {
        self.pack.language.detect(text)
    }

    pub fn answer(&self, request: &Request) -> Reply {
        let language = self.pack.language.choose(&request.texts, request.language);
        let request = &self.mended(request);
        let mut parts = answer::parts(&self.pack, request, language);
        let question = profiling::ask(&self.pack, request, language, &mut parts);
        let again = self.pack.say("ask_again", language, request.seed, &[]);
        let fitted = fit::assemble(Room::behind(request.lead.as_deref()), parts, &again);
        Reply {
            asked: request.ask.filter(|_| question.is_some_and(|question| fitted.text.ends_with(&question))),
            text: fitted.text,
            language,
            sources: fitted.sources,
            intent: fitted.intent,
            grounded: fitted.grounded,
            usage: Usage::default(),
        }
    }
}

impl OfflineModel {
    /// Returns the request with the guest's typing errors and shorthand corrected; the host's own
    /// texts stay unchanged.
    fn mended(&self, request: &Request) -> Request {
        let (mut known, mut told) = (HashSet::new(), HashSet::new());
        for item in request.index.current(request.now) {
            let own = [Some(&item.description), item.description_es.as_ref()];
            told.extend(own.into_iter().flatten().chain(&item.keywords).flat_map(|text| words(text)));
            known.extend([Some(&item.name), item.name_es.as_ref()].into_iter().flatten().flat_map(|name| words(name)));
        }
        let names: HashSet<String> = known.difference(&told).cloned().collect();
        known.extend(told);
        let is_word = |word: &str| {
            let terms = request.index.terms(word);
            terms.iter().all(|term| term.known && term.is_literally_in(word))
        };
        let known = spelling::Known { content: &known, names: &names, is_word: &is_word };
        let mut mended = request.clone();
        let mend = |text: &mut String| *text = self.pack.speller.mend(text, &known);
        mended.texts.iter_mut().for_each(mend);
        mended.history.iter_mut().for_each(|earlier| mend(&mut earlier.guest));
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

//! The offline host: reads a text with word lists, finds content rows, and says only what they hold (D11).
//!
//! Steps: language, what is asked (`understand`), the rows that answer it, the wording from the pack, the fit into two texts.
//! Nothing in a reply comes from anywhere but content rows, the pack's fixed wording, and the casino's name and phone.

mod answer;
mod compose;
mod fit;
mod language;
mod pack;
mod phrases;
#[cfg(test)]
mod tests;
mod understand;
mod when;

use seven_domain::Language;

use fit::Room;
pub use pack::HostPack;

use crate::{Error, Model, Reply, Request, Responding, Usage};

/// Deterministic for a given request and seed. Ignores tools, output schema and system prompt: it has no use for them.
#[derive(Debug, Clone)]
pub struct OfflineModel {
    pack: HostPack,
}

// === impl OfflineModel ===

impl OfflineModel {
    pub fn new(pack: HostPack) -> Self {
        Self { pack }
    }

    /// From the text of `packs/casino/host.toml`.
    pub fn from_toml(text: &str) -> Result<Self, Error> {
        Ok(Self::new(HostPack::from_toml(text)?))
    }

    /// The language of a text, when its words tell (SMS-24, C-28).
    pub fn detect_language(&self, text: &str) -> Option<Language> {
        self.pack.language.detect(text)
    }

    pub fn answer(&self, request: &Request) -> Reply {
        let language = self.pack.language.choose(&request.texts, request.language);
        let parts = answer::parts(&self.pack, request, language);
        let again = self.pack.say("ask_again", language, request.seed, &[]);
        let fitted = fit::assemble(Room::behind(request.lead.as_deref()), parts, &again);
        Reply {
            text: fitted.text,
            language,
            sources: fitted.sources,
            intent: fitted.intent,
            grounded: fitted.grounded,
            usage: Usage::default(),
        }
    }
}

impl Model for OfflineModel {
    fn name(&self) -> &str {
        "offline"
    }

    fn respond<'a>(&'a self, request: &'a Request) -> Responding<'a> {
        Box::pin(async move { Ok(self.answer(request)) })
    }
}

//! The guardrails: layers of rules from a pack (D18) that judge a guest's text. While
//! [`Guardrails::installed`] is false, no text may reach a model that needs guardrails (D10).

mod engine;
mod pack;
mod shapes;
#[cfg(test)]
mod tests;

use std::{cell::Cell, collections::BTreeSet, fmt, sync::Arc};

use serde::{Deserialize, Serialize};
use seven_domain::Language;

use self::engine::{Engine, Workspace};
pub use self::pack::{Error, Failure};
use crate::{
    keywords::Keyword, likeness::Likely, machine::Machine, second::Evidence, verdict::Verdict,
};

/// The layers of guardrails, the most serious first; `Ord` follows this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    Crisis,
    Emergency,
    PromptInjection,
    ResponsibleGaming,
    BsaAml,
    PatronPrivacy,
    Pii,
    AgeVerification,
    Identity,
    Abuse,
}

/// One rule that matched a text. It contains no part of the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    pub layer: Layer,
    pub pattern_id: String,
    pub intent: String,
    /// The language for which the rule was written, if any; it is probably the guest's language
    /// too.
    #[serde(default)]
    pub language: Option<Language>,
    /// The rule's language, such as `zh`, if the pack has only safety layers in that language;
    /// otherwise `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub safety_language: Option<String>,
}

/// The complete judgement of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decision {
    pub verdict: Verdict,
    /// The command or opt-out in the text. It takes effect even if a guardrail decides the answer,
    /// as in a cry for help with a STOP.
    pub keyword: Option<Keyword>,
    /// Every rule that matched, the most serious first. The first one decides the answer; all are
    /// logged.
    pub hits: Vec<Hit>,
    /// An opt-out or cry for help that the text is likely, but not certain, to be (D20). The text
    /// then still goes to the agents.
    pub likely: Option<Likely>,
    pub author: Author,
    /// The findings of this first reading that a second reading (`shared/reader`) needs.
    pub evidence: Evidence,
}

/// The author of a text's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    Guest,
    /// A phone's reaction that quotes our text: the guest sent it, but wrote nothing.
    Echo,
    Machine(Machine),
}

/// The rules of a casino's pack, compiled together with keywords and opt-outs. Cloning is cheap.
#[derive(Clone)]
pub struct Guardrails {
    engine: Arc<Engine>,
}

// === impl Hit ===

impl Hit {
    /// Returns whether the likeness classifier alone found this hit, without any rule.
    pub fn is_by_likeness(&self) -> bool {
        self.pattern_id.starts_with("like.")
    }
}

// === impl Layer ===

impl Layer {
    pub const ALL: [Self; 10] = [
        Self::Crisis,
        Self::Emergency,
        Self::PromptInjection,
        Self::ResponsibleGaming,
        Self::BsaAml,
        Self::PatronPrivacy,
        Self::Pii,
        Self::AgeVerification,
        Self::Identity,
        Self::Abuse,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Crisis => "crisis",
            Self::Emergency => "emergency",
            Self::PromptInjection => "prompt_injection",
            Self::ResponsibleGaming => "responsible_gaming",
            Self::BsaAml => "bsa_aml",
            Self::PatronPrivacy => "patron_privacy",
            Self::Pii => "pii",
            Self::AgeVerification => "age_verification",
            Self::Identity => "identity",
            Self::Abuse => "abuse",
        }
    }

    /// Returns whether the answer to this layer also serves `other`: the answer to a crisis names
    /// 911 and the gambling helpline too.
    pub fn serves(self, other: Self) -> bool {
        self == other || self == Self::Crisis && other.is_urgent()
    }

    /// Returns whether someone may come to harm. Such a text is answered even if the guest opts out
    /// in the same text.
    pub fn is_urgent(self) -> bool {
        matches!(
            self,
            Self::Crisis | Self::Emergency | Self::ResponsibleGaming
        )
    }
}

// === impl Decision ===

impl Decision {
    /// Returns the decision for a text that contains no words of a guest.
    pub fn of(author: Author) -> Self {
        Self {
            verdict: Verdict::Pass,
            keyword: None,
            hits: Vec::new(),
            likely: None,
            author,
            evidence: Evidence::NONE,
        }
    }

    /// Returns the language of the rule or keyword that decided. If that rule holds in every
    /// language, returns the language of another rule that matched.
    pub fn language(&self) -> Option<Language> {
        match &self.verdict {
            Verdict::Keyword(keyword) => keyword.language,
            Verdict::Guardrail(hit) => {
                let of_others = || self.hits.iter().find_map(|other| other.language);
                hit.language.or_else(of_others)
            }
            Verdict::Pass => self.keyword.and_then(|keyword| keyword.language),
        }
    }
}

// === impl Guardrails ===

impl Guardrails {
    /// Compiles a pack's rules.
    pub fn parse(source: &str) -> Result<Self, Error> {
        let engine = Engine::new(Some(pack::Pack::parse(source)?))?;
        Ok(Self {
            engine: Arc::new(engine),
        })
    }

    /// Returns a copy in contiguous memory, made by a thread with memory of its own. When the
    /// original is dropped, its fragmented memory can go back to the operating system.
    #[must_use]
    pub fn in_one_piece(&self) -> Self {
        let copied = std::thread::scope(|scope| {
            let copy = || Arc::new(Engine::clone(&self.engine));
            std::thread::Builder::new()
                .spawn_scoped(scope, copy)
                .ok()?
                .join()
                .ok()
        });
        copied.map_or_else(|| self.clone(), |engine| Self { engine })
    }

    pub fn installed(&self) -> bool {
        self.engine.has_rules()
    }

    /// Returns whether the pack has a rule of this layer.
    pub fn guards(&self, layer: Layer) -> bool {
        self.engine.guards(layer)
    }

    /// Returns the text as the rules read it: folded words separated by single spaces. Used to
    /// explain decisions and to train the classifier.
    pub fn reads(&self, text: &str) -> String {
        self.engine.reads(text, &mut Workspace::default())
    }

    /// Returns the languages in which the pack has only safety layers. Leaves out languages without
    /// a rule of this layer.
    pub fn safety_languages(&self, layer: Layer) -> BTreeSet<&str> {
        self.engine.safety_languages(layer)
    }

    /// Returns the classifier's probability of each class (D20); `None` if the text has fewer than
    /// three words.
    pub fn likeness(&self, text: &str) -> Option<Vec<(&'static str, f32)>> {
        self.engine
            .likeness(text, &mut Workspace::default())
            .map(|likeness| likeness.named().collect())
    }

    pub fn decide(&self, text: &str) -> Decision {
        thread_local! { static MEMORY: Cell<Workspace> = Cell::default(); }
        MEMORY.with(|memory| {
            let mut workspace = memory.take();
            let decision = self.engine.decide(text, &mut workspace);
            memory.set(workspace);
            decision
        })
    }

    /// Tests every rule on the examples in its pack.
    pub fn self_test(&self) -> Result<(), Error> {
        let failures = self.engine.failures(|text| self.decide(text).hits);
        if failures.is_empty() {
            Ok(())
        } else {
            Err(Error::Examples(failures))
        }
    }
}

impl Default for Guardrails {
    fn default() -> Self {
        Self {
            engine: Engine::base(),
        }
    }
}

impl fmt::Debug for Guardrails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guardrails")
            .field("rules", &self.engine.rules())
            .finish()
    }
}

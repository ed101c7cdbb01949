//! The guardrails in front of every agent: layers of rules that are applied to a guest's text
//! (SEC-20 to SEC-24).
//!
//! Rules are pack data (D18), so none is installed by default. Where guardrails are required and
//! [`Guardrails::installed`] is false, the caller must let nothing reach a model (D10). Keywords
//! and opt-outs need no pack.

mod engine;
mod pack;
mod shapes;
#[cfg(test)]
mod tests;

use std::{cell::Cell, fmt, sync::Arc};

use serde::{Deserialize, Serialize};
use seven_domain::Language;

use self::engine::{Engine, Workspace};
pub use self::pack::{Error, Failure};
use crate::{keywords::Keyword, likeness::Likely, machine::Machine, second::Evidence, verdict::Verdict};

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
    /// The language of the rule, if it is written for one; most likely also the guest's language.
    #[serde(default)]
    pub language: Option<Language>,
}

/// The complete judgement of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decision {
    pub verdict: Verdict,
    /// The command or opt-out, also when the verdict is a guardrail: a cry for help is answered
    /// first, and the opt-out still takes effect (C-21).
    pub keyword: Option<Keyword>,
    /// Every rule that matched, the most serious first (SEC C-13: answer the worst, log all).
    pub hits: Vec<Hit>,
    /// The opt-out or cry for help that the text resembles without being one for certain (D20).
    /// Such a text still goes to the agents.
    pub likely: Option<Likely>,
    pub author: Author,
    /// Findings of this first reading that a second reading needs.
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
    /// Returns whether only the likeness classifier found this, and no rule.
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

    /// Returns whether the answer to this layer also covers `other`: the answer to a crisis names
    /// 911 and the gambling helpline.
    pub fn serves(self, other: Self) -> bool {
        self == other || self == Self::Crisis && other.is_urgent()
    }

    /// Returns whether someone may come to harm. Such a text is answered even if the guest also
    /// opts out in plain language (C-21).
    pub fn is_urgent(self) -> bool {
        matches!(self, Self::Crisis | Self::Emergency | Self::ResponsibleGaming)
    }
}

// === impl Decision ===

impl Decision {
    /// Returns the decision for a text that contains no words of the guest.
    pub fn of(author: Author) -> Self {
        Self { verdict: Verdict::Pass, keyword: None, hits: Vec::new(), likely: None, author, evidence: Evidence::NONE }
    }
}

// === impl Guardrails ===

impl Guardrails {
    /// Compiles a pack's rules.
    pub fn parse(source: &str) -> Result<Self, Error> {
        let engine = Engine::new(Some(pack::Pack::parse(source)?))?;
        Ok(Self { engine: Arc::new(engine) })
    }

    /// Returns a copy whose memory is contiguous. Compiling leaves small gaps between the data it
    /// keeps; a copy made by a separate thread has its own memory, so the rest can be returned to
    /// the system.
    #[must_use]
    pub fn in_one_piece(&self) -> Self {
        let copied = std::thread::scope(|scope| {
            let copy = || Arc::new(Engine::clone(&self.engine));
            std::thread::Builder::new().spawn_scoped(scope, copy).ok()?.join().ok()
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

    /// Returns the text in its folded form, words separated by single spaces. Serves explanations
    /// of decisions, and training.
    pub fn reads(&self, text: &str) -> String {
        self.engine.reads(text, &mut Workspace::default())
    }

    /// Returns the classifier's probability of each class (D20), or none for a text of fewer than
    /// three words.
    pub fn likeness(&self, text: &str) -> Option<Vec<(&'static str, f32)>> {
        self.engine.likeness(text, &mut Workspace::default()).map(|likeness| likeness.named().collect())
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
        if failures.is_empty() { Ok(()) } else { Err(Error::Examples(failures)) }
    }
}

impl Default for Guardrails {
    fn default() -> Self {
        Self { engine: Engine::base() }
    }
}

impl fmt::Debug for Guardrails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guardrails").field("rules", &self.engine.rules()).finish()
    }
}

//! Where safety patterns plug in: an ordered set of layers, evaluated over a guest's text (SEC-20 to SEC-24).
//!
//! Patterns are pack data (D18), so nothing is installed by default and the caller can tell: where guardrails are
//! required and [`Guardrails::installed`] is false, nothing may reach a model (D10).

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

/// What was touched, the most serious first; `Ord` follows.
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

    pub fn as_str(self) -> &'static str {
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
}

/// One pattern that fired; holds no part of the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    pub layer: Layer,
    pub pattern_id: String,
    pub intent: String,
}

/// Finds hits in a text; must be pure and quick (SEC-20).
pub trait Detector: Send + Sync {
    fn scan(&self, text: &str) -> Vec<Hit>;
}

/// The detectors of a casino's packs. Cheap to clone.
#[derive(Clone, Default)]
pub struct Guardrails {
    detectors: Vec<Arc<dyn Detector>>,
}

impl Guardrails {
    pub fn new(detectors: Vec<Arc<dyn Detector>>) -> Self {
        Self { detectors }
    }

    pub fn installed(&self) -> bool {
        !self.detectors.is_empty()
    }

    /// Every hit of every layer, the most serious first (SEC C-13: answer the worst, log all).
    pub fn evaluate(&self, text: &str) -> Vec<Hit> {
        let mut hits: Vec<Hit> = self.detectors.iter().flat_map(|detector| detector.scan(text)).collect();
        hits.sort_by_key(|hit| hit.layer);
        hits
    }
}

impl fmt::Debug for Guardrails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guardrails").field("detectors", &self.detectors.len()).finish()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Fires when the text holds the word.
    pub(crate) struct Word(pub(crate) &'static str, pub(crate) Layer);

    impl Detector for Word {
        fn scan(&self, text: &str) -> Vec<Hit> {
            let hit = Hit { layer: self.1, pattern_id: format!("test.{}", self.0), intent: self.0.to_owned() };
            if text.contains(self.0) { vec![hit] } else { vec![] }
        }
    }

    #[test]
    fn nothing_is_installed_by_default() {
        let none = Guardrails::default();
        assert!(!none.installed());
        assert_eq!(none.evaluate("anything at all"), vec![]);
    }

    #[test]
    fn all_hits_come_worst_first() {
        // SEC-20, SEC C-13
        let both =
            Guardrails::new(vec![Arc::new(Word("cash", Layer::BsaAml)), Arc::new(Word("hurt", Layer::Emergency))]);
        assert!(both.installed());
        let hits = both.evaluate("hurt by cash");
        assert_eq!(hits.iter().map(|h| h.layer).collect::<Vec<_>>(), [Layer::Emergency, Layer::BsaAml]);
        assert_eq!(both.evaluate("fine"), vec![]);
    }

    #[test]
    fn layers_are_ordered_and_named_alike_everywhere() {
        assert!(Layer::ALL.is_sorted());
        for layer in Layer::ALL {
            let pascal: String = layer.as_str().split('_').map(|w| w[..1].to_uppercase() + &w[1..]).collect();
            assert_eq!(pascal, format!("{layer:?}"));
        }
    }
}

//! Where a fact about a guest comes from (DATA-17).

use serde::{Deserialize, Serialize};

use crate::Confidence;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The guest said so in as many words.
    SelfReported,
    /// Read out of what the guest wrote about something else.
    ContextualExtraction,
    /// Concluded.
    Inferred,
    CrmImport,
    /// Given in exchange for an incentive.
    IncentiveExchange,
    /// By a detector (language).
    AutoDetected,
}

impl Source {
    pub const ALL: [Self; 6] = [
        Self::SelfReported,
        Self::ContextualExtraction,
        Self::Inferred,
        Self::CrmImport,
        Self::IncentiveExchange,
        Self::AutoDetected,
    ];

    /// The confidence a fact from here may start with. The specification has none for `auto_detected`: any.
    pub fn range(self) -> (Confidence, Confidence) {
        let (low, high) = match self {
            Self::SelfReported => (85, 100),
            Self::ContextualExtraction => (65, 85),
            Self::Inferred => (50, 70),
            Self::CrmImport => (90, 100),
            Self::IncentiveExchange => (85, 95),
            Self::AutoDetected => (0, 100),
        };
        (Confidence::percent(low), Confidence::percent(high))
    }

    /// Brings a confidence into this source's range.
    pub fn clamp(self, confidence: Confidence) -> Confidence {
        let (low, high) = self.range();
        confidence.clamp(low, high)
    }

    /// Whether it is the guest who told us.
    pub fn is_guest(self) -> bool {
        matches!(self, Self::SelfReported | Self::ContextualExtraction | Self::IncentiveExchange)
    }
}

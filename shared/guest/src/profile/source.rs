//! Where a fact about a guest comes from.

use serde::{Deserialize, Serialize};

use crate::Confidence;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The guest stated the fact explicitly.
    SelfReported,
    /// Extracted from a text in which the guest wrote about something else.
    ContextualExtraction,
    /// Inferred from other facts.
    Inferred,
    CrmImport,
    /// The guest stated the fact in return for an incentive.
    IncentiveExchange,
    /// Found by a detector, such as the language.
    AutoDetected,
    /// Entered by a person of the casino.
    Operator,
}

impl Source {
    pub const ALL: [Self; 7] = [
        Self::SelfReported,
        Self::ContextualExtraction,
        Self::Inferred,
        Self::CrmImport,
        Self::IncentiveExchange,
        Self::AutoDetected,
        Self::Operator,
    ];

    /// Returns the lowest and the highest confidence with which a fact from this source may start.
    /// Any value is allowed for `auto_detected`.
    pub fn range(self) -> (Confidence, Confidence) {
        let (low, high) = match self {
            Self::SelfReported => (85, 100),
            Self::ContextualExtraction => (65, 85),
            Self::Inferred => (50, 70),
            Self::CrmImport | Self::Operator => (90, 100),
            Self::IncentiveExchange => (85, 95),
            Self::AutoDetected => (0, 100),
        };
        (Confidence::percent(low), Confidence::percent(high))
    }

    /// Returns the confidence, moved into this source's range if it is outside.
    pub fn clamp(self, confidence: Confidence) -> Confidence {
        let (low, high) = self.range();
        confidence.clamp(low, high)
    }

    /// Returns whether the fact came from the guest.
    pub fn is_guest(self) -> bool {
        matches!(
            self,
            Self::SelfReported | Self::ContextualExtraction | Self::IncentiveExchange
        )
    }
}

//! How close a row must be to count as an answer, per category and per embedding (RAG-30): the
//! numbers of one model mean nothing for another.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Category, Space};

/// Lowest cosine per category, and lowest lexical score. A row that reaches either one is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thresholds {
    /// For categories not listed below.
    pub default: f32,
    #[serde(default)]
    pub categories: BTreeMap<Category, f32>,
    /// Share of the query's words that a row must contain if its vector is not close enough
    /// (RAG-37).
    pub lexical: f32,
}

/// The seed's table, measured with `gemini-embedding-001`.
const SEED: &[(&str, f32)] = &[
    ("dining", 0.60),
    ("spa", 0.60),
    ("hours", 0.60),
    ("entertainment", 0.65),
    ("gaming", 0.65),
    ("promotions", 0.65),
    ("regulations", 0.75),
];
const SEED_DEFAULT: f32 = 0.65;

/// Equally strict thresholds for the offline embedding, found in steps of 0.02 over the tuned
/// questions of `tests/retrieval/demo.jsonl`.
const OFFLINE: &[(&str, f32)] = &[("regulations", 0.32)];
const OFFLINE_DEFAULT: f32 = 0.24;

/// Half of the query's meaning, which the offline host also requires.
const LEXICAL: f32 = 0.5;

// === impl Thresholds ===

impl Thresholds {
    /// Returns the table for an embedding; one that was never calibrated gets the seed's.
    pub fn of(space: &Space) -> Self {
        if space.model == "offline" { Self::table(OFFLINE_DEFAULT, OFFLINE) } else { Self::table(SEED_DEFAULT, SEED) }
    }

    /// Keeps every row, to inspect those that would have been dropped.
    pub fn none() -> Self {
        Self { default: f32::NEG_INFINITY, categories: BTreeMap::new(), lexical: 0.0 }
    }

    pub fn cosine(&self, category: &Category) -> f32 {
        self.categories.get(category).copied().unwrap_or(self.default)
    }

    fn table(default: f32, categories: &[(&str, f32)]) -> Self {
        let categories = categories.iter().map(|(name, least)| (Category::from(*name), *least)).collect();
        Self { default, categories, lexical: LEXICAL }
    }
}

impl Default for Thresholds {
    /// For an index without vectors, where only words count.
    fn default() -> Self {
        Self::table(SEED_DEFAULT, SEED)
    }
}

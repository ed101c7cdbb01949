//! The scores that a row must reach to be an answer. They differ by category and by embedder,
//! because the cosines of two models cannot be compared.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Category, Space};

/// The lowest cosine per category, and the lowest score by words. A row must reach at least one of
/// the two.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thresholds {
    /// The lowest cosine in categories that `categories` does not list.
    pub default: f32,
    #[serde(default)]
    pub categories: BTreeMap<Category, f32>,
    /// The share of the question's words that a row must contain if its vector is not close enough.
    pub lexical: f32,
    /// A row takes part in the ranking by vectors only if its cosine is at least this share of the
    /// best cosine. Fusion sees only ranks. Without this limit, a row that is mediocre in both
    /// rankings could come before a row that is very good in one.
    #[serde(default = "share")]
    pub share: f32,
}

/// The specification's table of lowest cosines, measured with `gemini-embedding-001`.
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

/// Thresholds for the offline embedder, as strict as `SEED`. They were measured in steps of 0.02 on
/// the questions of `tests/retrieval/demo.jsonl` that are not held out.
const OFFLINE: &[(&str, f32)] = &[("regulations", 0.32)];
const OFFLINE_DEFAULT: f32 = 0.24;

/// The local embedding's cosines all lie between 0.7 and 0.95, and no threshold separates right
/// rows from wrong ones. A threshold of 0.80 would lose 4 of 100 right answers. It would find
/// nothing for only a fifth of the questions that no row answers. `LOCAL_DEFAULT` therefore lets
/// all rows pass, and the narrow `LOCAL_SHARE` keeps wrong rows out of the ranking. Measured on the
/// same questions as `OFFLINE`.
const LOCAL_DEFAULT: f32 = 0.65;
const LOCAL_SHARE: f32 = 0.97;

/// `Thresholds::share` for all other embedders.
const SHARE: f32 = 0.6;

/// `Thresholds::lexical`: a row must contain half of the question's words, counted by their weight.
/// The offline host requires the same.
const LEXICAL: f32 = 0.5;

// === impl Thresholds ===

impl Thresholds {
    /// Returns the thresholds for an embedder. An embedder that was never calibrated gets the
    /// specification's.
    pub fn of(space: &Space) -> Self {
        match space.model.as_str() {
            "offline" => Self::table(OFFLINE_DEFAULT, OFFLINE),
            "local-e5-small" => Self {
                share: LOCAL_SHARE,
                ..Self::table(LOCAL_DEFAULT, &[])
            },
            _ => Self::table(SEED_DEFAULT, SEED),
        }
    }

    pub fn cosine(&self, category: &Category) -> f32 {
        self.categories
            .get(category)
            .copied()
            .unwrap_or(self.default)
    }

    fn table(default: f32, categories: &[(&str, f32)]) -> Self {
        let categories = categories
            .iter()
            .map(|(name, least)| (Category::from(*name), *least))
            .collect();
        Self {
            default,
            categories,
            lexical: LEXICAL,
            share: SHARE,
        }
    }
}

fn share() -> f32 {
    SHARE
}

impl Default for Thresholds {
    /// Returns the thresholds for an index without vectors; the search there uses only the words.
    fn default() -> Self {
        Self::table(SEED_DEFAULT, SEED)
    }
}

//! How the content of one trade is searched: a pack's `[retrieval]` (D12).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Space, TOP_K, Thresholds};

/// The highest value allowed for `rows`. With more rows, the useful ones get lost in the prompt.
const MOST_ROWS: usize = 20;

/// Settings of the search. A setting that the pack omits keeps its measured default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Retrieval {
    /// How many rows a question gets, 1 to 20.
    pub rows: usize,
    /// The balance between relevance (1) and variety (0) among the rows; `None` keeps the ranking.
    pub relevance: Option<f32>,
    /// Thresholds that replace the calibrated ones, by the name of the embedding model, such as
    /// "local-e5-small". Each model needs its own, because cosines of two models cannot be
    /// compared.
    pub thresholds: BTreeMap<String, Thresholds>,
}

// === impl Retrieval ===

impl Retrieval {
    /// Returns the thresholds for the vectors of an index: the pack's own, or else the calibrated
    /// ones.
    pub(crate) fn thresholds(&self, space: Option<&Space>) -> Thresholds {
        let own = space.and_then(|space| self.thresholds.get(space.model.as_str()));
        own.cloned()
            .unwrap_or_else(|| space.map_or_else(Thresholds::default, Thresholds::of))
    }

    /// Checks that each number of the settings is in its range.
    ///
    /// # Errors
    /// Names the first setting that is out of range, and the range.
    pub fn check(&self) -> Result<(), String> {
        if !(1..=MOST_ROWS).contains(&self.rows) {
            return Err(format!("`rows` is {}; 1 to {MOST_ROWS} fit", self.rows));
        }
        let share = |name: &str, value: f32| {
            if (0.0..=1.0).contains(&value) {
                Ok(())
            } else {
                Err(format!("`{name}` is {value}; 0 to 1 fit"))
            }
        };
        share("relevance", self.relevance.unwrap_or(1.0))?;
        for (model, of) in &self.thresholds {
            let name = |what: &str| format!("thresholds.{model}.{what}");
            share(&name("lexical"), of.lexical)?;
            share(&name("share"), of.share)?;
            share(&name("default"), of.default)?;
            for (category, least) in &of.categories {
                share(&name(category.as_str()), *least)?;
            }
        }
        Ok(())
    }
}

impl Default for Retrieval {
    fn default() -> Self {
        Self {
            rows: TOP_K,
            relevance: None,
            thresholds: BTreeMap::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_rows(rows: usize) -> Retrieval {
        Retrieval {
            rows,
            ..Retrieval::default()
        }
    }

    fn with_least(default: f32) -> Retrieval {
        let own = Thresholds {
            default,
            ..Thresholds::default()
        };
        Retrieval {
            thresholds: BTreeMap::from([("offline".to_owned(), own)]),
            ..Retrieval::default()
        }
    }

    #[test] // WEB-34, WEB-37
    fn a_number_out_of_range_is_refused_with_what_fits() {
        assert_eq!(Retrieval::default().check(), Ok(()));
        assert_eq!(with_rows(20).check(), Ok(()));
        for rows in [0, 21] {
            let said = with_rows(rows).check().unwrap_err();
            assert_eq!(said, format!("`rows` is {rows}; 1 to 20 fit"));
        }
        let said = with_least(1.2).check().unwrap_err();
        assert_eq!(said, "`thresholds.offline.default` is 1.2; 0 to 1 fit");
        let varied = Retrieval {
            relevance: Some(-0.1),
            ..Retrieval::default()
        };
        assert_eq!(
            varied.check().unwrap_err(),
            "`relevance` is -0.1; 0 to 1 fit"
        );
    }

    #[test] // RAG-30, WEB-37
    fn own_thresholds_hold_for_their_embedding_alone() {
        let space = |model: &str| Space {
            model: model.to_owned(),
            version: "1".to_owned(),
            dimension: 4,
        };
        let (offline, other) = (space("offline"), space("other"));
        let own = with_least(0.9);
        assert_eq!(own.thresholds(Some(&offline)).default, 0.9);
        assert_eq!(own.thresholds(Some(&other)), Thresholds::of(&other));
        assert_eq!(own.thresholds(None), Thresholds::default());
    }
}

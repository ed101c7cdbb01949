//! Recognises acts with a table learnt from labelled texts (`scripts/data/train_tables.py`), for
//! wordings that the pack does not list.

use std::sync::LazyLock;

use seven_text::linear::Linear;

const CLASSES: usize = 22;

static BYTES: &[u8] = include_bytes!("../../data/acts.bin");
static TABLE: LazyLock<Linear<CLASSES, 24>> =
    LazyLock::new(|| Linear::read(BYTES).expect("the table is part of the crate and tested"));

/// The acts in the order of the table, by their keys in the pack.
const KEYS: [&str; CLASSES] = [
    "ask",
    "recommend",
    "narrow",
    "correct",
    "compare",
    "more",
    "reject",
    "accept",
    "booking",
    "change",
    "comp",
    "complaint",
    "account",
    "thanks",
    "sarcasm",
    "smalltalk",
    "competitor",
    "tell",
    "goodbye",
    "human",
    "greeting",
    "policy",
];

/// The probabilities of a text's acts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Learnt([f32; CLASSES]);

// === impl Learnt ===

impl Learnt {
    /// Classifies the folded words of a text.
    pub(crate) fn of(words: &[String]) -> Self {
        Self(TABLE.odds(&line(words)))
    }

    /// Returns the probabilities of all acts.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&'static str, f32)> {
        KEYS.into_iter().zip(self.0)
    }

    /// Returns the probability of an act; zero for one that was not learnt.
    pub(crate) fn odds(&self, key: &str) -> f32 {
        let known = KEYS.iter().zip(self.0).find(|(known, _)| **known == key);
        known.map_or(0.0, |(_, odds)| odds)
    }
}

/// Writes words as the table reads them: one space before, between and after.
pub(crate) fn line(words: &[String]) -> String {
    format!(" {} ", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole() {
        assert!(Linear::<CLASSES, 24>::read(BYTES).is_some());
    }
}

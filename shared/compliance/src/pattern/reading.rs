//! The result of reading a text with a lexicon.

use crate::normal::Folded;

pub(crate) type Symbol = u32;

/// The number of words that are searched together. Their mask has 64 bits: one per word, and at
/// least one for the position after the last word.
pub(super) const WINDOW: usize = 60;

/// A folded text, and the symbols found in it.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) folded: Folded,
    /// For each word, its symbol; `None` if the word occurs in no keyword and no opt-out.
    pub(crate) base: Vec<Option<Symbol>>,
    /// Whether pieces were joined into a word that only the pack knows; the base alone would read
    /// such a text differently.
    pub(crate) foreign_joins: bool,
    pub(super) whole: Vec<Option<Symbol>>,
    /// Pairs of a word's index and its symbol; sorted by index if the text is longer than a window.
    pub(super) seen: Vec<(u32, Symbol)>,
}

impl Reading {
    pub(super) fn clear(&mut self) {
        self.base.clear();
        self.whole.clear();
        self.seen.clear();
        self.foreign_joins = false;
    }
}

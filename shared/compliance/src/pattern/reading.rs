//! The result of reading a text with a lexicon.

use crate::normal::Folded;

pub(crate) type Symbol = u32;

/// Words searched together: fewer than the 64 bits of a mask, which has a bit for "after the last word" too.
pub(super) const WINDOW: usize = 60;

/// A folded text and the symbols found in it.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) folded: Folded,
    /// For each word, the symbol of the keyword or opt-out word that it is.
    pub(crate) base: Vec<Option<Symbol>>,
    /// Whether a word that only the pack knows was joined from pieces; the base alone would read
    /// such a text differently.
    pub(crate) foreign_joins: bool,
    pub(super) whole: Vec<Option<Symbol>>,
    /// Pairs of a word's index and its symbol; sorted by word if the text is longer than a window.
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

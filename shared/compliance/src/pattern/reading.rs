//! A text as a lexicon reads it.

use crate::normal::Folded;

pub(crate) type Symbol = u32;

/// Words looked at together; a bit more than one is needed for "after the last".
pub(super) const WINDOW: usize = 60;

/// A text, read with a lexicon.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) folded: Folded,
    /// By word: which word of the keywords and opt-outs it is.
    pub(crate) base: Vec<Option<Symbol>>,
    /// A word known only to a pack was put together from pieces: the base would read the text otherwise.
    pub(crate) foreign_joins: bool,
    pub(super) whole: Vec<Option<Symbol>>,
    /// (word, what it is); by word where the text is longer than a window.
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

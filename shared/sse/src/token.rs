//! The tokens of a reply: words, cut from the stored text. If a stream begins in the middle of a
//! text, its joined tokens equal the rest of the stored text, byte for byte.

use std::{fmt, str::FromStr};

use unicode_segmentation::UnicodeSegmentation;

/// Maximum length of a token in grapheme clusters, for text without spaces.
const MOST_GRAPHEMES: usize = 24;

/// A place in a conversation's stream, which the client returns in `Last-Event-ID`. The client has
/// all texts before number `seq`, and the first `offset` bytes of text `seq`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    /// Number of the text in its conversation.
    pub seq: i64,
    /// Number of bytes of the text that were written.
    pub offset: usize,
}

/// A word of a text with the blanks after it, or a piece of a very long word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    pub content: &'a str,
    /// Number of bytes of the text up to the end of this token.
    pub end: usize,
}

/// Error: a `Last-Event-ID` that we did not write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoCursor;

// === impl Cursor ===

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, self.offset)
    }
}

impl FromStr for Cursor {
    type Err = NoCursor;

    fn from_str(text: &str) -> Result<Self, NoCursor> {
        let (seq, offset) = text.split_once(':').ok_or(NoCursor)?;
        let seq: i64 = seq.parse().map_err(|_| NoCursor)?;
        let offset = offset.parse().map_err(|_| NoCursor)?;
        // Strings such as "+5" and "05" parse as numbers, but we never write them.
        let cursor = Self { seq, offset };
        (seq >= 0 && cursor.to_string() == text)
            .then_some(cursor)
            .ok_or(NoCursor)
    }
}

/// Cuts the text after its first `written` bytes into tokens, each a word with the blanks after it.
/// If `written` is inside a character, starts at the beginning of that character.
pub fn tokens(text: &str, written: usize) -> impl Iterator<Item = Token<'_>> {
    let mut begin = text.floor_char_boundary(written);
    std::iter::from_fn(move || {
        let rest = &text[begin..];
        let length = length_of(rest)?;
        let content = &rest[..length];
        begin += length;
        Some(Token {
            content,
            end: begin,
        })
    })
}

/// Returns the length in bytes of the first token of a text; `None` for an empty text.
fn length_of(text: &str) -> Option<usize> {
    let mut blank = false;
    let graphemes = text.grapheme_indices(true).take(MOST_GRAPHEMES);
    let mut end = 0;
    for (at, grapheme) in graphemes {
        let is_blank = grapheme.chars().all(char::is_whitespace);
        // A new word begins here, so the token ends.
        if blank && !is_blank {
            return Some(at);
        }
        blank |= is_blank;
        end = at + grapheme.len();
    }
    (end > 0).then_some(end)
}

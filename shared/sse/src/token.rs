//! The tokens of a reply: its words, cut from the stored text. Joined they are the text, byte for
//! byte, wherever a stream begins.

use std::{fmt, str::FromStr};

use unicode_segmentation::UnicodeSegmentation;

/// Longest token in grapheme clusters: a script without blanks is cut here.
const MOST_GRAPHEMES: usize = 24;

/// A place in a conversation's stream, as the client gives it back in `Last-Event-ID`: everything
/// up to `offset` of the text `seq` was written, and all texts before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    /// Number of the text in its conversation.
    pub seq: i64,
    /// Bytes of the text that were written.
    pub offset: usize,
}

/// A piece of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    pub content: &'a str,
    /// Bytes of the text that are written with this token.
    pub end: usize,
}

/// A `Last-Event-ID` that is none of ours.
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
        // "+5" and "05" are numbers, but no cursor that we wrote.
        let cursor = Self { seq, offset };
        (seq >= 0 && cursor.to_string() == text)
            .then_some(cursor)
            .ok_or(NoCursor)
    }
}

/// Cuts the rest of a text after the first `written` bytes into tokens: a word with the blanks
/// after it. A number of bytes inside a character counts from that character's beginning.
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

/// Returns the bytes of the first token of a text; `None` for no text.
fn length_of(text: &str) -> Option<usize> {
    let mut blank = false;
    let graphemes = text.grapheme_indices(true).take(MOST_GRAPHEMES);
    let mut end = 0;
    for (at, grapheme) in graphemes {
        let is_blank = grapheme.chars().all(char::is_whitespace);
        // The next word begins.
        if blank && !is_blank {
            return Some(at);
        }
        blank |= is_blank;
        end = at + grapheme.len();
    }
    (end > 0).then_some(end)
}

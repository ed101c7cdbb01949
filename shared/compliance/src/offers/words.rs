//! Splits a reply into sentences of folded words with their positions. Numbers, currency signs and
//! clause breaks are kept, because an amount means nothing without them.

use std::ops::Range;

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) span: Range<usize>,
    /// The separator between this word and the previous one.
    pub(super) gap: Gap,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    None,
    Space,
    Hyphen,
    /// A comma, a dash or a slash; the words on its two sides belong to different things.
    Clause,
}

impl Word {
    pub(super) fn is(&self, text: &str) -> bool {
        self.text == text
    }

    pub(super) fn is_number(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_digit())
    }

    /// Returns whether the word consists of letters, not of a number or a sign.
    pub(super) fn is_letters(&self) -> bool {
        self.text.starts_with(char::is_alphabetic)
    }
}

/// Splits a text into sentences. Each sentence is judged alone, so that no other sentence can
/// excuse an offer in it.
pub(super) fn sentences(text: &str) -> Vec<Vec<Word>> {
    let mut reader = Reader::default();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().and_then(|&(_, c)| folded(c).next());
        for f in folded(c) {
            reader.push(f, at..at + c.len_utf8(), next);
        }
    }
    reader.end_sentence();
    reader.sentences
}

fn folded(c: char) -> impl Iterator<Item = char> {
    let c = if c == '…' { '\n' } else { c };
    std::iter::once(c)
        .nfkd()
        .flat_map(char::to_lowercase)
        .filter(|&c| !is_combining_mark(c) && !is_silent(c))
}

/// Returns whether the character is dropped: apostrophes ("you’ll" is `youll`) and invisible
/// characters.
fn is_silent(c: char) -> bool {
    matches!(
        c,
        '\'' | '`' | '´' | '‘' | '’' | 'ʼ' | '′' | '\u{ad}' | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
    )
}

#[derive(Debug, Default)]
struct Reader {
    sentences: Vec<Vec<Word>>,
    words: Vec<Word>,
    gap: Option<Gap>,
}

impl Reader {
    fn push(&mut self, c: char, span: Range<usize>, next: Option<char>) {
        let next_is_digit = next.is_some_and(|n| n.is_ascii_digit());
        match c {
            '0'..='9' => self.grow(c, span, Word::is_number),
            '.' | ',' if next_is_digit && self.open().is_some_and(Word::is_number) => {
                self.grow(c, span, Word::is_number);
            }
            // Reads an amount without a leading zero: "$.50".
            '.' if next_is_digit && self.open().is_some_and(|w| w.is("$")) => {
                self.start('0', span.clone());
                self.grow(c, span, Word::is_number);
            }
            '$' | '€' | '£' | '¢' | '%' => self.start(c, span),
            c if c.is_alphanumeric() => self.grow(c, span, Word::is_letters),
            '\n' | '\r' | '!' | '?' | '¡' | '¿' | ';' => self.end_sentence(),
            '.' if next.is_none_or(char::is_whitespace) => self.end_sentence(),
            '-' | '‐' | '‑' | '–' | '_' => self.widen(Gap::Hyphen),
            ',' | '.' | '+' | '/' | '&' | '—' | '|' | '•' => self.widen(Gap::Clause),
            _ => self.widen(Gap::Space),
        }
    }

    /// Returns the last word, unless a separator has followed it.
    fn open(&self) -> Option<&Word> {
        self.words.last().filter(|_| self.gap.is_none())
    }

    fn grow(&mut self, c: char, span: Range<usize>, same: fn(&Word) -> bool) {
        match self.words.last_mut() {
            Some(word) if self.gap.is_none() && same(word) => {
                word.text.push(c);
                word.span.end = span.end;
            }
            _ => self.start(c, span),
        }
    }

    fn start(&mut self, c: char, span: Range<usize>) {
        let gap = self.gap.take().unwrap_or(Gap::None);
        self.words.push(Word {
            text: c.to_string(),
            span,
            gap,
        });
    }

    fn widen(&mut self, by: Gap) {
        self.gap = Some(match (self.gap, by) {
            // A hyphen with a blank beside it is a dash.
            (Some(Gap::Space), Gap::Hyphen) | (Some(Gap::Hyphen), Gap::Space) => Gap::Clause,
            (gap, by) => gap.map_or(by, |gap| gap.max(by)),
        });
    }

    fn end_sentence(&mut self) {
        self.gap = None;
        if !self.words.is_empty() {
            self.sentences.push(std::mem::take(&mut self.words));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_sentences() {
        for (text, expected) in [
            ("You'll get $1,000.00 today.", "youll get $ 1,000.00 today"),
            ("It is $.50. ¡Crédito!", "it is $ 0.50 / credito"),
            ("＄５０ 2x1 50usd", "$ 50 2 x 1 50 usd"),
            ("5.5, 6. 7\n8", "5.5 6 / 7 / 8"),
            ("…", ""),
        ] {
            let read: Vec<String> = sentences(text)
                .iter()
                .map(|s| {
                    s.iter()
                        .map(|w| w.text.as_str())
                        .collect::<Vec<_>>()
                        .join(" ")
                })
                .collect();
            assert_eq!(read.join(" / "), expected, "{text:?}");
        }
    }

    #[test]
    fn keeps_gaps_and_spans() {
        let text = "gluten-free, $25 – «5k»";
        let words = sentences(text).remove(0);
        let gaps: Vec<Gap> = words.iter().map(|w| w.gap).collect();
        assert_eq!(
            gaps,
            [
                Gap::None,
                Gap::Hyphen,
                Gap::Clause,
                Gap::None,
                Gap::Clause,
                Gap::None
            ],
            "{words:?}"
        );
        assert_eq!(&text[words[5].span.clone()], "k");
    }
}

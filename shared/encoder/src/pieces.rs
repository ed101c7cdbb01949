//! Converts a text to the numbers of its word pieces.

use candle_core::Result;
use unicode_normalization::UnicodeNormalization;

use crate::vocabulary::Vocabulary;

/// Marks the beginning of a word.
const WORD: char = '\u{2581}';
/// Length in bytes that few pieces exceed. If at most `n` pieces of a text are read, the text is
/// first cut to about `n * LONG_PIECE` bytes.
const LONG_PIECE: usize = 16;

/// Whether capital letters are kept or replaced by lower-case letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    Kept,
    Lower,
}

/// The numbers of the special pieces: the beginning and the end of a text, and characters that no
/// piece contains.
#[derive(Debug, Clone, Copy)]
pub struct Marks {
    pub begin: u32,
    pub end: u32,
    pub unknown: u32,
}

#[derive(Debug)]
pub struct Pieces {
    vocabulary: Vocabulary,
    marks: Marks,
    case: Case,
}

impl Pieces {
    /// Builds the table from the pieces in the order of their numbers, each with the logarithm of
    /// its probability.
    ///
    /// # Errors
    /// Fails if a piece occurs twice.
    pub fn new<S: AsRef<str>>(words: &[(S, f32)], marks: Marks, case: Case) -> Result<Self> {
        Ok(Self {
            vocabulary: Vocabulary::new(words, marks.unknown)?,
            marks,
            case,
        })
    }

    /// Returns the text's first `most` pieces, between the marks of begin and end.
    pub fn ids(&self, text: &str, most: usize) -> Vec<u32> {
        let line = line(text, most * LONG_PIECE, self.case);
        let ids = self.vocabulary.divide(&line).into_iter().take(most);
        std::iter::once(self.marks.begin)
            .chain(ids)
            .chain([self.marks.end])
            .collect()
    }
}

/// Returns the text in NFKC form, with the mark `WORD` before each word. The result ends with the
/// word that makes it `most` bytes long or longer.
fn line(text: &str, most: usize, case: Case) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        line.push(WORD);
        let signs = word
            .nfkc()
            .flat_map(|sign| {
                let lower = (case == Case::Lower).then(|| sign.to_lowercase());
                let kept = lower.is_none().then_some(sign);
                lower.into_iter().flatten().chain(kept)
            })
            .nfkc()
            .filter(|c| !c.is_control() && !is_format(*c));
        line.extend(signs.take(most));
        if line.len() >= most {
            break;
        }
    }
    line
}

/// Returns true for invisible characters, such as joiners and direction marks.
fn is_format(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_by_what_it_shows() {
        for (text, lower, kept) in [
            (
                "  Stop  IT ",
                "\u{2581}stop\u{2581}it",
                "\u{2581}Stop\u{2581}IT",
            ),
            ("ＳＴＯＰ", "\u{2581}stop", "\u{2581}STOP"),
            ("ba\u{200b}ja\u{feff}", "\u{2581}baja", "\u{2581}baja"),
            ("¿Que\u{301}?", "\u{2581}¿qué?", "\u{2581}¿Qué?"),
            ("", "", ""),
        ] {
            assert_eq!(line(text, 100, Case::Lower), lower);
            assert_eq!(line(text, 100, Case::Kept), kept);
        }
        let of = |text: &str, most| line(text, most, Case::Lower);
        assert!(of(&"a".repeat(1_000_000), 2_000).len() < 2_100);
        assert_eq!(of(&"ab ".repeat(1_000_000), 10), "\u{2581}ab\u{2581}ab");
    }

    #[test]
    fn a_text_is_cut_to_its_first_pieces_between_the_marks() {
        let words = [
            ("<s>", 0.0),
            ("</s>", 0.0),
            ("<unk>", 0.0),
            ("\u{2581}a", -1.0),
        ];
        let marks = Marks {
            begin: 0,
            end: 1,
            unknown: 2,
        };
        let pieces = Pieces::new(&words, marks, Case::Kept).unwrap();
        assert_eq!(pieces.ids("a a a a", 2), [0, 3, 3, 1]);
        assert_eq!(pieces.ids("a A", 9), [0, 3, 2, 1]);
        assert_eq!(pieces.ids(" ", 9), [0, 1]);
    }
}

//! Divides a text into the most probable pieces of a vocabulary (the unigram model of
//! SentencePiece, Kudo 2018).
//!
//! The pieces are stored sorted in one text, which is searched by bisection. The 250,000 pieces of
//! multilingual-e5-small then take 7 MB. The crate `tokenizers` builds a tree of hash maps, which
//! would take 255 MB.

use candle_core::{Result, bail};

/// A character that no piece contains gets the score of the rarest piece minus this number.
/// SentencePiece subtracts the same number.
const UNKNOWN_PENALTY: f64 = 10.0;

#[derive(Debug)]
pub(crate) struct Vocabulary {
    /// The pieces' texts, one after the other.
    text: Box<str>,
    /// The pieces, sorted by the bytes of their texts.
    pieces: Box<[Piece]>,
    unknown: u32,
    unknown_score: f64,
}

#[derive(Debug, Clone, Copy)]
struct Piece {
    begin: u32,
    end: u32,
    id: u32,
    /// The logarithm of the piece's probability.
    score: f32,
}

/// The best division of the text up to a position: its score, its last piece, and the position at
/// which that piece begins.
#[derive(Debug, Clone, Copy)]
struct Path {
    score: f64,
    id: u32,
    begin: usize,
}

impl Vocabulary {
    /// Builds the vocabulary from the pieces in the order of their ids, each with its score.
    pub(crate) fn new<S: AsRef<str>>(words: &[(S, f32)], unknown: u32) -> Result<Self> {
        let word = |n: usize| words[n].0.as_ref();
        let mut order: Vec<usize> = (0..words.len()).collect();
        order.sort_unstable_by_key(|n| word(*n));
        if let Some(twice) = order.windows(2).find(|two| word(two[0]) == word(two[1])) {
            bail!("the pieces {} and {} are the same", twice[0], twice[1]);
        }
        let mut text = String::with_capacity(words.iter().map(|(w, _)| w.as_ref().len()).sum());
        let mut pieces = Vec::with_capacity(words.len());
        for n in order {
            let begin = place(text.len())?;
            text.push_str(word(n));
            pieces.push(Piece {
                begin,
                end: place(text.len())?,
                id: place(n)?,
                score: words[n].1,
            });
        }
        let least = words.iter().map(|(_, score)| *score);
        let least = f64::from(least.fold(f32::INFINITY, f32::min));
        Ok(Self {
            text: text.into(),
            pieces: pieces.into(),
            unknown,
            unknown_score: least - UNKNOWN_PENALTY,
        })
    }

    /// Returns the ids of the text's pieces. Consecutive characters that no piece contains become
    /// one unknown piece.
    pub(crate) fn divide(&self, text: &str) -> Vec<u32> {
        let paths = self.paths(text);
        let mut ids = Vec::new();
        let mut end = text.len();
        while let Some(path) = paths.get(end).copied().flatten() {
            if path.id != self.unknown || ids.last() != Some(&self.unknown) {
                ids.push(path.id);
            }
            end = path.begin;
        }
        ids.reverse();
        ids
    }

    /// Returns the best path to each position of the text; `None` for a position inside a
    /// character.
    fn paths(&self, text: &str) -> Vec<Option<Path>> {
        let mut paths: Vec<Option<Path>> = vec![None; text.len() + 1];
        for (begin, sign) in text.char_indices() {
            let before = paths[begin].map_or(0.0, |path| path.score);
            let mut offer = |end: usize, id: u32, score: f64| {
                let score = before + score;
                if paths[end].is_none_or(|path| score > path.score) {
                    paths[end] = Some(Path { score, id, begin });
                }
            };
            let mut is_known = false;
            for piece in self.beginnings(&text.as_bytes()[begin..]) {
                let length = self.bytes(piece).len();
                is_known |= length == sign.len_utf8();
                offer(begin + length, piece.id, piece.score.into());
            }
            if !is_known {
                offer(begin + sign.len_utf8(), self.unknown, self.unknown_score);
            }
        }
        paths
    }

    /// Returns the pieces with which the text begins, the shortest first.
    fn beginnings<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = &'a Piece> {
        let mut range = &self.pieces[..];
        let found = text.iter().enumerate().map_while(move |(depth, byte)| {
            // All pieces of the range begin with the bytes before this one.
            let at = |piece: &Piece| self.bytes(piece).get(depth);
            range = &range[range.partition_point(|piece| at(piece) < Some(byte))..];
            range = &range[..range.partition_point(|piece| at(piece) == Some(byte))];
            let shortest = range.first()?;
            Some((self.bytes(shortest).len() == depth + 1).then_some(shortest))
        });
        found.flatten()
    }

    fn bytes(&self, piece: &Piece) -> &[u8] {
        &self.text.as_bytes()[piece.begin as usize..piece.end as usize]
    }
}

fn place(n: usize) -> Result<u32> {
    u32::try_from(n).map_err(candle_core::Error::wrap)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokenizers::{Model, models::unigram::Unigram};

    use super::*;

    const UNKNOWN: u32 = 0;
    const WORDS: [(&str, f32); 10] = [
        ("<unk>", 0.0),
        ("a", -1.0),
        ("b", -1.0),
        ("c", -1.0),
        ("d", -1.0),
        ("cd", -1.5),
        ("ab", -1.2),
        ("abc", -9.0),
        ("ñ", -2.0),
        ("abcd", -1.9),
    ];

    fn small() -> Vocabulary {
        Vocabulary::new(&WORDS, UNKNOWN).unwrap()
    }

    #[test]
    fn the_most_probable_division_is_taken() {
        for (text, wanted) in [
            ("", vec![]),
            ("a", vec![1]),
            // "abcd" costs 1.9, "ab" and "cd" 2.7, single letters 4.
            ("abcd", vec![9]),
            // "abc" costs 9, "ab" and "c" 2.2.
            ("abc", vec![6, 3]),
            ("dab", vec![4, 6]),
            ("ñab", vec![8, 6]),
            // Unknown characters in a row are one piece. A known character between them divides
            // them.
            ("éé🙂a", vec![UNKNOWN, 1]),
            ("éaé", vec![UNKNOWN, 1, UNKNOWN]),
        ] {
            assert_eq!(small().divide(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_vocabulary_that_has_a_piece_twice_is_refused() {
        let words = [("<unk>", 0.0), ("a", -1.0), ("a", -2.0)];
        assert!(Vocabulary::new(&words, UNKNOWN).is_err());
    }

    proptest! {
        #[test]
        fn texts_are_divided_as_the_crate_tokenizers_divides_them(
            text in "[abcdñé🙂]{0,40}|.{0,200}"
        ) {
            let words = WORDS.map(|(word, score)| (word.to_owned(), f64::from(score)));
            let theirs = Unigram::from(words.to_vec(), Some(UNKNOWN as usize), false).unwrap();
            let theirs: Vec<u32> =
                theirs.tokenize(&text).unwrap().into_iter().map(|token| token.id).collect();
            prop_assert_eq!(small().divide(&text), theirs);
        }
    }
}

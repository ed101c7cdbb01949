//! Words one slip of the thumb away: a letter too many, too few, another one, or two in the wrong order.
//!
//! Every word is filed under itself and under what is left when one of its letters is taken out; a mistyped word shares one of
//! these with it. So a look-up costs as many probes as the word has letters, however many words there are.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

/// FNV-1a: the keys are our own words, so nobody can make them collide.
#[derive(Debug, Clone)]
pub(crate) struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

pub(crate) type FnvBuild = BuildHasherDefault<Fnv>;

/// Shorter words are too close to other words; longer ones nobody types.
const LENGTHS: std::ops::RangeInclusive<usize> = 5..=20;

#[derive(Debug, Default)]
pub(super) struct Typos<V> {
    filed: HashMap<u64, Vec<u32>, FnvBuild>,
    words: Vec<(String, V)>,
}

impl<V: Copy> Typos<V> {
    pub(super) fn insert(&mut self, word: &str, value: V) {
        debug_assert!(LENGTHS.contains(&word.len()), "{word} is too short to guess or too long");
        let number = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
        self.words.push((word.to_owned(), value));
        for key in keys(word.as_bytes()) {
            let filed = self.filed.entry(key).or_default();
            if !filed.contains(&number) {
                filed.push(number);
            }
        }
    }

    /// The words at distance one.
    pub(super) fn near(&self, word: &str) -> impl Iterator<Item = V> {
        let fits = (LENGTHS.start() - 1..=LENGTHS.end() + 1).contains(&word.len()) && word.is_ascii();
        let found =
            fits.then(|| keys(word.as_bytes()).filter_map(|key| self.filed.get(&key)).flatten()).into_iter().flatten();
        found
            .map(|&number| &self.words[number as usize])
            .filter(move |(known, _)| one_edit(known.as_bytes(), word.as_bytes()))
            .map(|&(_, value)| value)
    }
}

/// The hash of the word and of the word without each of its letters.
fn keys(word: &[u8]) -> impl Iterator<Item = u64> {
    (0..=word.len()).map(move |without| {
        let mut hash = Fnv::default();
        hash.write(&word[..without]);
        hash.write(word.get(without + 1..).unwrap_or_default());
        hash.finish()
    })
}

fn one_edit(a: &[u8], b: &[u8]) -> bool {
    let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[same..], &b[same..]);
    match (a.len(), b.len()) {
        (0, 0) => false,
        (n, m) if n == m => a[1..] == b[1..] || n >= 2 && a[0] == b[1] && a[1] == b[0] && a[2..] == b[2..],
        (n, m) if n == m + 1 => a[1..] == *b,
        (n, m) if n + 1 == m => *a == b[1..],
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slip_is_found_two_are_not() {
        let mut typos = Typos::default();
        typos.insert("suicide", 1);
        typos.insert("gambling", 2);
        for (word, expected) in [
            ("sucide", Some(1)),
            ("suiicide", Some(1)),
            ("siucide", Some(1)),
            ("suicid", Some(1)),
            ("xsuicide", Some(1)),
            ("gambeling", Some(2)),
            ("gamblinh", Some(2)),
            ("gambl", None),
            ("suicide", None),
            ("scide", None),
            ("", None),
        ] {
            assert_eq!(typos.near(word).next(), expected, "{word}");
        }
    }
}

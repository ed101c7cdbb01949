//! Finds words with one typo. Every word is stored under itself and under each form without one of
//! its letters; a word and its typo share one of these keys.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
    num::NonZeroU32,
};

/// An FNV-1a hasher, which is fast. Nobody can force collisions, because the keys are our own
/// words.
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

/// The lengths of words that are corrected: shorter ones resemble too many others, longer ones are
/// rare.
const LENGTHS: std::ops::RangeInclusive<usize> = 5..=20;

#[derive(Debug, Default, Clone)]
pub(super) struct Typos<V> {
    /// For each key, the index of its first entry.
    filed: HashMap<u64, u32, FnvBuild>,
    entries: Vec<Entry>,
    words: Vec<(String, V)>,
}

/// One word stored under one key. Entries of the same key form a linked list; most keys have only
/// one word.
#[derive(Debug, Clone, Copy)]
struct Entry {
    word: u32,
    /// The next entry under the same key.
    next: Option<NonZeroU32>,
}

impl<V: Copy> Typos<V> {
    pub(super) fn insert(&mut self, word: &str, value: V) {
        debug_assert!(
            LENGTHS.contains(&word.len()),
            "{word} is too short to guess or too long"
        );
        let number = index(self.words.len());
        self.words.push((word.to_owned(), value));
        for key in keys(word.as_bytes()) {
            self.file(key, number);
        }
    }

    /// Appends the word to the key's entries, unless it is there already.
    fn file(&mut self, key: u64, word: u32) {
        let fresh = index(self.entries.len());
        let mut at = *self.filed.entry(key).or_insert(fresh);
        while let Some(entry) = self.entries.get_mut(at as usize) {
            match entry.next {
                _ if entry.word == word => return,
                Some(next) => at = next.get(),
                // An entry that follows another one is never the first in `entries`, so its index
                // is not zero.
                None => {
                    entry.next = NonZeroU32::new(fresh);
                    break;
                }
            }
        }
        self.entries.push(Entry { word, next: None });
    }

    fn filed(&self, key: u64) -> impl Iterator<Item = u32> {
        let first = self.filed.get(&key).map(|at| &self.entries[*at as usize]);
        std::iter::successors(first, |entry| {
            entry.next.map(|next| &self.entries[next.get() as usize])
        })
        .map(|entry| entry.word)
    }

    /// Returns the values of the words that differ from this one by one typo.
    pub(super) fn near(&self, word: &str) -> impl Iterator<Item = V> {
        let fits =
            (LENGTHS.start() - 1..=LENGTHS.end() + 1).contains(&word.len()) && word.is_ascii();
        let found = fits
            .then(|| keys(word.as_bytes()).flat_map(|key| self.filed(key)))
            .into_iter()
            .flatten();
        found
            .map(|number| &self.words[number as usize])
            .filter(move |(known, _)| one_edit(known.as_bytes(), word.as_bytes()))
            .map(|&(_, value)| value)
    }
}

/// Returns the hash of the word and of each form that lacks one of its letters.
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
        (n, m) if n == m => {
            a[1..] == b[1..] || n >= 2 && a[0] == b[1] && a[1] == b[0] && a[2..] == b[2..]
        }
        (n, m) if n == m + 1 => a[1..] == *b,
        (n, m) if n + 1 == m => *a == b[1..],
        _ => false,
    }
}

pub(super) fn index(at: usize) -> u32 {
    u32::try_from(at).expect("a pack has fewer than 2^32 of anything")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_share_a_key_are_all_found_each_once_in_their_order() {
        let mut typos = Typos::default();
        for (number, word) in ["stoned", "stones", "stone", "stoned"]
            .into_iter()
            .enumerate()
        {
            typos.insert(word, number);
        }
        assert_eq!(typos.near("stonez").collect::<Vec<usize>>(), [0, 1, 2, 3]);
        assert_eq!(typos.filed(0).count(), 0);
    }

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

//! Finds the known words that a misspelt word may stand for. Words are compared by their shortened
//! forms: the word itself, the word without any one letter and, if it is long, without any two
//! letters. A known word is a candidate if it shares a form with the misspelt word.

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
};

use super::lexicon::LONG;

#[derive(Debug)]
pub(super) struct Spellings {
    /// The known words, sorted.
    words: Vec<String>,
    /// Sorted pairs of a shortened word's hash and the word's index. A hash collision only costs a
    /// comparison.
    filed: Vec<(u32, u32)>,
}

impl Spellings {
    /// Indexes the known words of at least four letters; shorter words resemble each other too
    /// much.
    pub(super) fn of(known: &HashSet<String>) -> Self {
        let mut words: Vec<String> = known
            .iter()
            .filter(|word| word.chars().count() >= 4)
            .cloned()
            .collect();
        words.sort_unstable();
        let numbered = (0..).zip(&words);
        let mut filed: Vec<(u32, u32)> = numbered
            .flat_map(|(number, word)| {
                shortened(word)
                    .into_iter()
                    .map(move |short| (hash(&short), number))
            })
            .collect();
        filed.sort_unstable();
        filed.shrink_to_fit();
        Self { words, filed }
    }

    /// Returns the known words that share a shortened form with `word`. The caller must compare
    /// them with `word`, because some are not close. A known word may come twice.
    pub(super) fn near(&self, word: &str) -> impl Iterator<Item = &String> {
        let filed = |short: String| {
            let wanted = hash(&short);
            let first = self.filed.partition_point(|(hash, _)| *hash < wanted);
            self.filed[first..]
                .iter()
                .take_while(move |(hash, _)| *hash == wanted)
        };
        shortened(word)
            .into_iter()
            .flat_map(filed)
            .map(|(_, number)| &self.words[*number as usize])
    }
}

/// Returns the word, and the word without any one letter, or any two letters if it is long.
fn shortened(word: &str) -> Vec<String> {
    let once = without_one(word);
    let mut all = vec![word.to_owned()];
    if word.chars().count() >= LONG {
        all.extend(once.iter().flat_map(|w| without_one(w)));
    }
    all.extend(once);
    all.sort_unstable();
    all.dedup();
    all
}

fn without_one(word: &str) -> Vec<String> {
    word.char_indices()
        .map(|(at, letter)| {
            let mut short = word.to_owned();
            short.replace_range(at..at + letter.len_utf8(), "");
            short
        })
        .collect()
}

fn hash(short: &str) -> u32 {
    let mut hasher = DefaultHasher::new();
    short.hash(&mut hasher);
    u32::try_from(hasher.finish() >> 32).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_by_what_it_has_in_common_with_the_misspelt_one() {
        let known = ["spa", "steak", "stake", "reservation"]
            .map(str::to_owned)
            .into();
        let spellings = Spellings::of(&known);
        let near = |word| {
            spellings
                .near(word)
                .map(String::as_str)
                .collect::<HashSet<_>>()
        };
        assert_eq!(near("steek"), HashSet::from(["steak"]));
        assert_eq!(near("stak"), HashSet::from(["steak", "stake"]));
        assert_eq!(
            near("resrvaton"),
            HashSet::from(["reservation"]),
            "two are missing from a long one"
        );
        assert_eq!(near("spaa"), HashSet::new(), "short words are left alone");
        assert_eq!(near("buffet"), HashSet::new());
    }
}

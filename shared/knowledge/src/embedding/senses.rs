//! Which English words mean the same, and which a kind of another: from WordNet 3.0, cut down by `scripts/senses.py` to the first
//! senses of frequent words. It finds the row behind a word that neither the row nor our own lexicon has: "moor" for "tie up",
//! "wheelchairs" for "chairs". Data in `senses.txt`, whose licence stands beside it in `senses.licence`.

use std::{collections::HashSet, sync::LazyLock};

/// Sorted lines of `lemma own,own[ wider,wider]`: numbers of senses, base 36.
const DATA: &str = include_str!("senses.txt");
/// Words of a phrase, at most.
const PHRASE: usize = 3;

static LINES: LazyLock<Vec<&'static str>> = LazyLock::new(|| DATA.lines().collect());

/// What words mean: numbers of senses, and of those they are a kind of.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Senses {
    own: HashSet<u32>,
    wider: HashSet<u32>,
}

/// How two meanings stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kin {
    Same,
    /// The second is a kind of the first.
    Narrower,
    /// The first is a kind of the second.
    Wider,
}

// === impl Senses ===

impl Senses {
    /// Of one word or phrase; nothing for one that is not listed.
    pub(crate) fn of(words: &[String]) -> Self {
        let mut senses = Self::default();
        senses.add(words);
        senses
    }

    /// Of every word and phrase of a text.
    pub(crate) fn add_all(&mut self, words: &[String]) {
        for at in 0..words.len() {
            for length in 1..=PHRASE.min(words.len() - at) {
                self.add(&words[at..at + length]);
            }
        }
    }

    pub(crate) fn join(&mut self, other: &Self) {
        self.own.extend(&other.own);
        self.wider.extend(&other.wider);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.own.is_empty() && self.wider.is_empty()
    }

    /// How what `self` says is said by `text`.
    pub(crate) fn kin(&self, text: &Self) -> Option<Kin> {
        if !self.own.is_disjoint(&text.own) {
            Some(Kin::Same)
        } else if !self.own.is_disjoint(&text.wider) {
            Some(Kin::Narrower)
        } else if !self.wider.is_disjoint(&text.own) {
            Some(Kin::Wider)
        } else {
            None
        }
    }

    fn add(&mut self, words: &[String]) {
        let Some((last, first)) = words.split_last() else { return };
        let lead: String = first.iter().flat_map(|word| [word.as_str(), "_"]).collect();
        let found = lemmas(last).find_map(|lemma| entry(&format!("{lead}{lemma}")));
        // "Ties up", "rubbed down": the verb bends.
        let bent = || match words {
            [verb, rest] => lemmas(verb).find_map(|lemma| entry(&format!("{lemma}_{rest}"))),
            _ => None,
        };
        let Some((own, wider)) = found.or_else(bent) else { return };
        let numbers = |list: &'static str| list.split(',').filter_map(|n| u32::from_str_radix(n, 36).ok());
        self.own.extend(numbers(own));
        self.wider.extend(numbers(wider));
    }
}

/// The longest phrase at the beginning that is listed as one, in words; 0 for none of more than one word.
pub(crate) fn phrase(words: &[String]) -> usize {
    let listed = |n: &usize| !Senses::of(&words[..*n]).is_empty();
    (2..=PHRASE.min(words.len())).rev().find(listed).unwrap_or(0)
}

fn entry(lemma: &str) -> Option<(&'static str, &'static str)> {
    let head = |line: &'static str| line.split(' ').next().unwrap_or_default();
    let at = LINES.binary_search_by(|line| head(line).cmp(lemma)).ok()?;
    let mut fields = LINES[at].split(' ').skip(1);
    Some((fields.next().unwrap_or_default(), fields.next().unwrap_or_default()))
}

/// The word, then what it may be a form of.
fn lemmas(word: &str) -> impl Iterator<Item = String> {
    const ENDINGS: [(&str, &str); 11] = [
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("s", ""),
        ("ied", "y"),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
        ("er", "e"),
        ("er", ""),
    ];
    let cut = |(ending, base): &(&str, &str)| {
        let start = word.strip_suffix(ending).filter(|start| start.len() >= 2)?;
        let doubled = start.len() > 3 && start.as_bytes()[start.len() - 1] == start.as_bytes()[start.len() - 2];
        let single = (doubled && base.is_empty()).then(|| start[..start.len() - 1].to_owned());
        Some([Some(format!("{start}{base}")), single])
    };
    let forms: Vec<String> = ENDINGS.iter().filter_map(cut).flatten().flatten().collect();
    std::iter::once(word.to_owned()).chain(forms)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn senses(text: &str) -> Senses {
        Senses::of(&crate::text::words(text))
    }

    #[test]
    fn words_stand_to_each_other_as_english_has_them() {
        for (asked, told, kin) in [
            ("pic", "photograph", Some(Kin::Same)),
            ("tie up", "berth", Some(Kin::Same)),
            ("tying up", "moor", Some(Kin::Same)),
            ("tourney", "tournaments", Some(Kin::Same)),
            ("chair", "wheelchairs", Some(Kin::Narrower)),
            ("poodle", "dogs", Some(Kin::Wider)),
            ("opera", "orchestra", None),
            ("zzz", "dog", None),
        ] {
            assert_eq!(senses(asked).kin(&senses(told)), kin, "{asked}: {told}");
        }
        assert_eq!(phrase(&crate::text::words("tie up my boat")), 2);
        assert_eq!(phrase(&crate::text::words("boat up there")), 0);
    }

    #[test] // The search needs them in order.
    fn the_list_is_sorted() {
        let head = |line: &&str| line.split(' ').next().unwrap_or_default().to_owned();
        assert!(LINES.len() > 30_000 && LINES.is_sorted_by_key(|line| head(line)));
    }
}

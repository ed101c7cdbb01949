//! The concept lexicon: English and Spanish words for the things that a guest may want. The data is
//! in `concepts.txt`.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use super::{endings, spellings::Spellings};
use crate::index::{is_common, is_stop};
use seven_text::{stem, words};
use strsim::osa_distance;

const DATA: &str = include_str!("concepts.txt");
/// The share of a word's weight that its concept passes on to the wider concept.
const PARENT: f32 = 0.35;
/// Maximum number of concepts; a vector has one value for each.
pub(super) const ROOM: usize = 192;
/// Minimum length of a word in which two letters may be wrong instead of one.
pub(super) const LONG: usize = 9;
/// Maximum number of words in a phrase.
const PHRASE: usize = 4;

/// A concept's number, and how strongly a word stands for it.
pub(crate) type Meaning = (usize, f32);

#[derive(Debug)]
pub(crate) struct Lexicon {
    /// The meanings of a word or phrase, by its stems joined with one space.
    meanings: HashMap<String, Vec<Meaning>>,
    spellings: Spellings,
    /// Correctly spelled words, which occur alone or inside phrases.
    known: HashSet<String>,
    /// Words that alone do not show what the guest wants.
    fillers: HashSet<String>,
}

/// A word or phrase with a meaning: the meanings, and how many words it covers.
#[derive(Debug, PartialEq)]
pub(crate) struct Sense<'a> {
    pub(crate) meanings: &'a [Meaning],
    pub(crate) words: usize,
}

pub(crate) static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::read(DATA));

/// Returns a version that changes with the data, so that vectors made with different lexicons are
/// never compared.
pub(super) fn version() -> String {
    crate::formatter::document_id(DATA, "")[..8].to_owned()
}

// === impl Lexicon ===

impl Lexicon {
    /// Reads lines of the form
    /// `concept[ < wider concept][ *weight]: words phrases_with_underscores`.
    /// A line with `-` as its concept lists fillers; lines that begin with `#` are comments.
    fn read(data: &str) -> Self {
        let split = data
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.split_once(':'));
        let (fillers, lines): (Vec<_>, Vec<_>) = split
            .map(|(head, entries)| (head.split_whitespace().collect::<Vec<_>>(), entries))
            .partition(|(h, _)| h == &["-"]);
        let number = |name: &str| {
            lines
                .iter()
                .position(|(head, _)| head.first() == Some(&name))
        };
        let mut meanings: HashMap<String, Vec<Meaning>> = HashMap::new();
        let mut known: HashSet<String> = HashSet::new();
        for (concept, (head, entries)) in lines.iter().enumerate().take(ROOM) {
            let parent = head
                .iter()
                .position(|h| *h == "<")
                .and_then(|at| head.get(at + 1))
                .and_then(|p| number(p));
            let weight = head
                .iter()
                .find_map(|h| h.strip_prefix('*'))
                .and_then(|w| w.parse().ok())
                .unwrap_or(1.0);
            for entry in entries.split_whitespace() {
                let parts: Vec<String> = entry.split('_').flat_map(words).collect();
                let slot = meanings.entry(stems(&parts)).or_default();
                slot.push((concept, weight));
                slot.extend(parent.map(|p| (p, weight * PARENT)));
                known.extend(parts);
            }
        }
        let entries: Vec<&str> = fillers
            .iter()
            .flat_map(|(_, entries)| entries.split_whitespace())
            .collect();
        for phrase in entries.iter().filter(|entry| entry.contains('_')) {
            meanings
                .entry(stems(&words(&phrase.replace('_', " "))))
                .or_default();
        }
        let fillers: HashSet<String> = entries
            .iter()
            .filter(|e| !e.contains('_'))
            .flat_map(|e| words(e))
            .collect();
        let spellings = Spellings::of(&known);
        known.extend(fillers.iter().cloned());
        Self {
            meanings,
            spellings,
            known,
            fillers,
        }
    }

    /// Returns the meaning of the longest known phrase or word with which `words` begins. A filler
    /// has a meaning only inside a phrase.
    pub(crate) fn sense(&self, words: &[String]) -> Option<Sense<'_>> {
        let least = if words.first().is_some_and(|word| self.is_filler(word)) {
            2
        } else {
            1
        };
        (least..=PHRASE.min(words.len())).rev().find_map(|n| {
            let meanings = self.meanings.get(&stems(&words[..n]))?;
            Some(Sense { meanings, words: n })
        })
    }

    /// Returns whether the word alone does not show what the guest wants.
    pub(crate) fn is_filler(&self, word: &str) -> bool {
        is_stop(word) || self.fillers.contains(word)
    }

    /// Returns the known word that a misspelt word or an unknown form probably stands for.
    pub(crate) fn mend(&self, word: &str) -> Option<&str> {
        let length = word.chars().count();
        let fine = || {
            self.known.contains(word) || is_common(word) || self.meanings.contains_key(&stem(word))
        };
        if length < 4 || word.chars().any(|c| c.is_ascii_digit()) || fine() {
            return None;
        }
        let forms = endings::squeezed(word).chain(endings::bases(word));
        let mut forms = forms
            .filter_map(|form| self.known.get(&form))
            .filter(|form| !self.is_filler(form));
        if let Some(base) = forms.next() {
            return Some(base);
        }
        let allowed = if length >= LONG { 2 } else { 1 };
        let near = self.spellings.near(word);
        let (_, meant) = near
            .filter(|candidate| {
                length.max(candidate.chars().count()) >= 5 && alike_at_start(word, candidate)
            })
            .map(|candidate| (osa_distance(word, candidate), candidate))
            .filter(|(distance, _)| *distance <= allowed)
            .min()?;
        Some(meant)
    }
}

fn stems(words: &[String]) -> String {
    words
        .iter()
        .map(|word| stem(word))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns whether two words begin alike. People mistype letters inside a word, but rarely the
/// first letter, except by swapping it with the second.
fn alike_at_start(a: &str, b: &str) -> bool {
    let (mut a, mut b) = (a.chars(), b.chars());
    let (first, second) = (a.next(), a.next());
    let (one, two) = (b.next(), b.next());
    first == one || (first == two && second == one)
}

/// Lists the errors in the data: too many concepts, a wider concept that does not exist, a name
/// used twice.
#[cfg(test)]
pub(super) fn problems() -> Vec<String> {
    let heads = DATA
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(':'));
    let heads: Vec<Vec<&str>> = heads
        .map(|(head, _)| head.split_whitespace().collect())
        .filter(|h| h != &["-"])
        .collect();
    let names: Vec<&str> = heads.iter().map(|head| head[0]).collect();
    let mut problems = Vec::new();
    if names.len() > ROOM {
        problems.push(format!("{} concepts, room for {ROOM}", names.len()));
    }
    for (at, head) in heads.iter().enumerate() {
        if names[..at].contains(&head[0]) {
            problems.push(format!("{} stands twice", head[0]));
        }
        if head.get(1) == Some(&"<") && !head.get(2).is_some_and(|wider| names.contains(wider)) {
            problems.push(format!("{} is a kind of nothing", head[0]));
        }
    }
    problems
}

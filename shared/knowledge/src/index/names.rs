//! Finds the venues that a text names: whole ("the Ember Room"), by its distinctive part ("ember")
//! or misspelt ("embr room").

use std::{collections::HashMap, sync::Arc};

use super::vocabulary::is_common;
use crate::{
    Category, Item,
    text::{typos, words},
};

/// An item named in a text.
#[derive(Debug, Clone)]
pub struct Mention {
    pub item: Arc<Item>,
    /// Words of the text that the name covers, from the first up to but not including the second.
    pub from: usize,
    pub to: usize,
    /// The text contains every word of the name, in order.
    pub whole: bool,
    /// The words can mean nothing else: true for "Ember Room", false for a place simply called
    /// "Casino".
    pub telling: bool,
}

#[derive(Debug, Clone)]
struct Name {
    item: usize,
    words: Vec<String>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    names: Vec<Name>,
    /// Number of rows with different names that contain a word.
    uses: HashMap<String, usize>,
    /// Rows that share one name.
    shared: HashMap<usize, Vec<usize>>,
}

/// Most rows that may share a name; a name shared by more identifies no venue.
const NAMESAKES: usize = 4;

impl Names {
    pub(super) fn build(items: &[Arc<Item>]) -> Self {
        let mut names = Vec::new();
        let mut uses: HashMap<String, usize> = HashMap::new();
        let mut groups: HashMap<Vec<String>, Vec<usize>> = HashMap::new();
        for (item, content) in items.iter().enumerate() {
            let mut own: Vec<String> = Vec::new();
            for name in [Some(&content.name), content.name_es.as_ref()].into_iter().flatten() {
                let mut words = words(name);
                if words.len() > 1 && ["the", "el", "la", "los", "las"].contains(&words[0].as_str()) {
                    words.remove(0);
                }
                // If two rows share a name (a restaurant and its hours), the word still identifies
                // one place.
                let group = groups.entry(words.clone()).or_default();
                if words.is_empty() || group.last() == Some(&item) {
                    continue;
                }
                group.push(item);
                if group.len() == 1 {
                    own.extend(words.iter().cloned());
                }
                names.push(Name { item, words });
            }
            // A word in both the English and the Spanish name of a row still identifies that row.
            own.sort_unstable();
            own.dedup();
            own.into_iter().for_each(|word| *uses.entry(word).or_default() += 1);
        }
        let mut shared: HashMap<usize, Vec<usize>> = HashMap::new();
        for group in groups.into_values().filter(|group| (2..=NAMESAKES).contains(&group.len())) {
            for one in &group {
                let others = shared.entry(*one).or_default();
                others.extend(group.iter().filter(|other| *other != one));
                others.sort_unstable();
                others.dedup();
            }
        }
        let mut built = Self { names, uses, shared };
        built.join_schedules(items);
        built
    }

    /// Joins a row of opening hours with the venue whose whole name it contains, or whose name
    /// contains its own: "Valet" and "Valet Parking".
    fn join_schedules(&mut self, items: &[Arc<Item>]) {
        let inside = |a: &[String], b: &[String]| a.iter().all(|word| b.contains(word));
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for hours in self.names.iter().filter(|name| items[name.item].category == Category::Hours) {
            let holds = |n: &&Name| inside(&hours.words, &n.words) || inside(&n.words, &hours.words);
            let venues = self.names.iter().filter(|n| items[n.item].category != Category::Hours).filter(holds);
            let venues: Vec<usize> = venues.map(|n| n.item).collect();
            if venues.len() <= NAMESAKES {
                pairs.extend(venues.into_iter().map(|venue| (hours.item, venue)));
            }
        }
        for (a, b) in pairs.into_iter().flat_map(|(a, b)| [(a, b), (b, a)]) {
            let others = self.shared.entry(a).or_default();
            if !others.contains(&b) {
                others.push(b);
            }
        }
    }

    /// Returns other rows of the same name, such as a pool's row and that of its opening hours.
    pub(super) fn namesakes(&self, item: usize) -> &[usize] {
        self.shared.get(&item).map_or(&[], Vec::as_slice)
    }

    pub(super) fn bytes(&self) -> usize {
        self.names.iter().map(|n| 32 + n.words.iter().map(|w| w.len() + 24).sum::<usize>()).sum::<usize>()
            + self.uses.len() * 48
    }

    pub(super) fn find(&self, text: &str, current: impl Fn(usize) -> bool, items: &[Arc<Item>]) -> Vec<Mention> {
        let said = words(text);
        let mut found: Vec<(usize, usize, bool, usize)> = Vec::new();
        for name in self.names.iter().filter(|n| current(n.item)) {
            if let Some((from, to, whole)) = self.place(name, &said) {
                found.push((from, to, whole, name.item));
            }
        }
        // A longer or whole name replaces names inside it. Rows of one name have the same place in
        // the text, and all are kept.
        let beats = |a: &(usize, usize, bool, usize), b: &(usize, usize, bool, usize)| {
            let overlap = a.0 < b.1 && b.0 < a.1;
            overlap && (a.2, a.1 - a.0) > (b.2, b.1 - b.0)
        };
        let mut kept: Vec<_> = found.iter().filter(|b| !found.iter().any(|a| beats(a, b))).copied().collect();
        kept.sort_by_key(|m| (m.0, m.3));
        kept.dedup_by_key(|m| m.3);
        let telling = |from: usize, to: usize| said[from..to].iter().any(|w| !is_common(w));
        let mention = |(from, to, whole, n): (usize, usize, bool, usize)| Mention {
            item: Arc::clone(&items[n]),
            from,
            to,
            whole,
            telling: telling(from, to),
        };
        kept.into_iter().map(mention).collect()
    }

    /// Returns where the text contains the name, if it does.
    fn place(&self, name: &Name, said: &[String]) -> Option<(usize, usize, bool)> {
        let length = name.words.len();
        if let Some(at) =
            said.windows(length).position(|window| window.iter().zip(&name.words).all(|(a, b)| same(a, b)))
        {
            return Some((at, at + length, true));
        }
        // Finds the name by a word that distinguishes it from all other names.
        let telling =
            |word: &String| !is_common(word) && self.uses.get(word).copied().unwrap_or(0) <= 1 && word.len() >= 3;
        let hit =
            said.iter().position(|s| name.words.iter().any(|n| telling(n) && (same(s, n) || self.misspelt(s, n))))?;
        let belongs = |s: &String| name.words.iter().any(|n| same(s, n) || self.misspelt(s, n));
        let from = (0..hit).rev().take_while(|i| belongs(&said[*i])).last().unwrap_or(hit);
        let to = (hit + 1..said.len()).take_while(|i| belongs(&said[*i])).last().map_or(hit + 1, |i| i + 1);
        Some((from, to, false))
    }

    /// Returns whether `said` is a misspelling of `word`: no known word, same or swapped first
    /// letter, few edits.
    fn misspelt(&self, said: &str, word: &str) -> bool {
        let allowed = match word.len() {
            0..=3 => return false,
            4..=7 => 1,
            _ => 2,
        };
        said.len() >= 4
            && !is_common(said)
            && !is_common(word)
            && !self.uses.contains_key(said)
            && said.chars().next() == word.chars().next()
            && typos(said, word) <= allowed
    }
}

/// Returns whether the words are equal, or differ only in a plural or possessive s.
fn same(a: &str, b: &str) -> bool {
    a == b || a.strip_suffix('s') == Some(b) || b.strip_suffix('s') == Some(a)
}

//! Finds the items that a text names: in whole ("the Ember Room"), by a distinctive word ("ember")
//! or misspelt ("embr room").

use std::{collections::HashMap, sync::Arc};

use super::vocabulary::is_common;
use crate::{Category, Item};
use seven_text::words;
use strsim::osa_distance;

/// An item named in a text.
#[derive(Debug, Clone)]
pub struct Mention {
    pub item: Arc<Item>,
    /// Index of the name's first word in the text; `to` is the index after its last word.
    pub from: usize,
    pub to: usize,
    /// Whether the text contains every word of the name, in order.
    pub whole: bool,
    /// Whether the words can mean only this item: true for "Ember Room", false for a place that is
    /// called just "Casino".
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
    /// For each word, how many different names contain it.
    uses: HashMap<String, usize>,
    /// For each row, the other rows of the same name.
    shared: HashMap<usize, Vec<usize>>,
}

/// Maximum number of rows that may share a name. If more rows share it, they are not taken for one
/// place.
const NAMESAKES: usize = 4;

impl Names {
    pub(super) fn build(items: &[Arc<Item>]) -> Self {
        let mut names = Vec::new();
        let mut uses: HashMap<String, usize> = HashMap::new();
        let mut groups: HashMap<Vec<String>, Vec<usize>> = HashMap::new();
        for (item, content) in items.iter().enumerate() {
            let mut own: Vec<String> = Vec::new();
            for name in [Some(&content.name), content.name_es.as_ref()]
                .into_iter()
                .flatten()
            {
                let mut words = words(name);
                if words.len() > 1 && ["the", "el", "la", "los", "las"].contains(&words[0].as_str())
                {
                    words.remove(0);
                }
                // Two rows may have the same name, such as a restaurant and its opening hours. The
                // name is then counted once, because both rows are about one place.
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
            // A word in both the English and the Spanish name of a row is counted once.
            own.sort_unstable();
            own.dedup();
            own.into_iter()
                .for_each(|word| *uses.entry(word).or_default() += 1);
        }
        let mut shared: HashMap<usize, Vec<usize>> = HashMap::new();
        for group in groups
            .into_values()
            .filter(|group| (2..=NAMESAKES).contains(&group.len()))
        {
            for one in &group {
                let others = shared.entry(*one).or_default();
                others.extend(group.iter().filter(|other| *other != one));
                others.sort_unstable();
                others.dedup();
            }
        }
        let mut built = Self {
            names,
            uses,
            shared,
        };
        built.join_schedules(items);
        built
    }

    /// Joins a row of opening hours with a venue if the name of one contains that of the other:
    /// "Valet" and "Valet Parking".
    fn join_schedules(&mut self, items: &[Arc<Item>]) {
        let inside = |a: &[String], b: &[String]| a.iter().all(|word| b.contains(word));
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for hours in self
            .names
            .iter()
            .filter(|name| items[name.item].category == Category::Hours)
        {
            let holds =
                |n: &&Name| inside(&hours.words, &n.words) || inside(&n.words, &hours.words);
            let venues = self
                .names
                .iter()
                .filter(|n| items[n.item].category != Category::Hours)
                .filter(holds);
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

    /// Returns the other rows of the same name, such as the row of a pool's opening hours.
    pub(super) fn namesakes(&self, item: usize) -> &[usize] {
        self.shared.get(&item).map_or(&[], Vec::as_slice)
    }

    pub(super) fn bytes(&self) -> usize {
        self.names
            .iter()
            .map(|n| 32 + n.words.iter().map(|w| w.len() + 24).sum::<usize>())
            .sum::<usize>()
            + self.uses.len() * 48
    }

    pub(super) fn find(
        &self,
        text: &str,
        current: impl Fn(usize) -> bool,
        items: &[Arc<Item>],
    ) -> Vec<Mention> {
        let said = words(text);
        let mut found: Vec<(usize, usize, bool, usize)> = Vec::new();
        for name in self.names.iter().filter(|n| current(n.item)) {
            if let Some((from, to, whole)) = self.place(name, &said) {
                found.push((from, to, whole, name.item));
            }
        }
        // If two names overlap, a whole name wins against a partial one; otherwise the longer one
        // wins. Rows of the same name cover the same words, and all of them are kept.
        let beats = |a: &(usize, usize, bool, usize), b: &(usize, usize, bool, usize)| {
            let overlap = a.0 < b.1 && b.0 < a.1;
            overlap && (a.2, a.1 - a.0) > (b.2, b.1 - b.0)
        };
        let mut kept: Vec<_> = found
            .iter()
            .filter(|b| !found.iter().any(|a| beats(a, b)))
            .copied()
            .collect();
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

    /// Returns the range of words at which the text contains the name, and whether it is the whole
    /// name.
    fn place(&self, name: &Name, said: &[String]) -> Option<(usize, usize, bool)> {
        let length = name.words.len();
        if let Some(at) = said
            .windows(length)
            .position(|window| window.iter().zip(&name.words).all(|(a, b)| same(a, b)))
        {
            return Some((at, at + length, true));
        }
        // Looks for a word that no other name contains.
        let telling = |word: &String| {
            !is_common(word) && self.uses.get(word).copied().unwrap_or(0) <= 1 && word.len() >= 3
        };
        let hit = said.iter().position(|s| {
            name.words
                .iter()
                .any(|n| telling(n) && (same(s, n) || self.misspelt(s, n)))
        })?;
        let belongs = |s: &String| name.words.iter().any(|n| same(s, n) || self.misspelt(s, n));
        let from = (0..hit)
            .rev()
            .take_while(|i| belongs(&said[*i]))
            .last()
            .unwrap_or(hit);
        let to = (hit + 1..said.len())
            .take_while(|i| belongs(&said[*i]))
            .last()
            .map_or(hit + 1, |i| i + 1);
        Some((from, to, false))
    }

    /// Returns whether `said` is a misspelling of `word`: an unknown word with the same first
    /// letter and at most one wrong letter, or two if `word` is long.
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
            && osa_distance(said, word) <= allowed
    }
}

/// Returns whether the words are equal apart from a final s.
fn same(a: &str, b: &str) -> bool {
    a == b || a.strip_suffix('s') == Some(b) || b.strip_suffix('s') == Some(a)
}

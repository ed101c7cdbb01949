//! The word index: ranks items by BM25, with more weight for names, and scores between 0 and 1.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use super::vocabulary::{STOP, SYNONYMS};
use crate::{Item, formatter};
use seven_text::{similarity, stem, trigrams, words};

const K1: f32 = 0.9;
const B: f32 = 0.4;
/// Weight of a synonym, relative to the word itself.
const SYNONYM: f32 = 0.85;
/// The lowest trigram similarity at which an unknown word counts as a misspelt word of a name.
const MISSPELT: f32 = 0.5;

#[derive(Debug, Clone, Default)]
pub(super) struct Postings {
    /// All stems, sorted.
    stems: Box<[Box<str>]>,
    /// For each stem, the end of its list in `counts`.
    ends: Box<[u32]>,
    /// The lists of all stems, one after the other, as pairs of an item's index and a weighted
    /// count.
    counts: Box<[(u32, f32)]>,
    /// The length of each item's text, relative to the average.
    lengths: Vec<f32>,
    /// Stems of words in names. Only these are searched for misspelt words, because guests mostly
    /// misspell names.
    names: Vec<String>,
    /// For each trigram, the indexes in `names` of the stems that contain it. A misspelt word is
    /// compared only with stems that share trigrams with it.
    grams: HashMap<[char; 3], Vec<u32>>,
}

impl Postings {
    pub(super) fn build(items: &[Arc<Item>]) -> Self {
        let mut postings: BTreeMap<String, Vec<(u32, f32)>> = BTreeMap::new();
        let mut lengths = Vec::with_capacity(items.len());
        for (n, item) in items.iter().enumerate() {
            let counts = counts(item);
            lengths.push(counts.values().sum::<f32>());
            for (stem, weight) in counts {
                postings.entry(stem).or_default().push((number(n), weight));
            }
        }
        let average = (lengths.iter().sum::<f32>() / lengths.len().max(1) as f32).max(1.0);
        lengths.iter_mut().for_each(|length| *length /= average);
        let of_names = |item: &Arc<Item>| {
            words(
                &[
                    item.name.as_str(),
                    item.name_es.as_deref().unwrap_or_default(),
                ]
                .join(" "),
            )
        };
        let mut names: Vec<String> = items.iter().flat_map(of_names).map(|w| stem(&w)).collect();
        // Drops stems that no item's text contains, because they would find nothing.
        names.retain(|s| s.len() >= 4 && postings.contains_key(s));
        names.sort_unstable();
        names.dedup();
        let mut grams: HashMap<[char; 3], Vec<u32>> = HashMap::new();
        for (n, name) in names.iter().enumerate() {
            trigrams(name)
                .into_iter()
                .for_each(|gram| grams.entry(gram).or_default().push(number(n)));
        }
        let ends = postings.values().scan(0, |end, list| {
            *end += list.len();
            Some(number(*end))
        });
        let ends = ends.collect();
        let counts = postings.values().flatten().copied().collect();
        let stems = postings.into_keys().map(String::into_boxed_str).collect();
        Self {
            stems,
            ends,
            counts,
            lengths,
            names,
            grams,
        }
    }

    /// Returns the items that contain the stem, with their counts; `None` if no item does.
    fn list(&self, stem: &str) -> Option<&[(u32, f32)]> {
        let at = self.stems.binary_search_by(|own| (**own).cmp(stem)).ok()?;
        let from = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.counts[from as usize..self.ends[at] as usize])
    }

    pub(super) fn bytes(&self) -> usize {
        self.stems.iter().map(|stem| stem.len() + 36).sum::<usize>()
            + size_of_val(&*self.counts)
            + self
                .grams
                .values()
                .map(|list| 48 + list.len() * 4)
                .sum::<usize>()
    }

    fn rarity(&self, found: usize) -> f32 {
        (1.0 + (self.lengths.len() as f32 - found as f32 + 0.5) / (found as f32 + 0.5)).ln()
    }

    /// Returns one score per item: the weight of the question's words that the item matches,
    /// divided by the weight of all words of the question. Words that no item contains lower every
    /// score.
    pub(super) fn scores(&self, query: &[String]) -> Vec<f32> {
        let mut scores = vec![0.0f32; self.lengths.len()];
        let (mut best, mut touched) = (vec![0.0f32; self.lengths.len()], Vec::new());
        let mut whole = 0.0f32;
        let mut asked: Vec<String> = query
            .iter()
            .filter(|w| !STOP.contains(w.as_str()))
            .map(|w| stem(w))
            .collect();
        asked.sort_unstable();
        asked.dedup();
        for word in asked {
            let readings = self.readings(&word);
            let rarity = readings
                .iter()
                .map(|(list, _)| self.rarity(list.len()))
                .fold(f32::NAN, f32::min);
            let rarity = if rarity.is_nan() {
                self.rarity(0)
            } else {
                rarity
            };
            whole += rarity;
            for (list, likeness) in readings {
                for &(n, count) in list {
                    let norm = K1 * (1.0 - B + B * self.lengths[n as usize]);
                    let gain =
                        likeness * rarity * count / (count + norm) * (1.0 + norm / 4.0).min(1.2);
                    let slot = &mut best[n as usize];
                    if *slot == 0.0 {
                        touched.push(n as usize);
                    }
                    *slot = slot.max(gain.min(rarity));
                }
            }
            for n in touched.drain(..) {
                scores[n] += std::mem::take(&mut best[n]);
            }
        }
        if whole > 0.0 {
            scores.iter_mut().for_each(|score| *score /= whole);
        }
        scores
    }

    /// Returns the lists of items for a word of the question, each with its weight. These are the
    /// lists of the word and of its synonyms. If there are none, returns the list of the most
    /// similar word of a name.
    fn readings(&self, word: &str) -> Vec<(&[(u32, f32)], f32)> {
        let mut readings: Vec<(&[(u32, f32)], f32)> = Vec::new();
        readings.extend(self.list(word).map(|list| (list, 1.0)));
        let same = SYNONYMS.get(word).into_iter().flatten();
        readings.extend(
            same.filter_map(|stem| self.list(stem))
                .map(|list| (list, SYNONYM)),
        );
        if readings.is_empty() && word.len() >= 4 && !SYNONYMS.contains_key(word) {
            let alike = self
                .near(word)
                .map(|s| (similarity(word, s), s))
                .filter(|(l, _)| *l >= MISSPELT);
            let likest = alike.max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)));
            readings.extend(
                likest.and_then(|(likeness, stem)| Some((self.list(stem)?, 0.8 * likeness))),
            );
        }
        readings
    }

    /// Returns the names that share enough trigrams with the word to be similar.
    fn near(&self, word: &str) -> impl Iterator<Item = &String> {
        let asked = trigrams(word);
        let mut shared: HashMap<u32, usize> = HashMap::new();
        for gram in &asked {
            self.grams
                .get(gram)
                .into_iter()
                .flatten()
                .for_each(|n| *shared.entry(*n).or_default() += 1);
        }
        let enough = move |n: usize, shared: usize| {
            let total = asked.len() + self.names[n].chars().count();
            2.0 * shared as f32 >= MISSPELT * total as f32
        };
        let mut near: Vec<usize> = shared
            .into_iter()
            .map(|(n, count)| (n as usize, count))
            .filter(|(n, c)| enough(*n, *c))
            .map(|(n, _)| n)
            .collect();
        near.sort_unstable();
        near.into_iter().map(|n| &self.names[n])
    }
}

fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Returns an item's weighted stem counts: its name weighs most, then its keywords, then its text.
/// Notes are not counted.
fn counts(item: &Item) -> BTreeMap<String, f32> {
    let mut counts: BTreeMap<String, f32> = BTreeMap::new();
    let mut add = |text: &str, weight: f32| {
        for word in words(text).iter().filter(|w| !STOP.contains(w.as_str())) {
            *counts.entry(stem(word)).or_default() += weight;
        }
    };
    add(&item.name, 3.0);
    item.name_es.iter().for_each(|name| add(name, 3.0));
    item.keywords.iter().for_each(|word| add(word, 2.0));
    add(&item.category.as_str().replace('_', " "), 1.0);
    item.subcategory
        .iter()
        .for_each(|sub| add(&sub.replace('_', " "), 2.0));
    item.description_es.iter().for_each(|text| add(text, 1.0));
    // Uses UTC, because the time zone only changes the hour of an event, which nobody searches for.
    add(&formatter::text(item, chrono_tz::Tz::UTC), 1.0);
    counts
}

//! Finds a casino's items in memory: BM25 over stemmed English and Spanish words, with misspelt words mended by trigrams (RAG-22).
//!
//! About eighty items per casino, so the search is exact. A result is never an inactive item, a past event or an expired offer.

mod bm25;
mod names;
#[cfg(test)]
mod tests;
mod vocabulary;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

pub use names::Mention;
pub use vocabulary::is_stop;

use crate::{Category, Item, formatter, text::words};

#[derive(Debug, Clone)]
pub struct Hit {
    pub item: Arc<Item>,
    /// 0 to 1: how much of what the query says is found in the item.
    pub score: f32,
}

/// One casino's content, ready to be searched.
#[derive(Debug, Clone)]
pub struct Index {
    items: Vec<Arc<Item>>,
    zone: Tz,
    words: bm25::Postings,
    names: names::Names,
    bytes: usize,
}

// === impl Index ===

impl Index {
    /// Builds in the zone of UTC; see [`Index::in_zone`].
    pub fn build(items: Vec<Item>) -> Self {
        let items: Vec<Arc<Item>> = items.into_iter().map(Arc::new).collect();
        let words = bm25::Postings::build(&items);
        let names = names::Names::build(&items);
        let content: usize = items.iter().map(|item| item.to_json().to_string().len() + size_of::<Item>()).sum();
        let bytes = size_of::<Self>() + content + words.bytes() + names.bytes();
        Self { items, zone: Tz::UTC, words, names, bytes }
    }

    /// The casino's zone, which decides on which day an offer ends.
    #[must_use]
    pub fn in_zone(mut self, zone: Tz) -> Self {
        self.zone = zone;
        self
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Approximate memory held, for a cache bounded in bytes (D12).
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Best matches first; ties keep the order of the content file.
    pub fn search(&self, query: &str, now: DateTime<Utc>, k: usize) -> Vec<Hit> {
        let mut hits: Vec<Hit> = self
            .words
            .scores(&words(query))
            .into_iter()
            .zip(&self.items)
            .filter(|(score, item)| *score > 0.0 && item.is_current(now, self.zone))
            .map(|(score, item)| Hit { item: Arc::clone(item), score })
            .collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        hits.truncate(k);
        hits
    }

    /// Items whose name the text says, whole, in part or misspelt, in the order they are said.
    pub fn mentions(&self, text: &str, now: DateTime<Utc>) -> Vec<Mention> {
        self.names.find(text, |n| self.items[n].is_current(now, self.zone), &self.items)
    }

    /// Current items of a category, in the order of the content file.
    pub fn by_category(&self, category: &Category, now: DateTime<Utc>) -> Vec<Arc<Item>> {
        self.current(now).filter(|item| item.category == *category).cloned().collect()
    }

    /// Items of a category that are open at `at`.
    pub fn open_now(&self, category: &Category, at: DateTime<Utc>, tz: Tz) -> Vec<Arc<Item>> {
        self.by_category(category, at).into_iter().filter(|item| item.is_open(at, tz)).collect()
    }

    pub fn get(&self, id: &str) -> Option<&Arc<Item>> {
        self.items.iter().find(|item| item.id == id)
    }

    /// Everything that may be told at `now`.
    pub fn current(&self, now: DateTime<Utc>) -> impl Iterator<Item = &Arc<Item>> {
        self.items.iter().filter(move |item| item.is_current(now, self.zone))
    }

    /// The texts of all current items, for checking a reply against everything the casino says.
    pub fn texts(&self, now: DateTime<Utc>) -> Vec<String> {
        self.current(now).map(|item| formatter::text(item, self.zone)).collect()
    }
}

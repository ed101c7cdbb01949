//! The in-memory index of a casino's items: [`Index::retrieve`] merges a ranking by words (BM25)
//! and one by vectors. It never returns an inactive item, a past event or an expired offer.

mod bm25;
mod fusion;
mod names;
mod passages;
mod retrieve;
#[cfg(test)]
mod tests;
mod vectors;
mod vocabulary;

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use chrono::{DateTime, NaiveDate, Utc};
use chrono_tz::Tz;

pub use names::Mention;
pub use passages::{Passed, Term};
pub use retrieve::{Query, Retrieved, Scores, TOP_K};
pub(crate) use vocabulary::is_common;
pub use vocabulary::is_stop;

use crate::{Category, Chunk, Item, Offline, Purpose, Space, Vector, formatter};

use seven_text::words;

#[derive(Debug, Clone)]
pub struct Hit {
    pub item: Arc<Item>,
    /// The share of the question's words, by weight, that is found in the item, 0 to 1.
    pub score: f32,
}

/// One casino's content, ready to be searched.
#[derive(Debug, Clone)]
pub struct Index {
    items: Vec<Arc<Item>>,
    zone: Tz,
    words: bm25::Postings,
    names: names::Names,
    vectors: Option<vectors::Matrix>,
    passages: OnceLock<passages::Passages>,
    bytes: usize,
}

// === impl Index ===

impl Index {
    /// Builds the index with UTC as its time zone; see [`Index::in_zone`].
    pub fn build(items: Vec<Item>) -> Self {
        let items: Vec<Arc<Item>> = items.into_iter().map(Arc::new).collect();
        let words = bm25::Postings::build(&items);
        let names = names::Names::build(&items);
        let content: usize = items
            .iter()
            .map(|item| item.to_json().to_string().len() + size_of::<Item>())
            .sum();
        // Parsed content takes nearly twice the memory of its JSON. The sentences, which are built
        // at the first question, take the same amount again.
        let bytes = size_of::<Self>() + 4 * content + words.bytes() + names.bytes();
        Self {
            items,
            zone: Tz::UTC,
            words,
            names,
            vectors: None,
            passages: OnceLock::new(),
            bytes,
        }
    }

    /// Adds the items' vectors; the keys are item ids, and all vectors belong to `space`. Items
    /// without a vector are found by their words alone.
    #[must_use]
    pub fn with_vectors(mut self, space: Space, vectors: &HashMap<String, Vector>) -> Self {
        let matrix = vectors::Matrix::build(&self.items, space, vectors);
        self.bytes =
            self.bytes + matrix.bytes() - self.vectors.as_ref().map_or(0, vectors::Matrix::bytes);
        self.vectors = Some(matrix);
        self
    }

    /// Computes and adds vectors. Call it after [`Index::in_zone`], because items' texts contain
    /// local times.
    #[must_use]
    pub fn embedded(self, embedder: &Offline) -> Self {
        let chunks = self
            .items
            .iter()
            .filter_map(|item| Chunk::of(item, self.zone));
        let vectors = chunks
            .map(|c| (c.item_id, embedder.vector(&c.text, Purpose::Document)))
            .collect();
        self.with_vectors(embedder.as_space().clone(), &vectors)
    }

    /// Returns the space of the index's vectors, if it has any.
    pub fn space(&self) -> Option<&Space> {
        self.vectors.as_ref().map(|vectors| &vectors.space)
    }

    /// Sets the casino's time zone, which decides on which day an offer ends.
    #[must_use]
    pub fn in_zone(mut self, zone: Tz) -> Self {
        self.zone = zone;
        self
    }

    /// Returns a copy of the index in which the items that `hide` selects are inactive. No search
    /// finds inactive items.
    #[must_use]
    pub fn hiding(&self, hide: impl Fn(&Item) -> bool) -> Self {
        let mut index = self.clone();
        for item in index.items.iter_mut().filter(|item| hide(item)) {
            *item = Arc::new(Item {
                active: false,
                ..Item::clone(item)
            });
        }
        index
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the approximate memory in bytes, by which a cache limits its size (D12).
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Searches by words alone and returns at most `k` hits, the best first. Items with equal
    /// scores keep the order of the content file.
    pub fn search(&self, query: &str, now: DateTime<Utc>, k: usize) -> Vec<Hit> {
        let today = self.today(now);
        let mut hits: Vec<Hit> = self
            .words
            .scores(&words(query))
            .into_iter()
            .zip(&self.items)
            .filter(|(score, item)| *score > 0.0 && item.is_current_on(now, today))
            .map(|(score, item)| Hit {
                item: Arc::clone(item),
                score,
            })
            .collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        hits.truncate(k);
        hits
    }

    /// Returns the items that the text names in whole, in part or misspelt, in the order of the
    /// text.
    pub fn mentions(&self, text: &str, now: DateTime<Utc>) -> Vec<Mention> {
        let today = self.today(now);
        self.names.find(
            text,
            |n| self.items[n].is_current_on(now, today),
            &self.items,
        )
    }

    /// Returns the items of a category that are valid at `now`, in the order of the content file.
    pub fn by_category(&self, category: &Category, now: DateTime<Utc>) -> Vec<Arc<Item>> {
        self.current(now)
            .filter(|item| item.category == *category)
            .cloned()
            .collect()
    }

    /// Returns whether a category has an item that is valid at `now`.
    pub fn has(&self, category: &Category, now: DateTime<Utc>) -> bool {
        self.current(now).any(|item| item.category == *category)
    }

    /// Returns the items of a category that are open at `at`.
    pub fn open_now(&self, category: &Category, at: DateTime<Utc>, tz: Tz) -> Vec<Arc<Item>> {
        self.by_category(category, at)
            .into_iter()
            .filter(|item| item.is_open(at, tz))
            .collect()
    }

    pub fn get(&self, id: &str) -> Option<&Arc<Item>> {
        self.items.iter().find(|item| item.id == id)
    }

    /// Returns the items that guests may be told about at `now`.
    pub fn current(&self, now: DateTime<Utc>) -> impl Iterator<Item = &Arc<Item>> {
        let today = self.today(now);
        self.items
            .iter()
            .filter(move |item| item.is_current_on(now, today))
    }

    fn today(&self, now: DateTime<Utc>) -> NaiveDate {
        now.with_timezone(&self.zone).date_naive()
    }

    /// Returns the texts of all items valid at `now`, to check a reply against the whole content.
    pub fn texts(&self, now: DateTime<Utc>) -> Vec<String> {
        self.current(now)
            .map(|item| formatter::text(item, self.zone))
            .collect()
    }
}

//! One chunk per item (RAG-14), and which chunks need a new vector (RAG-17, RAG-24, RAG-25).

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use chrono_tz::Tz;

use crate::{Item, Space, formatter};

/// The part of one item that is embedded. Notes and ids never are (C-11, T18).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    pub item_id: String,
    /// Names and keywords on the first line, everything said about the item after it.
    pub text: String,
}

/// The work that an ingestion has to do: everything else stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ingestion {
    /// Chunks without a vector of this text and embedder, with the hash to store beside the new vector.
    pub embed: Vec<(Chunk, String)>,
    pub unchanged: usize,
    /// Stored vectors whose item is gone; delete them after the new ones are written (C-23).
    pub orphans: Vec<String>,
}

/// An ingestion that would rather be a mistake (C-23).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IngestionError {
    #[error("the content came back empty while {stored} vectors are stored; nothing is deleted")]
    Empty { stored: usize },
    #[error("{orphans} of {stored} stored vectors would be deleted; more than half is taken for a mistake")]
    TooManyGone { orphans: usize, stored: usize },
}

// === impl Chunk ===

impl Chunk {
    /// `None` when the item has no name to be found by (RAG-17).
    pub fn of(item: &Item, zone: Tz) -> Option<Self> {
        if item.name.trim().is_empty() {
            return None;
        }
        let name_es = item.name_es.as_deref().filter(|es| *es != item.name);
        let filed = item.subcategory.iter().map(|sub| sub.replace('_', " "));
        let title: Vec<String> = std::iter::once(item.name.clone())
            .chain(name_es.map(str::to_owned))
            .chain(filed)
            .chain((!item.keywords.is_empty()).then(|| item.keywords.join(", ")))
            .collect();
        let body = [formatter::text(item, zone), item.description_es.clone().unwrap_or_default()].join(" ");
        Some(Self { item_id: item.id.clone(), text: format!("{}\n{}", title.join("; "), body.trim()) })
    }

    /// The same text and the same embedder give the same hash, and then no new vector is needed.
    pub fn hash(&self, space: &Space) -> String {
        formatter::document_id(&self.text, &space.to_string())
    }
}

// === impl Ingestion ===

impl Ingestion {
    /// Compares a casino's items with the hashes stored for its vectors, by item id: an item has one vector at most (C-2).
    pub fn plan(
        items: &[Item],
        zone: Tz,
        space: &Space,
        stored: &HashMap<String, String>,
    ) -> Result<Self, IngestionError> {
        let chunks: BTreeMap<String, Chunk> =
            items.iter().filter_map(|item| Chunk::of(item, zone)).map(|c| (c.item_id.clone(), c)).collect();
        let mut orphans: Vec<String> = stored.keys().filter(|id| !chunks.contains_key(*id)).cloned().collect();
        orphans.sort_unstable();
        let mut plan = Self { orphans, ..Self::default() };
        if chunks.is_empty() && !stored.is_empty() {
            return Err(IngestionError::Empty { stored: stored.len() });
        }
        if plan.orphans.len() * 2 > stored.len() {
            return Err(IngestionError::TooManyGone { orphans: plan.orphans.len(), stored: stored.len() });
        }
        for (id, chunk) in chunks {
            let hash = chunk.hash(space);
            if stored.get(&id) == Some(&hash) {
                plan.unchanged += 1;
            } else {
                plan.embed.push((chunk, hash));
            }
        }
        Ok(plan)
    }
}

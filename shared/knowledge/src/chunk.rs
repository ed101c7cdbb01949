//! One chunk per item (RAG-14), and which chunks need a new vector (RAG-17, RAG-24, RAG-25).

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use chrono_tz::Tz;

use crate::{Item, Space, formatter};

/// The part of an item that is embedded. Notes and ids never are (C-11, T18).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    pub item_id: String,
    /// Names and keywords on the first line, the rest of the item's text after it.
    pub text: String,
}

/// The work that an ingestion has to do; everything else is left unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ingestion {
    /// Chunks without a stored vector of this text and embedder, each with the hash to store beside
    /// its new vector.
    pub embed: Vec<(Chunk, String)>,
    pub unchanged: usize,
    /// Ids of stored vectors whose item no longer exists; delete them after the new ones are
    /// written (C-23).
    pub orphans: Vec<String>,
}

/// An ingestion that is refused because it is probably a mistake (C-23).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IngestionError {
    #[error("the content came back empty while {stored} vectors are stored; nothing is deleted")]
    Empty { stored: usize },
    #[error("{orphans} of {stored} stored vectors would be deleted; more than half is taken for a mistake")]
    TooManyGone { orphans: usize, stored: usize },
}

// === impl Chunk ===

impl Chunk {
    /// Builds the item's chunk; `None` if the item has no name to be found by (RAG-17).
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

    /// Returns the content hash. The same text and embedder give the same hash, so no new vector is
    /// needed.
    pub fn hash(&self, space: &Space) -> String {
        formatter::document_id(&self.text, &space.to_string())
    }
}

// === impl Ingestion ===

impl Ingestion {
    /// Compares a casino's items with the hashes stored for its vectors, by item id: an item has at
    /// most one vector (C-2).
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

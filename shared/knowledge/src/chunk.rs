//! Makes one chunk (the text to embed) per item, and finds the chunks that need a new vector.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use chrono_tz::Tz;

use crate::{Item, Space, formatter};

/// The part of an item that is embedded; notes and ids never are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    pub item_id: String,
    /// The item's names and keywords on the first line, the rest of its text after it.
    pub text: String,
}

/// The work that an ingestion of content has to do; everything else stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ingestion {
    /// Chunks that have no stored vector for their current text and embedder. Each comes with the
    /// hash to store beside its new vector.
    pub embed: Vec<(Chunk, String)>,
    pub unchanged: usize,
    /// Ids of stored vectors whose item no longer exists. Delete them after the new vectors are
    /// written.
    pub orphans: Vec<String>,
}

/// The reason why an ingestion is refused as a probable mistake.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IngestionError {
    #[error("the content came back empty while {stored} vectors are stored; nothing is deleted")]
    Empty { stored: usize },
    #[error(
        "{orphans} of {stored} stored vectors would be deleted; more than half is taken for a mistake"
    )]
    TooManyGone { orphans: usize, stored: usize },
}

// === impl Chunk ===

impl Chunk {
    /// Builds the item's chunk; `None` if the item has no name by which it could be found.
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
        let body = [
            formatter::text(item, zone),
            item.description_es.clone().unwrap_or_default(),
        ]
        .join(" ");
        Some(Self {
            item_id: item.id.clone(),
            text: format!("{}\n{}", title.join("; "), body.trim()),
        })
    }

    /// Returns the hash of the text and the embedder. A chunk with the same hash needs no new
    /// vector.
    pub fn hash(&self, space: &Space) -> String {
        formatter::document_id(&self.text, &space.to_string())
    }
}

// === impl Ingestion ===

impl Ingestion {
    /// Compares a casino's items with `stored`, which holds each stored vector's hash by item id.
    /// An item has at most one vector.
    pub fn plan(
        items: &[Item],
        zone: Tz,
        space: &Space,
        stored: &HashMap<String, String>,
    ) -> Result<Self, IngestionError> {
        let chunks: BTreeMap<String, Chunk> = items
            .iter()
            .filter_map(|item| Chunk::of(item, zone))
            .map(|c| (c.item_id.clone(), c))
            .collect();
        let mut orphans: Vec<String> = stored
            .keys()
            .filter(|id| !chunks.contains_key(*id))
            .cloned()
            .collect();
        orphans.sort_unstable();
        let mut plan = Self {
            orphans,
            ..Self::default()
        };
        if chunks.is_empty() && !stored.is_empty() {
            return Err(IngestionError::Empty {
                stored: stored.len(),
            });
        }
        if plan.orphans.len() * 2 > stored.len() {
            return Err(IngestionError::TooManyGone {
                orphans: plan.orphans.len(),
                stored: stored.len(),
            });
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

//! A casino's content index: loaded at first use, bounded in bytes, dropped when idle, rebuilt when the version moved (D12).

use std::{sync::Arc, time::Duration};

use chrono_tz::Tz;
use moka::future::Cache;
use seven_domain::CasinoId;
use seven_knowledge::{Index, Item};
use seven_runtime::Error;
use seven_store::Tx;

#[derive(Debug, Clone)]
pub(crate) struct Library {
    shelves: Cache<CasinoId, Arc<Shelf>>,
}

#[derive(Debug)]
struct Shelf {
    version: i64,
    index: Arc<Index>,
}

impl Library {
    pub(crate) fn new(bytes: u64) -> Self {
        let shelves = Cache::builder()
            .max_capacity(bytes)
            .weigher(|_, shelf: &Arc<Shelf>| u32::try_from(shelf.index.bytes()).unwrap_or(u32::MAX))
            .time_to_idle(Duration::from_secs(1_800))
            .build();
        Self { shelves }
    }

    /// The index of the bound casino at `version`. Reading the version with the turn makes stale answers impossible; the
    /// `content.changed` event is only a hint.
    pub(crate) async fn index(&self, tx: &mut Tx, version: i64, zone: Tz) -> Result<Arc<Index>, Error> {
        let casino = tx.casino().clone();
        if let Some(shelf) = self.shelves.get(&casino).await
            && shelf.version == version
        {
            return Ok(Arc::clone(&shelf.index));
        }
        let rows = tx.content().await?;
        let items: Vec<Item> = rows.iter().filter_map(|row| read(&casino, row)).collect();
        let index = Arc::new(Index::build(items).in_zone(zone));
        self.shelves.insert(casino, Arc::new(Shelf { version, index: Arc::clone(&index) })).await;
        Ok(index)
    }
}

/// Rows were validated when they were loaded; one that cannot be read any more is left out and said so, not guessed at.
fn read(casino: &CasinoId, row: &serde_json::Value) -> Option<Item> {
    match Item::from_json(row) {
        Ok(item) => Some(item),
        Err(problems) => {
            let item = row.get("id").and_then(serde_json::Value::as_str).unwrap_or("?");
            tracing::error!(%casino, item, problems = problems.len(), "content row cannot be read; load the content again");
            None
        }
    }
}

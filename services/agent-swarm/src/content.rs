//! Keeps casinos' content indexes in memory (D12). When new content is announced, the worker
//! rebuilds the casino's index. Every turn also checks that the index has the current version, so
//! that no guest gets an old price.

use std::{sync::Arc, time::Duration};

use chrono_tz::Tz;
use futures::StreamExt;
use moka::future::Cache;
use seven_domain::CasinoId;
use seven_knowledge::{Index, Item};
use seven_llm::embedding::{Embedding, Stored};
use seven_runtime::{Error, Fleet};
use seven_store::Tx;
use seven_telemetry::{Alert, metrics};
use tokio::time::Instant;

/// Number of casinos whose content is loaded at the start; other casinos' content is loaded at
/// their first text.
const WARMED: usize = 8;
/// Maximum number of tries to compute the missing vectors after a change of content.
const EMBED_TRIES: u32 = 4;
/// Wait before the first try; each later wait is five times the previous one. A command that
/// changed the content makes the vectors itself during the first wait.
const EMBED_WAIT: Duration = Duration::from_secs(2);
const LEAST_WAIT: Duration = Duration::from_millis(50);
/// How long the worker waits before it renews a broken subscription.
const RESUBSCRIBE_DELAY: Duration = Duration::from_millis(500);

#[derive(Debug, Clone)]
pub(crate) struct Library {
    shelves: Cache<CasinoId, Arc<Shelf>>,
    embedding: Embedding,
}

#[derive(Debug)]
struct Shelf {
    version: i64,
    index: Arc<Index>,
}

/// Computes the vectors that are missing after a change of content. Only one of the processes that
/// heard the change's announcement does this. The stored vectors make a new version of the content,
/// which is announced like any other.
async fn embed(embedding: Embedding, fleet: Fleet, casino: CasinoId, version: i64) {
    let heard = Instant::now();
    let mut wait = fleet.timing.scale.at_least(EMBED_WAIT, LEAST_WAIT);
    for tried in 1..=EMBED_TRIES {
        tokio::select! {
            () = fleet.shutdown.cancelled() => return,
            () = tokio::time::sleep(wait) => wait *= 5,
        }
        if tried == 1 && !seven_content::claim_vectors(&fleet, &casino, version).await {
            return;
        }
        match seven_content::ingest(&fleet, &casino, &embedding, false).await {
            Ok(ingested) => {
                if ingested.embedded > 0 {
                    let step = metrics().content.step.with_label_values(&["vectors"]);
                    step.observe(heard.elapsed().as_secs_f64());
                }
                return;
            }
            Err(error) if tried == EMBED_TRIES => {
                tracing::warn!(
                    %casino,
                    error = &error as &dyn std::error::Error,
                    "a change of content has no vectors and is found by words"
                );
                Alert {
                    name: "vectors_missing",
                    casino: casino.as_str(),
                    provider: "",
                    code: "",
                    text: "a change of content has no vectors and is found by words; the swarm's log says why",
                }
                .raise();
            }
            Err(_) => {}
        }
    }
}

impl Library {
    pub(crate) fn new(bytes: u64, embedding: Embedding) -> Self {
        let shelves = Cache::builder()
            .max_capacity(bytes)
            .weigher(|_, shelf: &Arc<Shelf>| u32::try_from(shelf.index.bytes()).unwrap_or(u32::MAX))
            .time_to_idle(Duration::from_secs(1_800))
            .build();
        Self { shelves, embedding }
    }

    /// Returns the content index of the casino to which `tx` is bound. The caller read `version` in
    /// the same transaction.
    pub(crate) async fn index(
        &self,
        tx: &mut Tx,
        version: i64,
        zone: Tz,
    ) -> Result<Arc<Index>, Error> {
        let casino = tx.casino().clone();
        if let Some(shelf) = self.shelves.get(&casino).await
            && shelf.version == version
        {
            return Ok(Arc::clone(&shelf.index));
        }
        let rows = tx.content().await?;
        let stored = self.stored(tx).await?;
        let (embedding, of) = (self.embedding.clone(), casino.clone());
        // Builds on a blocking thread, because indexing thousands of rows would delay other turns
        // of this process.
        let build = move || {
            let items: Vec<Item> = rows.iter().filter_map(|row| read(&of, row)).collect();
            embedding.index(items, zone, stored)
        };
        let index = tokio::task::spawn_blocking(build)
            .await
            .map_err(|e| Error::Other(e.to_string()))?;
        note(tx, version).await?;
        let index = Arc::new(index);
        self.shelves
            .insert(
                casino,
                Arc::new(Shelf {
                    version,
                    index: Arc::clone(&index),
                }),
            )
            .await;
        Ok(index)
    }

    /// Returns the stored vectors. The offline embedder stores none, because it computes its
    /// vectors together with the index.
    async fn stored(&self, tx: &mut Tx) -> Result<Vec<Stored>, Error> {
        if !self.embedding.is_stored() {
            return Ok(Vec::new());
        }
        let rows = tx.vectors(&self.embedding.space().to_string()).await?;
        let stored = |row: seven_store::vectors::VectorRow| Stored {
            item_id: row.item_id,
            content_hash: row.content_hash,
            values: row.vector,
        };
        Ok(rows.into_iter().map(stored).collect())
    }

    /// Loads the content of the first [`WARMED`] casinos in the background, so that fewer guests
    /// wait for it.
    pub(crate) async fn warm(self, fleet: Fleet) {
        for casino in fleet.roster.serving().into_iter().take(WARMED) {
            if fleet.shutdown.is_cancelled() {
                return;
            }
            if let Err(error) = self.reload(&fleet, &casino).await {
                tracing::debug!(
                    %casino,
                    error = &error as &dyn std::error::Error,
                    "content is read at the first question"
                );
            }
        }
    }

    /// Follows announcements of new content until the fleet shuts down.
    pub(crate) async fn follow(self, fleet: Fleet) {
        while !fleet.shutdown.is_cancelled() {
            tokio::select! {
                () = fleet.shutdown.cancelled() => return,
                outcome = self.listen(&fleet) => if let Err(error) = outcome {
                    tracing::debug!(
                        error = &error as &dyn std::error::Error,
                        "listening for new content; trying again"
                    );
                },
            }
            tokio::select! {
                () = fleet.shutdown.cancelled() => return,
                () = tokio::time::sleep(RESUBSCRIBE_DELAY) => {}
            }
        }
    }

    async fn listen(&self, fleet: &Fleet) -> Result<(), seven_bus::Error> {
        let mut changes = std::pin::pin!(fleet.bus.content_changes(&fleet.roster).await?);
        // Catches up, because an announcement may have been lost before this subscription.
        if let Err(error) = self.catch_up(fleet).await {
            tracing::debug!(
                error = &error as &dyn std::error::Error,
                "changes of content before the subscription are read at the next question"
            );
        }
        if let Err(error) = self.note_spaces(fleet).await {
            tracing::debug!(
                error = &error as &dyn std::error::Error,
                "the embedding is noted at the next change of content"
            );
        }
        while let Some((casino, version)) = changes.next().await {
            let changed = self.changed(fleet, &casino, version).await;
            if self.embedding.is_stored() {
                tokio::spawn(embed(
                    self.embedding.clone(),
                    fleet.clone(),
                    casino.clone(),
                    version,
                ));
            }
            if let Err(error) = changed {
                self.shelves.invalidate(&casino).await;
                tracing::warn!(
                    %casino,
                    error = &error as &dyn std::error::Error,
                    "new content is read at the next question"
                );
            }
        }
        Ok(())
    }

    /// Rebuilds the index of a casino whose content changed. If this process holds no index of the
    /// casino, the casino's next text builds one from the new content.
    async fn changed(&self, fleet: &Fleet, casino: &CasinoId, version: i64) -> Result<(), Error> {
        match self.shelves.get(casino).await {
            Some(shelf) if shelf.version < version => self.reload(fleet, casino).await,
            Some(_) => Ok(()),
            None => {
                let mut tx = fleet.store.bind(casino).await?;
                note(&mut tx, version).await?;
                self.note_space(&mut tx).await?;
                Ok(tx.commit().await?)
            }
        }
    }

    /// Records in the casino's row which embedding this process uses. Must not run in a turn's
    /// transaction: two turns that wrote the row at the same time would both have to begin again.
    async fn note_space(&self, tx: &mut Tx) -> Result<(), Error> {
        let space = self.embedding.space().to_string();
        let space = self.embedding.is_stored().then_some(space);
        Ok(tx.note_content_space(space.as_deref()).await?)
    }

    /// Records the embedding in the rows of all casinos that this process serves.
    async fn note_spaces(&self, fleet: &Fleet) -> Result<(), Error> {
        for casino in fleet.roster.serving() {
            let mut tx = fleet.store.bind(&casino).await?;
            self.note_space(&mut tx).await?;
            tx.commit().await?;
        }
        Ok(())
    }

    /// Reads the changes of content that no process has read yet.
    async fn catch_up(&self, fleet: &Fleet) -> Result<(), Error> {
        let now = fleet.clock.now();
        for one in fleet.store.content_waits(now, now).await? {
            if one.what != "late" {
                continue;
            }
            let mut tx = fleet.store.bind(&one.casino).await?;
            let row = tx.casino_row().await?;
            tx.commit().await?;
            if let Some(row) = row {
                self.changed(fleet, &one.casino, row.content_version)
                    .await?;
            }
        }
        Ok(())
    }

    async fn reload(&self, fleet: &Fleet, casino: &CasinoId) -> Result<(), Error> {
        let mut tx = fleet.store.bind(casino).await?;
        match tx.casino_row().await? {
            Some(row) => drop(
                self.index(
                    &mut tx,
                    row.content_version,
                    row.config.operational.timezone,
                )
                .await?,
            ),
            None => self.shelves.invalidate(casino).await,
        }
        Ok(tx.commit().await?)
    }
}

/// Records that this process answers with this version of the content. For each change that no
/// other process recorded before, measures the time since it was published.
async fn note(tx: &mut Tx, version: i64) -> Result<(), Error> {
    let propagation = &metrics().content.propagation;
    // Creates the metric's series before its first value; otherwise Prometheus would not see the
    // first increase.
    let took = propagation.with_label_values(&[tx.casino().as_str()]);
    for seconds in tx.note_indexed(version).await? {
        took.observe(seconds);
    }
    Ok(())
}

/// Parses a content row. Rows were checked when they were loaded. A row that cannot be parsed now
/// is left out and logged.
fn read(casino: &CasinoId, row: &serde_json::Value) -> Option<Item> {
    match Item::from_json(row) {
        Ok(item) => Some(item),
        Err(problems) => {
            let item = row
                .get("id")
                .and_then(serde_json::Value::as_str)
                .unwrap_or("?");
            tracing::error!(
                %casino,
                item,
                problems = problems.len(),
                "content row cannot be read; load the content again"
            );
            None
        }
    }
}

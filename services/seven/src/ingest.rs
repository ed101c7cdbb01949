//! Makes and stores the vectors of a casino's content, for `content load` and `knowledge reindex`.

use std::{collections::HashMap, sync::Arc};

use anyhow::{Context, Result};
use seven_cache::Cache;
use seven_cost::Usd;
use seven_domain::CasinoId;
use seven_knowledge::{Chunk, Ingestion, Item, Purpose};
use seven_llm::embedding::Embedding;
use seven_runtime::Fleet;
use seven_settings::Settings;
use seven_store::vectors::VectorRow;
use seven_telemetry::Alert;

use crate::{model::Tally, wiring};

/// Rows embedded per commit: a later provider failure keeps the vectors that were already paid for.
const STRETCH: usize = 256;

/// Numbers of vectors that an ingestion made, kept and removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ingested {
    pub embedded: usize,
    pub kept: usize,
    pub removed: u64,
}

/// An embedding that sums the cost of its calls. Commands ingest content with it.
#[derive(Debug)]
pub(crate) struct Paid {
    pub(crate) embedding: Embedding,
    spent: Arc<Tally>,
    most: Usd,
}

impl Paid {
    pub(crate) fn new(settings: &Settings, cache: &Cache) -> Result<Self> {
        let spent = Arc::<Tally>::default();
        let embedding = wiring::embedding_heard(settings, cache, spent.clone())?;
        Ok(Self {
            embedding,
            spent,
            most: settings.cost.reindex,
        })
    }

    /// Runs [`ingest`]. Raises an alert if it cost more than the limit, even when it failed midway.
    pub(crate) async fn ingest(
        &self,
        fleet: &Fleet,
        casino: &CasinoId,
        mass_removal: bool,
    ) -> Result<Ingested> {
        let outcome = ingest(fleet, casino, &self.embedding, mass_removal).await;
        if self.spent() > self.most {
            let text = &format!(
                "making vectors cost {}, more than the {} of [cost] reindex",
                self.spent(),
                self.most
            );
            Alert {
                name: "reindex_cost",
                casino: casino.as_str(),
                provider: "",
                code: "",
                text,
            }
            .raise();
            seven_alerts::file_all(fleet).await;
        }
        outcome
    }

    pub(crate) fn spent(&self) -> Usd {
        Usd(self.spent.spent())
    }
}

/// Embeds rows without a current vector, removes vectors of deleted rows (over half of all only
/// with `mass_removal`) and makes workers reload changes. Does nothing for the offline embedding.
pub async fn ingest(
    fleet: &Fleet,
    casino: &CasinoId,
    embedding: &Embedding,
    mass_removal: bool,
) -> Result<Ingested> {
    if !embedding.is_stored() {
        return Ok(Ingested::default());
    }
    let space = embedding.space().to_string();
    let mut tx = fleet.store.bind(casino).await?;
    let row = tx
        .casino_row()
        .await?
        .with_context(|| format!("no casino {casino}; `seven casino list` shows them"))?;
    let rows = tx.content().await?;
    let mut stored = tx.vector_hashes(&space).await?;
    tx.commit().await?;
    let items: Vec<Item> = rows
        .iter()
        .filter_map(|row| Item::from_json(row).ok())
        .collect();
    let mut gone = Vec::new();
    if mass_removal {
        gone = forget_missing(&items, &mut stored);
    }
    let plan = Ingestion::plan(
        &items,
        row.config.operational.timezone,
        embedding.space(),
        &stored,
    )
    .context("nothing was embedded; --remove allows it")?;
    gone.extend(plan.orphans);
    let mut done = Ingested {
        kept: plan.unchanged,
        ..Ingested::default()
    };
    let outcome = embed(fleet, casino, embedding, &plan.embed, &mut done).await;
    if outcome.is_ok() && !gone.is_empty() {
        let mut tx = fleet.store.bind(casino).await?;
        done.removed = tx.remove_vectors(&space, &gone).await?;
        tx.commit().await?;
    }
    if done.embedded > 0 || done.removed > 0 {
        let mut tx = fleet.store.bind(casino).await?;
        let version = tx.raise_content_version().await?;
        tx.commit().await?;
        fleet.bus.announce_content(casino, version).await?;
    }
    outcome.map(|()| done)
}

fn forget_missing(items: &[Item], stored: &mut HashMap<String, String>) -> Vec<String> {
    let there = |id: &String| items.iter().any(|item| item.id == *id);
    let gone: Vec<String> = stored.keys().filter(|id| !there(id)).cloned().collect();
    stored.retain(|id, _| there(id));
    gone
}

async fn embed(
    fleet: &Fleet,
    casino: &CasinoId,
    embedding: &Embedding,
    missing: &[(Chunk, String)],
    done: &mut Ingested,
) -> Result<()> {
    let space = embedding.space().to_string();
    for stretch in missing.chunks(STRETCH) {
        let texts: Vec<&str> = stretch
            .iter()
            .map(|(chunk, _)| chunk.text.as_str())
            .collect();
        let vectors = embedding
            .embedder()
            .embed(&texts, Purpose::Document)
            .await?;
        let row =
            |((chunk, hash), vector): (&(Chunk, String), seven_knowledge::Vector)| VectorRow {
                item_id: chunk.item_id.clone(),
                content_hash: hash.clone(),
                vector: vector.values().to_vec(),
            };
        let rows: Vec<VectorRow> = stretch.iter().zip(vectors).map(row).collect();
        // No transaction is open during the provider's call.
        let mut tx = fleet.store.bind(casino).await?;
        tx.put_vectors(&space, &rows).await?;
        tx.commit().await?;
        done.embedded += rows.len();
    }
    Ok(())
}

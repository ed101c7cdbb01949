//! Computes and stores the vectors of a casino's content: after an edit, after a load, and for
//! `knowledge reindex`.

use std::collections::HashMap;

use seven_domain::CasinoId;
use seven_knowledge::{Chunk, EmbedError, Ingestion, IngestionError, Item, Purpose, Vector};
use seven_llm::embedding::Embedding;
use seven_runtime::Fleet;
use seven_store::vectors::VectorRow;
use uuid::Uuid;

/// Number of rows that are embedded per commit. If the provider fails later, the vectors already
/// paid for are kept.
const STRETCH: usize = 256;

/// Why an ingestion failed. Vectors made before the failure are kept. Rows without a vector can
/// still be found by their words.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    #[error("no casino {0}; `seven casino list` shows them")]
    NoCasino(CasinoId),
    #[error("nothing was embedded; --remove allows it")]
    MassRemoval(#[source] IngestionError),
    #[error("the provider made no vectors")]
    Embed(#[from] EmbedError),
    #[error(transparent)]
    Store(#[from] seven_store::Error),
    #[error(transparent)]
    Bus(#[from] seven_bus::Error),
}

/// The numbers of vectors that an ingestion made, kept and removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ingested {
    pub embedded: usize,
    pub kept: usize,
    pub removed: u64,
    /// Number of the casino's own test questions that got a vector.
    pub questions: usize,
}

/// Claims the work of making a content version's vectors, so that only one process pays for them.
/// Returns false if another process has the claim. Without Redis, every process gets true.
pub async fn claim_vectors(fleet: &Fleet, casino: &CasinoId, version: i64) -> bool {
    let key = format!("vectors:{version}");
    fleet.cache.is_first(casino, &key).await
}

/// The differences between a casino's rows and its stored vectors. Empty for the offline embedding,
/// which stores no vectors.
#[derive(Default)]
struct Missing {
    embed: Vec<(Chunk, String)>,
    questions: Vec<(Uuid, String)>,
    gone: Vec<String>,
    kept: usize,
}

async fn missing(
    fleet: &Fleet,
    casino: &CasinoId,
    embedding: &Embedding,
    mass_removal: bool,
) -> Result<Missing, IngestError> {
    if !embedding.is_stored() {
        return Ok(Missing::default());
    }
    let mut tx = fleet.store.bind(casino).await?;
    let row = tx
        .casino_row()
        .await?
        .ok_or_else(|| IngestError::NoCasino(casino.clone()))?;
    let rows = tx.content().await?;
    let space = embedding.space().to_string();
    let mut stored = tx.vector_hashes(&space).await?;
    let questions = tx.questions_without_vector(&space).await?;
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
    .map_err(IngestError::MassRemoval)?;
    gone.extend(plan.orphans);
    Ok(Missing {
        embed: plan.embed,
        questions,
        gone,
        kept: plan.unchanged,
    })
}

/// Returns what [`ingest`] would do now, without calling a provider or writing anything.
///
/// # Errors
/// Fails when Postgres does not answer, or if `ingest` would refuse.
pub async fn planned_ingest(
    fleet: &Fleet,
    casino: &CasinoId,
    embedding: &Embedding,
    mass_removal: bool,
) -> Result<Ingested, IngestError> {
    let missing = missing(fleet, casino, embedding, mass_removal).await?;
    Ok(Ingested {
        embedded: missing.embed.len(),
        kept: missing.kept,
        removed: missing.gone.len() as u64,
        questions: missing.questions.len(),
    })
}

/// Embeds rows without a current vector, and the casino's own test questions without a vector.
/// Removes the vectors of deleted rows; removing more than half of all vectors needs
/// `mass_removal`. If vectors of rows changed, makes workers reload the content. Does nothing for
/// the offline embedding.
///
/// # Errors
/// Fails when the provider, Postgres or the bus fails.
pub async fn ingest(
    fleet: &Fleet,
    casino: &CasinoId,
    embedding: &Embedding,
    mass_removal: bool,
) -> Result<Ingested, IngestError> {
    let Missing {
        embed: rows,
        questions,
        gone,
        kept,
    } = missing(fleet, casino, embedding, mass_removal).await?;
    let mut done = Ingested {
        kept,
        ..Ingested::default()
    };
    let outcome = embed(fleet, casino, embedding, &rows, &mut done).await;
    if outcome.is_ok() && !gone.is_empty() {
        let mut tx = fleet.store.bind(casino).await?;
        let space = embedding.space().to_string();
        done.removed = tx.remove_vectors(&space, &gone).await?;
        tx.commit().await?;
    }
    if done.embedded > 0 || done.removed > 0 {
        let mut tx = fleet.store.bind(casino).await?;
        let version = tx.raise_content_version().await?;
        tx.commit().await?;
        fleet.bus.announce_content(casino, version).await?;
    }
    outcome?;
    embed_questions(fleet, casino, embedding, &questions).await?;
    done.questions = questions.len();
    Ok(done)
}

/// Embeds the casino's own test questions and stores their vectors, which [`crate::run_set`] uses.
async fn embed_questions(
    fleet: &Fleet,
    casino: &CasinoId,
    embedding: &Embedding,
    questions: &[(Uuid, String)],
) -> Result<(), IngestError> {
    if questions.is_empty() {
        return Ok(());
    }
    let space = embedding.space().to_string();
    let texts: Vec<&str> = questions.iter().map(|(_, text)| text.as_str()).collect();
    let vectors = embedding.embedder().embed(&texts, Purpose::Query).await?;
    let mut tx = fleet.store.bind(casino).await?;
    for ((question, _), vector) in questions.iter().zip(vectors) {
        tx.put_question_vector(&space, *question, vector.values())
            .await?;
    }
    Ok(tx.commit().await?)
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
) -> Result<(), IngestError> {
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
        let row = |((chunk, hash), vector): (&(Chunk, String), Vector)| VectorRow {
            item_id: chunk.item_id.clone(),
            content_hash: hash.clone(),
            vector: vector.values().to_vec(),
        };
        let rows: Vec<VectorRow> = stretch.iter().zip(vectors).map(row).collect();
        // The transaction begins only after the provider's answer. During the call, no transaction
        // is open.
        let mut tx = fleet.store.bind(casino).await?;
        tx.put_vectors(&space, &rows).await?;
        tx.commit().await?;
        done.embedded += rows.len();
    }
    Ok(())
}

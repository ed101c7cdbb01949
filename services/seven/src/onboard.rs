//! Adds a casino and loads its content, for `casino add`, `content load` and `dev`.

use anyhow::{Context, Result, anyhow};
use serde_json::Value;
use seven_domain::{AuditEvent, CasinoConfig, CasinoId, config::retired};
use seven_knowledge::{Item, Reference, parse_content_of};
use seven_runtime::Fleet;
use seven_store::{
    Tx,
    audit::Entry,
    casinos::Added,
    content::{ContentRow, LoadSummary},
};

use crate::diff::{Change, changes};

/// Reads and checks a casino document (TOML if the file name ends in `.toml`, else JSON).
pub fn read_casino(file: &str, text: &str) -> Result<CasinoConfig> {
    let (config, document): (CasinoConfig, Option<Value>) = if file.ends_with(".toml") {
        (
            toml::from_str(text).with_context(|| format!("reading {file}"))?,
            toml::from_str(text).ok(),
        )
    } else {
        (
            serde_json::from_str(text).with_context(|| format!("reading {file}"))?,
            serde_json::from_str(text).ok(),
        )
    };
    for field in document.iter().flat_map(retired) {
        crate::warn(&format!(
            "{file}: nothing reads {field} any more; remove it, the next release refuses it"
        ));
    }
    config.check().map_err(|problems| {
        anyhow!(
            "{}",
            problems
                .iter()
                .map(|p| format!("{file}: {p}"))
                .collect::<Vec<_>>()
                .join("\n")
        )
    })?;
    Ok(config)
}

/// The effect of a document on its casino.
#[derive(Debug)]
pub struct Addition {
    pub added: Added,
    /// Changed fields; None for a new casino.
    pub changes: Vec<Change>,
}

/// Stores the document if there is a pack for it, routes its number, creates its consumers and
/// tells the running workers.
pub async fn add_casino(fleet: &Fleet, config: &CasinoConfig, actor: &str) -> Result<Addition> {
    fleet
        .packs
        .of(config)
        .with_context(|| format!("{} was not added", config.casino_id))?;
    fleet.bus.onboard(&config.casino_id).await?;
    let (tx, addition) = put_casino(fleet, config, actor).await?;
    tx.commit().await?;
    announce(fleet, &config.casino_id).await?;
    Ok(addition)
}

/// Returns what [`add_casino`] would do, or why it would refuse. Writes nothing.
pub async fn try_casino(fleet: &Fleet, config: &CasinoConfig) -> Result<Addition> {
    fleet
        .packs
        .of(config)
        .with_context(|| format!("{} would not be added", config.casino_id))?;
    let (tx, addition) = put_casino(fleet, config, "").await?;
    tx.rollback().await?;
    Ok(addition)
}

async fn put_casino(fleet: &Fleet, config: &CasinoConfig, actor: &str) -> Result<(Tx, Addition)> {
    let mut tx = fleet.store.bind(&config.casino_id).await?;
    let changes = match tx.casino_row().await? {
        Some(row) => changes(
            &serde_json::to_value(&*row.config)?,
            &serde_json::to_value(config)?,
        ),
        None => Vec::new(),
    };
    let changed: Vec<String> = changes.iter().map(|change| change.field.clone()).collect();
    let added = tx.put_casino(config, actor, &changed).await?;
    Ok((tx, Addition { added, changes }))
}

/// Mirrors the casino's row into the NATS bucket now instead of at the scheduler's next round.
pub async fn announce(fleet: &Fleet, casino: &CasinoId) -> Result<()> {
    let entry = fleet
        .store
        .roster()
        .await?
        .into_iter()
        .find(|entry| entry.casino == *casino);
    match entry {
        Some(entry) => {
            let control = seven_scheduler::control(entry);
            fleet.bus.mirror(&control).await?;
            fleet.roster.put(control);
        }
        None => fleet.bus.unmirror(casino).await?,
    }
    Ok(())
}

/// Most item names of each kind that the audit log keeps per load.
const NAMES_KEPT: usize = 500;

/// Validates a content file against the casino's time zone and its pack's categories, and replaces
/// the casino's content with it.
pub async fn load_content(
    fleet: &Fleet,
    casino: &CasinoId,
    file: &str,
    text: &str,
    actor: &str,
) -> Result<LoadSummary> {
    let (mut tx, summary) = put_content(fleet, casino, file, text, actor).await?;
    let version = tx.casino_row().await?.map_or(0, |row| row.content_version);
    tx.commit().await?;
    // The content is stored; swarms also check its version periodically.
    if let Err(error) = fleet.bus.announce_content(casino, version).await {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "the content is stored but could not be announced"
        );
    }
    Ok(summary)
}

/// Returns what [`load_content`] would do, or why it would refuse. Writes nothing.
pub async fn try_content(
    fleet: &Fleet,
    casino: &CasinoId,
    file: &str,
    text: &str,
) -> Result<LoadSummary> {
    let (tx, summary) = put_content(fleet, casino, file, text, "").await?;
    tx.rollback().await?;
    Ok(summary)
}

async fn put_content(
    fleet: &Fleet,
    casino: &CasinoId,
    file: &str,
    text: &str,
    actor: &str,
) -> Result<(Tx, LoadSummary)> {
    let mut tx = fleet.store.bind(casino).await?;
    let row = tx
        .casino_row()
        .await?
        .with_context(|| format!("no casino {casino}; add it first: seven casino add FILE"))?;
    let reference = Reference {
        now: fleet.clock.property_now(),
        zone: row.config.operational.timezone,
    };
    let categories = &fleet.packs.of(&row.config)?.agents.categories;
    let items = parse_content_of(file, text, reference, categories).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        anyhow!(
            "{} problems, nothing was loaded:\n{}",
            lines.len(),
            lines.join("\n")
        )
    })?;
    let rows: Vec<ContentRow> = items.iter().map(content_row).collect();
    let summary = tx.replace_content(&rows).await?;
    let kept = |names: &[String]| names.iter().take(NAMES_KEPT).cloned().collect::<Vec<_>>();
    let detail = serde_json::json!({
        "items": rows.len(), "file": file, "created": kept(&summary.created),
        "changed": kept(&summary.changed),
        "removed": kept(&summary.removed),
    });
    tx.audit(&Entry::of(
        AuditEvent::ContentUpdated,
        actor,
        casino.as_str(),
        detail,
    ))
    .await?;
    Ok((tx, summary))
}

fn content_row(item: &Item) -> ContentRow {
    let value = item.to_json();
    ContentRow {
        item_id: item.id.clone(),
        category: item.category.to_string(),
        name: item.name.clone(),
        content_hash: hash(&value),
        active: item.active,
        item: value,
    }
}

/// Returns the SHA-256 of the item with sorted keys: equal items load as unchanged, whichever
/// order of keys serde_json keeps in this build.
fn hash(item: &Value) -> String {
    use sha2::{Digest, Sha256};
    let mut sorted = item.clone();
    sorted.sort_all_objects();
    hex::encode(Sha256::digest(sorted.to_string().as_bytes()))
}

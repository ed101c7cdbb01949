//! Adds a casino and loads its content, for `casino add`, `content load` and `dev`.

use anyhow::{Context, Result, anyhow};
use serde_json::Value;
use seven_content::diff::{Change, changes};
use seven_domain::{CasinoConfig, CasinoId, config::retired};
use seven_runtime::Fleet;
use seven_store::{Tx, casinos::Added};

use seven_content::load::{File, Loaded, Loading, load};

/// Name that is recorded as the approving second person when a tool prepares content.
const PREPARED: &str = "preparation";

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

/// The result of storing a casino's document.
#[derive(Debug)]
pub struct Addition {
    pub added: Added,
    /// Changed fields; empty for a new casino.
    pub changes: Vec<Change>,
}

/// Stores the casino's document, routes the casino's number, creates its consumers and tells the
/// running workers. Fails if there is no pack for the casino.
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

/// Returns the result that [`add_casino`] would have, or the reason why it would refuse. Writes
/// nothing.
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

/// Loads the file as the casino's whole content. Items missing from the file are switched off
/// without confirmation. For tools that prepare a casino; operators use `content load`.
pub async fn load_content(
    fleet: &Fleet,
    casino: &CasinoId,
    file: &str,
    text: &str,
    actor: &str,
) -> Result<Loaded> {
    let loading = Loading {
        by: actor,
        approved_by: Some(PREPARED),
        switch_off_missing: true,
        draft: false,
        keep_waiting: false,
        first_waits_for_nobody: true,
    };
    Ok(load(fleet, casino, &File::json(file, text), &loading).await?)
}

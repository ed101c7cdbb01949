//! `seven content load`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Subcommand;
use seven_domain::CasinoId;

use super::fleet;
use crate::{
    ingest::{Ingested, Paid},
    onboard, out,
    settings::Settings,
};

#[derive(Debug, Subcommand)]
pub enum Content {
    /// Replace a casino's content by a file (JSON or JSON Lines, `-` for standard input); problems are named as file:row:field with the fix.
    Load {
        #[arg(long, value_name = "ID")]
        casino: CasinoId,
        file: PathBuf,
    },
}

pub async fn run(config: Option<&Path>, Content::Load { casino, file }: Content) -> Result<()> {
    let text = super::read(&file)?;
    let fleet = fleet(config).await?;
    let summary =
        onboard::load_content(&fleet, &casino, &file.display().to_string(), &text, "seven content load").await?;
    out!(
        "{casino}: {} new, {} changed, {} unchanged, {} removed.",
        summary.created,
        summary.changed,
        summary.unchanged,
        summary.removed
    );
    let paid = Paid::new(&Settings::load(config)?, &fleet.cache)?;
    // The content is loaded and answers by words whatever becomes of its vectors.
    let ingested = paid.ingest(&fleet, &casino, false).await.with_context(|| {
        format!("the content is loaded; its vectors are not: seven knowledge reindex --casino {casino}")
    })?;
    if paid.embedding.is_stored() {
        let Ingested { embedded, kept, removed } = ingested;
        out!("vectors: {embedded} embedded, {kept} kept, {removed} removed; {}.", paid.spent());
    }
    Ok(())
}

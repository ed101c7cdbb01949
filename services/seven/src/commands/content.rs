//! `seven content load`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Subcommand;
use seven_domain::CasinoId;

use super::fleet;
use crate::{onboard, out};

#[derive(Debug, Subcommand)]
pub enum Content {
    /// Replace a casino's content by a file (JSON or JSON Lines); problems are named as file:row:field with the fix.
    Load {
        #[arg(long, value_name = "ID")]
        casino: CasinoId,
        file: PathBuf,
    },
}

pub async fn run(config: Option<&Path>, Content::Load { casino, file }: Content) -> Result<()> {
    let text = std::fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
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
    Ok(())
}

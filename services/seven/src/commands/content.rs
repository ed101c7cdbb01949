//! `seven content load`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Subcommand;
use seven_domain::CasinoId;
use seven_settings::Settings;
use seven_store::content::LoadSummary;

use super::{
    fleet,
    given::{By, Careful},
};
use crate::{
    ingest::{Ingested, Paid},
    onboard, out,
};

#[derive(Debug, Subcommand)]
pub enum Content {
    /// Replace a casino's content by a file (JSON or JSON Lines, `-` for standard input); problems are named as file:row:field with the fix.
    Load {
        #[arg(long, value_name = "ID")]
        casino: CasinoId,
        file: PathBuf,
        #[command(flatten)]
        careful: Careful,
        #[command(flatten)]
        by: By,
    },
}

/// Items of each kind that are named; all are in the audit log.
const NAMED: usize = 20;
/// A file that removes more than one item in so many is likely another's, or a part: a person must agree.
const ONE_IN: usize = 10;

pub async fn run(config: Option<&Path>, command: Content) -> Result<()> {
    let Content::Load { casino, file, careful, by: By { by } } = command;
    let text = super::read(&file)?;
    let name = file.display().to_string();
    let fleet = fleet(config).await?;
    let planned = onboard::try_content(&fleet, &casino, &name, &text).await?;
    for (sign, names) in [('+', &planned.created), ('~', &planned.changed), ('-', &planned.removed)] {
        names.iter().take(NAMED).for_each(|name| out!("  {sign} {name}"));
        if names.len() > NAMED {
            out!("  {sign} and {} more", names.len() - NAMED);
        }
    }
    out!("{casino}: {}.", counted(&planned));
    if !careful.goes_on(question(&casino, &planned).as_deref())? {
        return Ok(());
    }
    onboard::load_content(&fleet, &casino, &name, &text, &by).await?;
    out!("Loaded.");
    super::dead::of_known_numbers(&fleet, &by).await?.tell();
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

fn counted(LoadSummary { created, changed, unchanged, removed }: &LoadSummary) -> String {
    format!("{} new, {} changed, {unchanged} unchanged, {} removed", created.len(), changed.len(), removed.len())
}

/// The question that a person must agree to, if any.
fn question(casino: &CasinoId, planned: &LoadSummary) -> Option<String> {
    let before = planned.changed.len() + planned.unchanged + planned.removed.len();
    let many = planned.removed.len() * ONE_IN > before;
    many.then(|| format!("remove {} of {before} item(s) of {casino}", planned.removed.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_asked_before_more_than_a_tenth_goes() {
        let casino: CasinoId = "silver_birch".parse().unwrap();
        let planned = |removed: usize, unchanged| {
            let removed = (0..removed).map(|n| n.to_string()).collect();
            question(&casino, &LoadSummary { removed, unchanged, ..LoadSummary::default() })
        };
        for (removed, unchanged, asked) in [(0, 0, false), (0, 50, false), (1, 9, false), (1, 8, true), (108, 3, true)]
        {
            assert_eq!(planned(removed, unchanged).is_some(), asked, "{removed} of {}", removed + unchanged);
        }
        assert_eq!(planned(108, 3).unwrap(), "remove 108 of 111 item(s) of silver_birch");
    }
}

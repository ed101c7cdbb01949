//! `seven content load`: replaces a casino's content by a file.

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use seven_domain::CasinoId;
use seven_store::content::LoadSummary;

use super::{
    args::{By, Careful, Casino},
    context::{Context, Operate},
    progress::during,
};
use crate::{
    ingest::{Ingested, Paid},
    onboard, out,
};

#[derive(Debug, Subcommand)]
pub enum Content {
    /// Replace a casino's content by a file; each problem is named as file:row:field with its fix.
    Load(Load),
}

#[derive(Debug, Args)]
pub struct Load {
    #[command(flatten)]
    of: Casino,
    /// The content (JSON or JSON Lines); - reads it from stdin.
    file: PathBuf,
    #[command(flatten)]
    careful: Careful,
    #[command(flatten)]
    by: By,
}

/// Number of items of each kind that are named; the audit log has all.
const NAMED: usize = 20;
/// A file that removes more than one item in ten is probably the wrong one or incomplete, so a
/// person must agree.
const ONE_IN: usize = 10;

impl Operate for Content {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        let Self::Load(command) = self;
        load(ctx, command).await?;
        Ok(ExitCode::SUCCESS)
    }
}

async fn load(ctx: &Context, command: Load) -> Result<()> {
    let Load {
        of: Casino { casino },
        file,
        careful,
        by: By { by },
    } = command;
    let text = super::read(&file)?;
    let name = file.display().to_string();
    let fleet = ctx.fleet().await?;
    let planned = onboard::try_content(fleet, &casino, &name, &text).await?;
    for (sign, names) in [
        ('+', &planned.created),
        ('~', &planned.changed),
        ('-', &planned.removed),
    ] {
        names
            .iter()
            .take(NAMED)
            .for_each(|name| out!("  {sign} {name}"));
        if names.len() > NAMED {
            out!("  {sign} and {} more", names.len() - NAMED);
        }
    }
    out!("{casino}: {}.", counted(&planned));
    if !careful.goes_on(question(&casino, &planned).as_deref())? {
        return Ok(());
    }
    during(
        "Loading the content",
        onboard::load_content(fleet, &casino, &name, &text, &by),
    )
    .await?;
    out!("Loaded.");
    super::dead::of_known_numbers(fleet, &by).await?.tell();
    let paid = Paid::new(&ctx.settings()?, &fleet.cache)?;
    // Without vectors the content is still found by words.
    let ingested = during("Making vectors", paid.ingest(fleet, &casino, false))
        .await
        .with_context(|| {
            format!(
                "the content is loaded; its vectors are not: seven knowledge reindex --casino \
                 {casino}"
            )
        })?;
    if paid.embedding.is_stored() {
        let Ingested {
            embedded,
            kept,
            removed,
        } = ingested;
        out!(
            "vectors: {embedded} embedded, {kept} kept, {removed} removed; {}.",
            paid.spent()
        );
    }
    Ok(())
}

fn counted(
    LoadSummary {
        created,
        changed,
        unchanged,
        removed,
    }: &LoadSummary,
) -> String {
    format!(
        "{} new, {} changed, {unchanged} unchanged, {} removed",
        created.len(),
        changed.len(),
        removed.len()
    )
}

/// Returns the question that a person must agree to, if any.
fn question(casino: &CasinoId, planned: &LoadSummary) -> Option<String> {
    let before = planned.changed.len() + planned.unchanged + planned.removed.len();
    let many = planned.removed.len() * ONE_IN > before;
    many.then(|| {
        format!(
            "remove {} of {before} item(s) of {casino}",
            planned.removed.len()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_asked_before_more_than_a_tenth_goes() {
        let casino: CasinoId = "silver_birch".parse().unwrap();
        let planned = |removed: usize, unchanged| {
            let removed = (0..removed).map(|n| n.to_string()).collect();
            question(
                &casino,
                &LoadSummary {
                    removed,
                    unchanged,
                    ..LoadSummary::default()
                },
            )
        };
        for (removed, unchanged, asked) in [
            (0, 0, false),
            (0, 50, false),
            (1, 9, false),
            (1, 8, true),
            (108, 3, true),
        ] {
            assert_eq!(
                planned(removed, unchanged).is_some(),
                asked,
                "{removed} of {}",
                removed + unchanged
            );
        }
        assert_eq!(
            planned(108, 3).unwrap(),
            "remove 108 of 111 item(s) of silver_birch"
        );
    }
}

//! `seven content load`: saves a file's items with `seven_content`, the one path by which content
//! changes.

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use seven_content::{
    claim_vectors,
    diff::Change,
    load::{self, File, Loaded, Loading},
};
use seven_domain::CasinoId;

use crate::{
    commands::{
        args::{By, Careful, Casino},
        context::Context,
        dead,
        given::words,
        progress::during,
    },
    ingest::{Ingested, Paid},
    out,
};

#[derive(Debug, Args)]
pub struct Load {
    #[command(flatten)]
    of: Casino,
    /// The content (JSON, JSON Lines, CSV, or XLSX with a tab per category); - reads JSON from
    /// stdin.
    file: PathBuf,
    /// Name of the second person, who approved the file. None of its changes then waits for
    /// approval.
    #[arg(long, value_name = "NAME", value_parser = words)]
    approved_by: Option<String>,
    /// Switch off the items that the file does not name, in all categories.
    #[arg(long)]
    switch_off_missing: bool,
    /// Save all changes as drafts, for `seven content publish-all`.
    #[arg(long)]
    draft: bool,
    #[command(flatten)]
    careful: Careful,
    #[command(flatten)]
    by: By,
}

/// Maximum number of items of each kind that are printed by name; the audit log has all.
const NAMED: usize = 20;
/// If loading switches off more than one in this many items, a person must agree: the file is
/// probably the wrong one or incomplete.
const ONE_IN: usize = 10;

pub(super) async fn load(ctx: &Context, command: Load) -> Result<()> {
    let Load {
        of: Casino { casino },
        file,
        approved_by,
        switch_off_missing,
        draft,
        careful,
        by: By { by },
    } = command;
    ensure!(
        approved_by.as_ref() != Some(&by),
        "--approved-by names a second person; {by} loads the file"
    );
    let name = file.display().to_string();
    let file = File::read(&name, read(&file)?)?;
    let fleet = ctx.fleet().await?;
    let loading = Loading {
        by: &by,
        approved_by: approved_by.as_deref(),
        switch_off_missing,
        draft,
        keep_waiting: false,
        first_waits_for_nobody: true,
    };
    let planned = load::try_load(fleet, &casino, &file, &loading).await?;
    show(&casino, &planned);
    if !careful.goes_on(question(&casino, &planned).as_deref())? {
        return Ok(());
    }
    during(
        "Loading the content",
        load::load(fleet, &casino, &file, &loading),
    )
    .await?;
    match draft {
        true => out!("Saved as drafts; seven content publish-all publishes them."),
        false => out!("Loaded."),
    }
    dead::of_known_numbers(fleet, &by).await?.tell();
    vectors(ctx, &casino).await
}

/// Reads a file, or stdin.
fn read(file: &Path) -> Result<Vec<u8>> {
    if file.as_os_str() == "-" {
        let mut bytes = Vec::new();
        std::io::stdin()
            .read_to_end(&mut bytes)
            .context("reading standard input")?;
        return Ok(bytes);
    }
    std::fs::read(file).with_context(|| format!("reading {}", file.display()))
}

/// Makes the vectors of changed content. Without vectors the content is still found by words.
pub(super) async fn vectors(ctx: &Context, casino: &CasinoId) -> Result<()> {
    let fleet = ctx.fleet().await?;
    let paid = Paid::new(&ctx.settings()?, &fleet.cache)?;
    if paid.embedding.is_stored() {
        let mut tx = fleet.store.bind(casino).await?;
        let row = tx.casino_row().await?;
        tx.commit().await?;
        if let Some(row) = row {
            // Claims the vectors for this command; otherwise a swarm worker that learns of the
            // change would make them, too.
            claim_vectors(fleet, casino, row.content_version).await;
        }
    }
    let ingested = during("Making vectors", paid.ingest(fleet, casino, false))
        .await
        .with_context(|| {
            format!(
                "the content is stored; its vectors are not: seven knowledge reindex --casino \
                 {casino}"
            )
        })?;
    if paid.embedding.is_stored() {
        let Ingested {
            embedded,
            kept,
            removed,
            questions,
        } = ingested;
        out!(
            "vectors: {embedded} embedded, {kept} kept, {removed} removed, {questions} of its own questions embedded; {}.",
            paid.spent()
        );
    }
    Ok(())
}

fn show(casino: &CasinoId, planned: &Loaded) {
    named('+', planned.created.iter().cloned());
    named('~', planned.changed.iter().map(with_fields));
    named('-', planned.switched_off.iter().cloned());
    let why = |(name, why): &(String, String)| format!("{name}: {why}");
    named('?', planned.review.iter().map(why));
    named('!', planned.warned.iter().map(why));
    out!("{casino}: {}.", counted(planned));
    if !planned.review.is_empty() {
        out!("Another person publishes what waits: seven content publish --help");
    }
}

/// Returns an item's name, followed by the fields that differ, one per line.
pub(super) fn with_fields((name, fields): &(String, Vec<Change>)) -> String {
    let fields: Vec<String> = fields
        .iter()
        .map(|field| format!("\n      {field}"))
        .collect();
    format!("{name}{}", fields.concat())
}

/// Prints the first [`NAMED`] of the names, each after a sign, and the number of the others.
pub(super) fn named(sign: char, names: impl ExactSizeIterator<Item = String>) {
    let more = names.len().saturating_sub(NAMED);
    names.take(NAMED).for_each(|name| out!("  {sign} {name}"));
    if more > 0 {
        out!("  {sign} and {more} more");
    }
}

fn counted(planned: &Loaded) -> String {
    format!(
        "{} new, {} changed, {} unchanged, {} switched off, {} for review",
        planned.created.len(),
        planned.changed.len(),
        planned.unchanged,
        planned.switched_off.len(),
        planned.review.len()
    )
}

/// Returns the question that a person must agree to; `None` if the change needs no agreement.
fn question(casino: &CasinoId, planned: &Loaded) -> Option<String> {
    let off = planned.switched_off.len();
    let many = off * ONE_IN > planned.active_before;
    many.then(|| {
        format!(
            "switch off {off} of {} item(s) of {casino}",
            planned.active_before
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_asked_before_more_than_a_tenth_goes() {
        let casino: CasinoId = "silver_birch".parse().unwrap();
        let planned = |off: usize, active_before| {
            let switched_off = (0..off).map(|n| n.to_string()).collect();
            question(
                &casino,
                &Loaded {
                    switched_off,
                    active_before,
                    ..Loaded::default()
                },
            )
        };
        for (off, before, asked) in [
            (0, 0, false),
            (0, 50, false),
            (1, 10, false),
            (1, 9, true),
            (108, 111, true),
        ] {
            assert_eq!(planned(off, before).is_some(), asked, "{off} of {before}");
        }
        assert_eq!(
            planned(108, 111).unwrap(),
            "switch off 108 of 111 item(s) of silver_birch"
        );
    }
}

//! `seven content undo|rollback`: makes earlier contents new revisions.

use anyhow::{Result, bail};
use clap::Subcommand;
use seven_content::{Outcome, Past, Restored, RolledBack, Terms, Work, preview, roll_back, undo};
use seven_domain::ContentSource;

use super::{
    history::Item,
    load::{named, vectors, with_fields},
};
use crate::{
    commands::{
        args::{By, Careful, Casino},
        context::Context,
        given::When,
    },
    out,
};

#[derive(Debug, Subcommand)]
pub enum Restore {
    /// Give an item the contents that it had before its present revision.
    Undo {
        #[command(flatten)]
        which: Item,
        #[command(flatten)]
        by: By,
    },
    /// Make a category, or all content, what it was at a time; shows the difference first.
    Rollback(Rollback),
}

#[derive(Debug, clap::Args)]
pub struct Rollback {
    #[command(flatten)]
    of: Casino,
    /// The time: a span before now (30m, 2h, 7d) or a time (RFC 3339).
    #[arg(long, value_name = "WHEN")]
    to: When,
    /// Only this category.
    #[arg(long, value_name = "NAME")]
    category: Option<String>,
    #[command(flatten)]
    careful: Careful,
    #[command(flatten)]
    by: By,
}

pub(super) async fn restored(ctx: &Context, command: Restore) -> Result<()> {
    let fleet = ctx.fleet().await?;
    match command {
        Restore::Undo { which, by } => {
            let mut work = Work::begin(fleet, &which.of.casino).await?;
            let outcome = undo(&mut work, &terms(&by.by, None), &which.item).await?;
            match outcome {
                Outcome::Saved {
                    revision, state, ..
                } => {
                    work.commit().await?;
                    out!("Revision {revision} of {} is {state}.", which.item);
                }
                Outcome::Refused { findings, .. } => {
                    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
                    bail!("nothing was changed: {}", lines.join("; "));
                }
                Outcome::Unchanged { .. } | Outcome::Moved { .. } | Outcome::Repeated { .. } => {
                    out!("{} has these contents already.", which.item);
                    return Ok(());
                }
            }
            vectors(ctx, &which.of.casino).await
        }
        Restore::Rollback(Rollback {
            of,
            to,
            category,
            careful,
            by,
        }) => {
            let at = to.at(fleet.clock.now());
            let terms = terms(&by.by, Some("rollback"));
            let past = Past {
                at,
                category: category.as_deref(),
            };
            let planned = preview(fleet, &of.casino, &terms, past).await?;
            show(&planned);
            let count = planned.changed.len() + planned.off.len();
            let question = format!("change {count} item(s) of {}", of.casino);
            if count == 0 || !careful.goes_on(Some(&question))? {
                return Ok(());
            }
            match roll_back(fleet, &of.casino, &terms, past, &planned.seal()).await? {
                RolledBack::Done => {}
                RolledBack::Moved => {
                    bail!("the content changed meanwhile, and nothing was restored; look again")
                }
                RolledBack::Unfit(items) => bail!(
                    "nothing was restored: the contents of {} at that time do not fit the pack \
                     any more; undo these by hand",
                    items.join(", ")
                ),
            }
            out!("Restored.");
            vectors(ctx, &of.casino).await
        }
    }
}

/// Returns the terms of an undo or a rollback. A rollback has an `approved_by`, so that it needs no
/// second person: the contents that it restores were published before.
fn terms<'a>(by: &'a str, approved_by: Option<&'a str>) -> Terms<'a> {
    Terms {
        source: ContentSource::File,
        editor: by,
        draft: false,
        approved_by,
        keep_refused: false,
        keep_waiting: false,
    }
}

fn show(planned: &Restored) {
    named('~', planned.changed.iter().map(with_fields));
    named('-', planned.off.iter().cloned());
    named('!', planned.purged.iter().cloned());
    out!(
        "{} changed, {} switched off, {} unchanged, {} purged and left as they are.",
        planned.changed.len(),
        planned.off.len(),
        planned.unchanged,
        planned.purged.len()
    );
    if !planned.withdrawn.is_empty() {
        out!("Drafts and reviews of these are taken back:");
        named('x', planned.withdrawn.iter().cloned());
    }
}

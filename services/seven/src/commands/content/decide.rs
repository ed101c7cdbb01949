//! `seven content publish|publish-all|reject|purge`: a second person's decisions about revisions.

use anyhow::{Result, ensure};
use clap::Subcommand;
use seven_content::{Work, publish, publish_all, purge, reject};
use seven_domain::{CasinoId, RevisionState};
use seven_store::content::{Decided, ListedItem};

use super::{history::Item, load::vectors};
use crate::{
    commands::{
        args::{By, Careful, Casino},
        context::Context,
        given::words,
    },
    out,
};

#[derive(Debug, Subcommand)]
pub enum Decide {
    /// Publish a revision that waits. If it needs a second person, its editor cannot publish it.
    Publish {
        #[command(flatten)]
        which: Item,
        /// The revision; by default the one that waits.
        #[arg(long, value_name = "N")]
        revision: Option<i32>,
        #[command(flatten)]
        by: By,
    },
    /// Publish all revisions that wait as one change, or none of them, such as a season's items
    /// that were entered as drafts.
    PublishAll {
        #[command(flatten)]
        of: Casino,
        /// Only this category.
        #[arg(long, value_name = "NAME")]
        category: Option<String>,
        #[command(flatten)]
        careful: Careful,
        #[command(flatten)]
        by: By,
    },
    /// Refuse a revision that waits; its editor sees the reason.
    Reject {
        #[command(flatten)]
        which: Item,
        /// The revision; by default the one that waits.
        #[arg(long, value_name = "N")]
        revision: Option<i32>,
        /// The reason, for the audit log and the editor.
        #[arg(long, value_name = "TEXT", value_parser = words)]
        reason: String,
        #[command(flatten)]
        by: By,
    },
    /// Remove the contents of a revision from the history, for personal data entered by mistake.
    Purge {
        #[command(flatten)]
        which: Item,
        /// The revision. It cannot be the one that guests get.
        #[arg(long, value_name = "N")]
        revision: i32,
        /// The reason, for the audit log.
        #[arg(long, value_name = "TEXT", value_parser = words)]
        reason: String,
        #[command(flatten)]
        by: By,
    },
}

pub(super) async fn decide(ctx: &Context, command: Decide) -> Result<()> {
    let fleet = ctx.fleet().await?;
    match command {
        Decide::Publish {
            which,
            revision,
            by,
        } => {
            let casino = &which.of.casino;
            let mut work = Work::begin(fleet, casino).await?;
            let revision = waiting(&mut work, &which.item, revision).await?;
            let what = Decided {
                item_id: &which.item,
                revision,
                by: &by.by,
                reason: "",
            };
            let state = publish(&mut work, &what, &[]).await?;
            work.commit().await?;
            out!("Revision {revision} of {} is {state}.", which.item);
            if state == RevisionState::Published {
                vectors(ctx, casino).await?;
            }
        }
        Decide::PublishAll {
            of,
            category,
            careful,
            by,
        } => {
            together(ctx, &of.casino, category.as_deref(), careful, &by.by).await?;
        }
        Decide::Reject {
            which,
            revision,
            reason,
            by,
        } => {
            let mut work = Work::begin(fleet, &which.of.casino).await?;
            let revision = waiting(&mut work, &which.item, revision).await?;
            let what = Decided {
                item_id: &which.item,
                revision,
                by: &by.by,
                reason: &reason,
            };
            reject(&mut work, &what).await?;
            work.commit().await?;
            out!("Revision {revision} of {} is rejected.", which.item);
        }
        Decide::Purge {
            which,
            revision,
            reason,
            by,
        } => {
            let mut work = Work::begin(fleet, &which.of.casino).await?;
            let what = Decided {
                item_id: &which.item,
                revision,
                by: &by.by,
                reason: &reason,
            };
            purge(&mut work, &what).await?;
            work.commit().await?;
            out!("What revision {revision} of {} said is gone.", which.item);
        }
    }
    Ok(())
}

/// Publishes all revisions that wait as one change, or none of them.
async fn together(
    ctx: &Context,
    casino: &CasinoId,
    category: Option<&str>,
    careful: Careful,
    by: &str,
) -> Result<()> {
    let fleet = ctx.fleet().await?;
    let mut work = Work::begin(fleet, casino).await?;
    let names = publish_waiting(&mut work, category, by).await?;
    // The transaction ends before the person is asked. The answer may take long, and other people's
    // changes must not wait for it.
    work.rollback().await?;
    if names.is_empty() {
        out!("Nothing waits.");
        return Ok(());
    }
    names.iter().for_each(|name| out!("  + {name}"));
    let question = format!("publish {} item(s) of {casino}", names.len());
    if !careful.goes_on(Some(&question))? {
        return Ok(());
    }
    let mut work = Work::begin(fleet, casino).await?;
    let published = publish_waiting(&mut work, category, by).await?;
    ensure!(
        published == names,
        "somebody changed what waits meanwhile; nothing was published"
    );
    work.commit().await?;
    out!(
        "Published {} item(s) as one change; those with a time become public then.",
        names.len()
    );
    vectors(ctx, casino).await
}

/// Publishes all revisions that wait; returns them by name and revision number.
async fn publish_waiting(
    work: &mut Work<'_>,
    category: Option<&str>,
    by: &str,
) -> Result<Vec<String>> {
    let listed = work.tx().listed_items(category).await?;
    let waits = listed.iter().filter(|row| row.awaits_people());
    let waits = waits.filter_map(|row| Some((row, row.waiting?)));
    let whats: Vec<Decided<'_>> = waits
        .clone()
        .map(|(row, revision)| Decided {
            item_id: &row.item_id,
            revision,
            by,
            reason: "",
        })
        .collect();
    let outcomes = publish_all(work, &whats, &[]).await?;
    let refused = whats.iter().zip(&outcomes).filter_map(|(what, outcome)| {
        let error = outcome.as_ref().err()?;
        Some(format!("{}: {error}", what.item_id))
    });
    let refused: Vec<String> = refused.collect();
    ensure!(
        refused.is_empty(),
        "nothing was published; these stand in the way:\n{}",
        refused.join("\n")
    );
    let named = |(row, revision): (&ListedItem, i32)| {
        format!("{} ({}, revision {revision})", row.name, row.item_id)
    };
    Ok(waits.map(named).collect())
}

/// Returns the number of the revision that was asked for, or of the newest one that waits.
async fn waiting(work: &mut Work<'_>, item: &str, asked: Option<i32>) -> Result<i32> {
    if let Some(revision) = asked {
        return Ok(revision);
    }
    let listed = work.tx().listed_items(None).await?;
    let found = listed.into_iter().find(|row| row.item_id == item);
    let waiting = found.and_then(|row| row.waiting);
    waiting.ok_or_else(|| {
        anyhow::anyhow!("nothing of {item} waits; `seven content list` shows what does")
    })
}

//! `seven content publish|reject|purge`: what a second person decides about revisions.

use anyhow::{Result, ensure};
use clap::Subcommand;
use serde_json::json;
use seven_content::{Work, publish, reject};
use seven_domain::{AuditEvent, RevisionState};
use seven_store::{audit::Entry, content::Decided};

use super::{history::Item, load::vectors};
use crate::{
    commands::{args::By, context::Context, given::words},
    out,
};

#[derive(Debug, Subcommand)]
pub enum Decide {
    /// Publish a revision that waits. The editor of one that needs a second person cannot.
    Publish {
        #[command(flatten)]
        which: Item,
        /// The revision; by default the one that waits.
        #[arg(long, value_name = "N")]
        revision: Option<i32>,
        #[command(flatten)]
        by: By,
    },
    /// Refuse a revision that waits; its editor finds the reason.
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
    /// Remove what a revision said from the history, for personal data entered by mistake.
    Purge {
        #[command(flatten)]
        which: Item,
        /// The revision; not the one that guests get.
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
            let done = work.tx().purge_revision(&which.item, revision).await?;
            ensure!(
                done,
                "revision {revision} of {} is what guests get, still waits, or was purged before; \
                 publish a corrected one first",
                which.item
            );
            let detail =
                json!({ "purged": { "item": which.item, "revision": revision }, "reason": reason });
            let casino = which.of.casino.as_str();
            let entry = Entry::of(AuditEvent::ContentUpdated, &by.by, casino, detail);
            work.tx().audit(&entry).await?;
            work.commit().await?;
            out!("What revision {revision} of {} said is gone.", which.item);
        }
    }
    Ok(())
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

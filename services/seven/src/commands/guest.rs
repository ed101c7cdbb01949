//! `seven guest`: exports and deletes a guest's data, lists the guest's traces, and loads the
//! casino's self-exclusion list.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use clap::{Args, Subcommand};
use serde_json::json;
use seven_domain::{AuditEvent, CasinoId, GuestHash, GuestId, PhoneE164};
use seven_runtime::Fleet;
use seven_store::audit::Entry;
use uuid::Uuid;

use super::{
    args::{self, Careful, Casino, Json, Who},
    context::{Context, Operate},
    json_rows, known, minute,
};
use crate::out;

#[derive(Debug, Subcommand)]
pub enum Guest {
    /// Print everything held about one guest as one JSON document.
    Export(Export),
    /// Delete a guest's rows, stream messages and dead letters for good.
    ///
    /// The proof of consent and opt-out stays. Give in --reason who asked, and how the person was
    /// identified. Run `seven guest traces` first: afterwards few traces are known.
    Delete(Delete),
    /// List the ids of a guest's traces, one per line, to delete them from the trace backend.
    ///
    /// Our traces hold no text, only a hash of the phone.
    Traces(Traces),
    /// List deletions, the newest first, with the number of rows that each removed.
    Deletions(Deletions),
    /// Load the casino's self-exclusion list from stdin: one phone (E.164) per line.
    ///
    /// The list replaces the one that was loaded before.
    Exclude(Exclude),
}

#[derive(Debug, Args)]
pub struct Export {
    #[command(flatten)]
    of: Casino,
    #[command(flatten)]
    guest: args::Guest,
    /// File to write, readable by you alone. Without it: stdout.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The reason, for the audit log: who asked, and how the person was identified.
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

#[derive(Debug, Args)]
pub struct Delete {
    #[command(flatten)]
    of: Casino,
    #[command(flatten)]
    guest: args::Guest,
    #[command(flatten)]
    careful: Careful,
    #[command(flatten)]
    who: Who,
}

#[derive(Debug, Args)]
pub struct Traces {
    #[command(flatten)]
    of: Casino,
    #[command(flatten)]
    guest: args::Guest,
}

#[derive(Debug, Args)]
pub struct Deletions {
    #[command(flatten)]
    of: Casino,
    #[command(flatten)]
    json: Json,
}

#[derive(Debug, Args)]
pub struct Exclude {
    #[command(flatten)]
    of: Casino,
    /// Origin of the list, for the audit log.
    #[arg(long, value_name = "TEXT")]
    source: String,
}

impl Operate for Guest {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        let fleet = ctx.fleet().await?;
        match self {
            Self::Export(command) => export(fleet, &command).await?,
            Self::Delete(command) => delete(fleet, &command).await?,
            Self::Traces(command) => traces(fleet, &command).await?,
            Self::Deletions(command) => deletions(ctx, fleet, &command).await?,
            Self::Exclude(Exclude { of, source }) => exclude(fleet, &of.casino, &source).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

async fn export(
    fleet: &Fleet,
    Export {
        of: Casino { casino },
        guest,
        out: file,
        reason,
    }: &Export,
) -> Result<()> {
    let hash = guest.hash(fleet, casino).await?;
    let mut tx = fleet.store.bind(casino).await?;
    let mut document = tx.export_guest(&hash).await?;
    document["export_date"] = json!(fleet.clock.now());
    document["casino_id"] = json!(casino);
    document["phone"] = document["profile"]["phone"].clone();
    tx.audit(&Entry {
        event: AuditEvent::DataExported,
        actor: "seven guest export",
        subject: &hash.tag(),
        guest: Some(&hash),
        detail: json!({ "reason": reason }),
        trace: None,
    })
    .await?;
    tx.commit().await?;
    let text = serde_json::to_string_pretty(&document)?;
    match file {
        None => out!("{text}"),
        Some(path) => {
            private(path)?
                .write_all(text.as_bytes())
                .with_context(|| format!("writing {}", path.display()))?;
            out!("Wrote {}.", path.display());
        }
    }
    Ok(())
}

/// Creates a new file that nobody else may read.
pub(crate) fn private(path: &Path) -> Result<std::fs::File> {
    use std::os::unix::fs::OpenOptionsExt;
    let file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    file.with_context(|| format!("creating {} (it must not exist yet)", path.display()))
}

async fn delete(
    fleet: &Fleet,
    Delete {
        of: Casino { casino },
        guest,
        careful,
        who,
    }: &Delete,
) -> Result<()> {
    let hash = guest.hash(fleet, casino).await?;
    let Deletion { guest_id, new, .. } =
        Deletion::request(fleet, casino, &hash, who, false).await?;
    ensure!(
        new,
        "a deletion of this guest has already begun; `seven guest deletions --casino {casino}` \
         shows it"
    );
    out!(
        "Guest {guest_id} ({}) would be deleted for good.",
        hash.tag()
    );
    out!(
        "If traces go to a collector, run `seven guest traces --casino {casino}` before: it lists \
         those to delete there."
    );
    if !careful.goes_on(Some(&format!("delete guest {guest_id} for good")))? {
        return Ok(());
    }
    let Deletion { id, new, .. } = Deletion::request(fleet, casino, &hash, who, true).await?;
    ensure!(
        new,
        "a deletion of this guest has already begun; `seven guest deletions --casino {casino}` \
         shows it"
    );
    out!(
        "Deletion {id} begins now; `seven guest deletions --casino {casino}` shows when it is done."
    );
    Ok(())
}

struct Deletion {
    guest_id: GuestId,
    id: Uuid,
    /// False if an earlier deletion of this guest has already begun.
    new: bool,
}

impl Deletion {
    /// Requests the deletion and returns it. Without `done` the request is rolled back, so that
    /// nothing is written.
    async fn request(
        fleet: &Fleet,
        casino: &CasinoId,
        hash: &GuestHash,
        who: &Who,
        done: bool,
    ) -> Result<Self> {
        let id = fleet.ids.uuid();
        let mut tx = fleet.store.bind(casino).await?;
        let guest_id = tx.guest_by_hash(hash).await?;
        let guest_id =
            guest_id.with_context(|| format!("{casino} has no such guest (any more)"))?;
        let by = format!("{}: {}", who.by, who.reason);
        let new = tx
            .request_deletion(id, hash, guest_id, &by, fleet.clock.now(), Duration::ZERO)
            .await?;
        if done {
            tx.commit().await
        } else {
            tx.rollback().await
        }?;
        Ok(Self { guest_id, id, new })
    }
}

async fn traces(
    fleet: &Fleet,
    Traces {
        of: Casino { casino },
        guest,
    }: &Traces,
) -> Result<()> {
    let hash = guest.hash(fleet, casino).await?;
    let mut tx = fleet.store.bind(casino).await?;
    let traces = tx.guest_traces(&hash).await?;
    tx.commit().await?;
    traces.iter().for_each(|trace| out!("{trace}"));
    Ok(())
}

async fn deletions(
    ctx: &Context,
    fleet: &Fleet,
    Deletions {
        of: Casino { casino },
        json,
    }: &Deletions,
) -> Result<()> {
    known(&fleet.store, casino).await?;
    let mut tx = fleet.store.bind(casino).await?;
    let rows = tx.deletions(200).await?;
    tx.commit().await?;
    if json.json {
        return json_rows(&rows);
    }
    let columns = [
        "deletion", "state", "asked", "done", "removed", "due", "asked by",
    ];
    let mut table = ctx
        .table(columns)
        .ids(["deletion"])
        .wide(["due", "asked by"]);
    for row in rows {
        table.add_row([
            row.deletion_id.to_string(),
            row.state.to_string(),
            minute(row.requested_at),
            row.completed_at.map(minute).unwrap_or_default(),
            removed(&row.counts),
            minute(row.due_at),
            row.requested_by,
        ]);
    }
    out!("{table}");
    Ok(())
}

/// Formats the totals of the deleted rows and messages; `--json` has all counts.
fn removed(counts: &serde_json::Value) -> String {
    let sum = |of: &serde_json::Value| {
        of.as_object().map_or(0, |all| {
            all.values().filter_map(serde_json::Value::as_u64).sum()
        })
    };
    let (rows, elsewhere): (u64, u64) = (sum(counts), sum(&counts["elsewhere"]));
    if rows + elsewhere == 0 {
        String::new()
    } else {
        format!("{rows} rows, {elsewhere} stream messages")
    }
}

async fn exclude(fleet: &Fleet, casino: &CasinoId, source: &str) -> Result<()> {
    known(&fleet.store, casino).await?;
    let mut guests = Vec::new();
    for (row, line) in std::io::stdin().lines().enumerate() {
        let line = line.context("reading stdin")?;
        if line.trim().is_empty() {
            continue;
        }
        let phone: PhoneE164 = line
            .trim()
            .parse()
            .with_context(|| format!("line {} of stdin; nothing was loaded", row + 1))?;
        guests.push(fleet.keys.hash(casino, &phone));
    }
    let mut tx = fleet.store.bind(casino).await?;
    tx.replace_exclusions(&guests, source).await?;
    let detail = json!({ "entries": guests.len(), "source": source });
    tx.audit(&Entry::of(
        AuditEvent::SelfExclusionListLoaded,
        "seven guest exclude",
        casino.as_str(),
        detail,
    ))
    .await?;
    tx.commit().await?;
    out!(
        "{} entries stand on {casino}'s self-exclusion list.",
        guests.len()
    );
    Ok(())
}

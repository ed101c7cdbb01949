//! `seven guest export|delete|traces|deletions|exclude`: a guest's rights, by an operator's hand (SEC-76 to SEC-79).

use std::{
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use clap::Subcommand;
use serde_json::json;
use seven_domain::{AuditEvent, CasinoId, GuestHash, GuestId, PhoneE164};
use seven_runtime::Fleet;
use seven_store::audit::Entry;
use uuid::Uuid;

use super::{
    fleet,
    given::{Careful, Who},
    guest_ref::GuestRef,
    known,
};
use crate::out;

#[derive(Debug, Subcommand)]
pub enum Guest {
    /// Everything held about one guest, as one JSON document; written to the audit log.
    Export {
        #[arg(long, value_name = "ID")]
        casino: CasinoId,
        /// Phone, guest id, hmac:<key>:<hex>, or - for a phone on stdin.
        #[arg(long)]
        guest: GuestRef,
        /// Write here (readable by you alone) instead of stdout.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Why: who asked, and how the person was identified; kept in the audit log.
        #[arg(long)]
        reason: String,
    },
    /// Forget a guest: rows, streams, dead letters. The proof of consent and opt-out stays. In
    /// --reason say who asked and how the person was identified.
    Delete {
        #[arg(long, value_name = "ID")]
        casino: CasinoId,
        #[arg(long)]
        guest: GuestRef,
        #[command(flatten)]
        careful: Careful,
        #[command(flatten)]
        who: Who,
    },
    /// Ids of the guest's traces, one a line, for the trace backend's own deletion: our traces hold no text, and a hash of the phone (OBS-38).
    Traces {
        #[arg(long, value_name = "ID")]
        casino: CasinoId,
        /// Phone, guest id, hmac:<key>:<hex>, or - for a phone on stdin. Ask before `delete`: afterwards few are known.
        #[arg(long)]
        guest: GuestRef,
    },
    /// Deletions, the newest first, with what each removed.
    Deletions {
        #[arg(long, value_name = "ID")]
        casino: CasinoId,
        #[arg(long)]
        json: bool,
    },
    /// Load the casino's self-exclusion list: one phone (E.164) per line on stdin. Replaces the list that was there.
    Exclude {
        #[arg(long, value_name = "ID")]
        casino: CasinoId,
        /// Where the list comes from; kept in the audit log.
        #[arg(long)]
        source: String,
    },
}

pub async fn run(config: Option<&Path>, command: Guest) -> Result<()> {
    let fleet = fleet(config).await?;
    match command {
        Guest::Export { casino, guest, out, reason } => export(&fleet, &casino, &guest, out.as_deref(), &reason).await,
        Guest::Delete { casino, guest, careful, who } => delete(&fleet, &casino, &guest, careful, &who).await,
        Guest::Traces { casino, guest } => traces(&fleet, &casino, &guest).await,
        Guest::Deletions { casino, json } => deletions(&fleet, &casino, json).await,
        Guest::Exclude { casino, source } => exclude(&fleet, &casino, &source).await,
    }
}

async fn export(fleet: &Fleet, casino: &CasinoId, guest: &GuestRef, file: Option<&Path>, reason: &str) -> Result<()> {
    known(&fleet.store, casino).await?;
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
            private(path)?.write_all(text.as_bytes()).with_context(|| format!("writing {}", path.display()))?;
            out!("Wrote {}.", path.display());
        }
    }
    Ok(())
}

/// A new file that nobody else may read.
pub(crate) fn private(path: &Path) -> Result<std::fs::File> {
    use std::os::unix::fs::OpenOptionsExt;
    let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    file.with_context(|| format!("creating {} (it must not exist yet)", path.display()))
}

async fn delete(fleet: &Fleet, casino: &CasinoId, guest: &GuestRef, careful: Careful, who: &Who) -> Result<()> {
    known(&fleet.store, casino).await?;
    let hash = guest.hash(fleet, casino).await?;
    let Deletion { guest_id, new, .. } = Deletion::request(fleet, casino, &hash, who, false).await?;
    ensure!(new, "a deletion of this guest is under way already; `seven guest deletions --casino {casino}` shows it");
    out!("Guest {guest_id} ({}) is to be forgotten for good.", hash.tag());
    out!(
        "Where traces go to a collector, `seven guest traces --casino {casino}` lists those to delete there; ask first."
    );
    if !careful.goes_on(Some(&format!("forget guest {guest_id} for good")))? {
        return Ok(());
    }
    let Deletion { id, new, .. } = Deletion::request(fleet, casino, &hash, who, true).await?;
    ensure!(new, "a deletion of this guest is under way already; `seven guest deletions --casino {casino}` shows it");
    out!("Deletion {id} begins now; `seven guest deletions --casino {casino}` shows when it is done.");
    Ok(())
}

struct Deletion {
    guest_id: GuestId,
    id: Uuid,
    /// False: one is under way.
    new: bool,
}

impl Deletion {
    /// Requests it, and takes that back unless it is to be `done`.
    async fn request(fleet: &Fleet, casino: &CasinoId, hash: &GuestHash, who: &Who, done: bool) -> Result<Self> {
        let id = fleet.ids.uuid();
        let mut tx = fleet.store.bind(casino).await?;
        let guest_id = tx.guest_by_hash(hash).await?;
        let guest_id = guest_id.with_context(|| format!("{casino} has no such guest (any more)"))?;
        let by = format!("{}: {}", who.by, who.reason);
        let new = tx.request_deletion(id, hash, guest_id, &by, fleet.clock.now(), Duration::ZERO).await?;
        if done { tx.commit().await } else { tx.rollback().await }?;
        Ok(Self { guest_id, id, new })
    }
}

async fn traces(fleet: &Fleet, casino: &CasinoId, guest: &GuestRef) -> Result<()> {
    known(&fleet.store, casino).await?;
    let hash = guest.hash(fleet, casino).await?;
    let mut tx = fleet.store.bind(casino).await?;
    let traces = tx.guest_traces(&hash).await?;
    tx.commit().await?;
    traces.iter().for_each(|trace| out!("{trace}"));
    Ok(())
}

async fn deletions(fleet: &Fleet, casino: &CasinoId, json: bool) -> Result<()> {
    known(&fleet.store, casino).await?;
    let mut tx = fleet.store.bind(casino).await?;
    let rows = tx.deletions(200).await?;
    tx.commit().await?;
    if json {
        rows.iter().try_for_each(|row| serde_json::to_string(row).map(|line| out!("{line}")))?;
        return Ok(());
    }
    let mut table = super::table(["deletion", "state", "asked by", "asked", "due", "done", "removed"]);
    for row in rows {
        table.add_row([
            row.deletion_id.to_string(),
            row.state,
            row.requested_by,
            row.requested_at.to_rfc3339(),
            row.due_at.to_rfc3339(),
            row.completed_at.map(|at| at.to_rfc3339()).unwrap_or_default(),
            removed(&row.counts),
        ]);
    }
    out!("{table}");
    Ok(())
}

/// Sums up the counts that `--json` gives in full.
fn removed(counts: &serde_json::Value) -> String {
    let sum = |of: &serde_json::Value| {
        of.as_object().map_or(0, |all| all.values().filter_map(serde_json::Value::as_u64).sum())
    };
    let (rows, elsewhere): (u64, u64) = (sum(counts), sum(&counts["elsewhere"]));
    if rows + elsewhere == 0 { String::new() } else { format!("{rows} rows, {elsewhere} stream messages") }
}

async fn exclude(fleet: &Fleet, casino: &CasinoId, source: &str) -> Result<()> {
    known(&fleet.store, casino).await?;
    let mut guests = Vec::new();
    for (row, line) in std::io::stdin().lines().enumerate() {
        let line = line.context("reading stdin")?;
        if line.trim().is_empty() {
            continue;
        }
        let phone: PhoneE164 =
            line.trim().parse().with_context(|| format!("line {} of stdin; nothing was loaded", row + 1))?;
        guests.push(fleet.keys.hash(casino, &phone));
    }
    let mut tx = fleet.store.bind(casino).await?;
    tx.replace_exclusions(&guests, source).await?;
    let detail = json!({ "entries": guests.len(), "source": source });
    tx.audit(&Entry::of(AuditEvent::SelfExclusionListLoaded, "seven guest exclude", casino.as_str(), detail)).await?;
    tx.commit().await?;
    out!("{} entries stand on {casino}'s self-exclusion list.", guests.len());
    Ok(())
}

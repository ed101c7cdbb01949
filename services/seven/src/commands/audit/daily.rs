//! `seven audit daily`: the sealed days of every casino as files, for a job that runs each day
//! (SEC-139).

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use chrono::NaiveDate;
use clap::Args;
use serde_json::json;
use seven_domain::{AuditEvent, CasinoId};
use seven_runtime::Fleet;
use seven_staff::audit::{Export, Format, Sealed, check_seal};
use seven_store::audit::Entry;
use tokio::io::AsyncWriteExt;

use crate::{commands::args::By, out};

/// Most sealed days that are looked at: seven years.
const MOST_DAYS: i64 = 2_600;

#[derive(Debug, Args)]
pub struct Daily {
    /// The folder for the files, each <casino>/audit-<day>.jsonl and .csv.
    #[arg(long, value_name = "DIR")]
    into: PathBuf,
    /// Number of days to look back.
    #[arg(long, value_name = "N", default_value_t = 31)]
    #[arg(value_parser = clap::value_parser!(i64).range(1..=MOST_DAYS))]
    days: i64,
    #[command(flatten)]
    by: By,
}

pub(super) async fn daily(fleet: &Fleet, command: &Daily) -> Result<()> {
    let (mut files, mut broken) = (0, Vec::new());
    for casino in fleet.store.tenants().await? {
        let done = of_casino(fleet, command, &casino).await;
        let (written, bad) = done.with_context(|| format!("exporting the days of {casino}"))?;
        files += written;
        broken.extend(bad.iter().map(|day| format!("{casino} {day}")));
    }
    out!("{files} file(s) written below {}.", command.into.display());
    ensure!(
        broken.is_empty(),
        "these days are not as they were sealed, and were not exported: {}; seven audit seals",
        broken.join(", ")
    );
    Ok(())
}

/// Writes the missing files of a casino; returns how many, and the days whose seal is broken.
async fn of_casino(
    fleet: &Fleet,
    command: &Daily,
    casino: &CasinoId,
) -> Result<(usize, Vec<NaiveDate>)> {
    let folder = command.into.join(casino.as_str());
    let mut tx = fleet.store.bind(casino).await?;
    let seals = tx.seals(command.days).await?;
    tx.commit().await?;
    let (mut written, mut days, mut broken) = (0, Vec::new(), Vec::new());
    for seal in seals.iter().filter(|seal| seal.entries > 0) {
        let file = |format: Format| folder.join(format!("audit-{}.{format}", seal.day));
        let missing: Vec<Format> = Format::ALL
            .iter()
            .copied()
            .filter(|format| !file(*format).exists())
            .collect();
        if missing.is_empty() {
            continue;
        }
        let mut tx = fleet.store.bind(casino).await?;
        let sealed = check_seal(&mut tx, seal.day).await?;
        tx.commit().await?;
        if !matches!(sealed, Sealed::Whole(_)) {
            broken.push(seal.day);
            continue;
        }
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("creating {}", folder.display()))?;
        for format in missing {
            let export = Export::of_day(casino, seal.day, seal.sealed_at, format);
            write(fleet, export, &file(format)).await?;
            written += 1;
        }
        days.push(seal.day);
    }
    if !days.is_empty() {
        let detail = json!({ "days": days, "full": false, "files": written });
        let by = &command.by.by;
        let entry = Entry::of(AuditEvent::AuditExported, by, casino.as_str(), detail);
        let mut tx = fleet.store.bind(casino).await?;
        tx.audit(&entry).await?;
        tx.commit().await?;
    }
    Ok((written, broken))
}

/// Writes a whole file, or none: a job that died leaves only its temporary file.
async fn write(fleet: &Fleet, mut export: Export, path: &Path) -> Result<()> {
    let unfinished = path.with_extension("unfinished");
    let writing = || format!("writing {}", path.display());
    let mut file = tokio::fs::File::create(&unfinished)
        .await
        .with_context(writing)?;
    loop {
        let mut tx = fleet.store.bind(export.casino()).await?;
        let lines = export.next(&mut tx).await?;
        tx.commit().await?;
        let Some(lines) = lines else { break };
        file.write_all(lines.as_bytes())
            .await
            .with_context(writing)?;
    }
    file.sync_all().await.with_context(writing)?;
    tokio::fs::rename(&unfinished, path)
        .await
        .with_context(writing)
}

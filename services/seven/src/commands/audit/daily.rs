//! `seven audit daily`: writes the audit log of every casino's sealed days as files, for a job that
//! runs each day.

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

/// Maximum number of sealed days that are read: about seven years.
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
    let (mut files, mut problems) = (0, Vec::new());
    // A casino that fails must not keep other casinos from getting their files.
    for casino in fleet.store.tenants().await? {
        if let Err(error) = of_casino(fleet, command, &casino, &mut files).await {
            problems.push(format!("{casino}: {error:#}"));
        }
    }
    out!("{files} file(s) written below {}.", command.into.display());
    ensure!(problems.is_empty(), "{}", problems.join("\n"));
    Ok(())
}

/// Writes the missing files of a casino, and compares each day with its seal.
async fn of_casino(
    fleet: &Fleet,
    command: &Daily,
    casino: &CasinoId,
    files: &mut usize,
) -> Result<()> {
    let folder = command.into.join(casino.as_str());
    let mut tx = fleet.store.bind(casino).await?;
    let seals = tx.seals(command.days).await?;
    tx.commit().await?;
    let mut broken = Vec::new();
    for seal in seals.iter().filter(|seal| seal.entries > 0) {
        let mut tx = fleet.store.bind(casino).await?;
        let sealed = check_seal(&mut tx, seal.day).await?;
        tx.commit().await?;
        if !matches!(sealed, Sealed::Whole(_)) {
            broken.push(seal.day.to_string());
            continue;
        }
        let file = |format: Format| folder.join(format!("audit-{}.{format}", seal.day));
        let missing = Format::ALL.iter().filter(|format| !file(**format).exists());
        let missing: Vec<Format> = missing.copied().collect();
        if missing.is_empty() {
            continue;
        }
        // The audit entry is written before the files, so that no file exists without an entry.
        note(fleet, casino, seal.day, &missing, &command.by.by).await?;
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("creating {}", folder.display()))?;
        for format in missing {
            let export = Export::of_day(casino, seal.day, seal.sealed_at, format);
            write(fleet, export, &file(format)).await?;
            *files += 1;
        }
    }
    ensure!(
        broken.is_empty(),
        "not as sealed, and not exported: {}; seven audit seals --casino {casino}",
        broken.join(", ")
    );
    Ok(())
}

async fn note(
    fleet: &Fleet,
    casino: &CasinoId,
    day: NaiveDate,
    formats: &[Format],
    by: &str,
) -> Result<()> {
    let detail = json!({ "day": day, "formats": formats, "full": false });
    let entry = Entry::of(AuditEvent::AuditExported, by, casino.as_str(), detail);
    let mut tx = fleet.store.bind(casino).await?;
    tx.audit(&entry).await?;
    Ok(tx.commit().await?)
}

/// Writes a whole file or none: a job that dies leaves only its temporary file.
async fn write(fleet: &Fleet, mut export: Export, path: &Path) -> Result<()> {
    let unfinished = format!("{}.{}.unfinished", path.display(), std::process::id());
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

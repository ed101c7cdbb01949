//! `seven backup`: a dump of the database with a manifest of its contents.

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::{ArgGroup, Args};
use serde_json::json;
use seven_domain::{CasinoId, Clock};

use super::{
    args::Json,
    context::{Context, Operate},
    progress::during,
};
use crate::{
    life::{backup, shelf},
    out,
};

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("where").required(true).args(["out", "into"])))]
pub struct Backup {
    /// The folder to make, such as backups/2026-11-23. It will hold every guest's phone: keep it
    /// encrypted, away from the database.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The folder of all backups, for a schedule. The new backup gets a folder in it, named by the
    /// time. Old backups are removed: all are kept for 30 days, the first of each week for 90 days,
    /// the first of each month for a year.
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
    #[command(flatten)]
    json: Json,
}

impl Operate for Backup {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        backup(ctx, &self).await?;
        Ok(ExitCode::SUCCESS)
    }
}

async fn backup(ctx: &Context, command: &Backup) -> Result<()> {
    let store = ctx.store()?;
    let settings = ctx.settings()?;
    let now = Clock::default().now();
    let out = match (&command.out, &command.into) {
        (_, Some(shelf)) => shelf::place(shelf, now),
        (Some(out), None) => out.clone(),
        (None, None) => anyhow::bail!("either --out or --into is needed"),
    };
    let mut gone = command
        .into
        .as_deref()
        .map(|shelf| shelf::clear_broken(shelf, now))
        .transpose()?
        .unwrap_or_default();
    let manifest = match during("Dumping the database", backup::backup(&settings, &out)).await {
        Err(error) if command.into.is_some() => {
            // Deletes the partial dump: it would use the disk space that the next one needs.
            drop(std::fs::remove_dir_all(&out));
            return Err(error);
        }
        made => made?,
    };
    let detail = json!({
        "sha256": manifest.dump.sha256,
        "bytes": manifest.dump.bytes,
        "made_at": manifest.made_at,
    });
    store.note_backup("seven backup", detail).await?;
    // Old backups are removed only after a new one was made.
    if let Some(shelf) = &command.into {
        gone.extend(shelf::clear(shelf, now)?);
    }
    if command.json.json {
        out!("{}", serde_json::to_string(&manifest)?);
        return Ok(());
    }
    let contents = &manifest.contents;
    let rows: i64 = contents.tables.values().sum();
    out!(
        "Wrote {}: {} KiB, {rows} rows of {} tables, schema {}.",
        out.display(),
        manifest.dump.bytes.div_ceil(1024),
        contents.tables.len(),
        contents.schema
    );
    for (id, share) in contents
        .casinos
        .iter()
        .filter(|(id, _)| **id != CasinoId::unknown().as_str())
    {
        let (stops, heads, due) = (
            share.suppressions.rows,
            share.consent_heads.rows,
            share.due.rows,
        );
        out!("  {id:<24} {stops} safety state(s), {heads} consent chain(s), {due} due row(s)");
    }
    out!(
        "Not in it: database logins, settings and the secret guest_hash.secret, without which no \
         opt-out in it can be found again."
    );
    for old in gone {
        out!("Removed {}: its retention is over.", old.display());
    }
    out!(
        "To prove it: seven restore --from {} --verify --by NAME, with settings of an empty \
         database.",
        out.display()
    );
    Ok(())
}

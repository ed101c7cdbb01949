//! `seven backup` (DEP-31, PROD-41).

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use serde_json::json;
use seven_domain::CasinoId;

use super::casino::verify::store;
use crate::{life::backup, out, settings::Settings};

#[derive(Debug, Args)]
pub struct Backup {
    /// A new folder, such as backups/2026-11-23. It will hold every guest's phone: keep it encrypted, away from the database.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// One JSON document instead of lines.
    #[arg(long)]
    json: bool,
}

pub async fn run(config: Option<&Path>, command: &Backup) -> Result<()> {
    seven_telemetry::init(seven_telemetry::LogTarget::Stderr, crate::commands::LOG)?;
    let settings = Settings::load(config)?;
    let manifest = backup::backup(&settings, &command.out).await?;
    let detail = json!({ "sha256": manifest.dump.sha256, "bytes": manifest.dump.bytes, "made_at": manifest.made_at });
    store(&settings, &settings.postgres.url)?.note_backup("seven backup", detail).await?;
    if command.json {
        out!("{}", serde_json::to_string(&manifest)?);
        return Ok(());
    }
    let contents = &manifest.contents;
    let rows: i64 = contents.tables.values().sum();
    out!(
        "Wrote {}: {} KiB, {rows} rows of {} tables, schema {}.",
        command.out.display(),
        manifest.dump.bytes.div_ceil(1024),
        contents.tables.len(),
        contents.schema
    );
    for (id, share) in contents.casinos.iter().filter(|(id, _)| **id != CasinoId::unknown().as_str()) {
        let (stops, heads, due) = (share.suppressions.rows, share.consent_heads.rows, share.due.rows);
        out!("  {id:<24} {stops} safety state(s), {heads} consent chain(s), {due} due row(s)");
    }
    out!(
        "Not in it: database logins, settings and the secret guest_hash.secret, without which no opt-out in it can be found again."
    );
    out!("Prove it: seven restore --from {} --verify, with settings of an empty database.", command.out.display());
    Ok(())
}

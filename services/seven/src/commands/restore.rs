//! `seven restore` (DEP-31..33, D5).

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Result;
use clap::Args;
use serde_json::json;
use seven_settings::Settings;

use super::given;
use crate::{life::restore, out};

#[derive(Debug, Args)]
pub struct Restore {
    /// The folder `seven backup` wrote.
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    /// Walk every consent chain too. The restored data is compared with the manifest in any case.
    #[arg(long)]
    verify: bool,
    /// Your name, for the record.
    #[arg(long, value_parser = given::words)]
    by: String,
    /// One JSON document instead of lines.
    #[arg(long)]
    json: bool,
}

pub async fn run(config: Option<&Path>, command: &Restore) -> Result<ExitCode> {
    seven_telemetry::init(seven_telemetry::LogTarget::Stderr, crate::commands::LOG)?;
    let settings = Settings::load(config)?;
    let restored = restore::restore(&settings, &command.from, command.verify, &command.by).await?;
    let broken = restored.chains.as_ref().map_or(&[][..], |(_, broken)| broken.as_slice());
    let code = if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    let manifest = &restored.manifest;
    if command.json {
        let chains = restored.chains.as_ref().map(|(walked, broken)| json!({ "walked": walked, "broken": broken }));
        out!(
            "{}",
            json!({ "made_at": manifest.made_at, "casinos": manifest.contents.casinos, "chains": chains, "halted": restored.halted, "logins": manifest.logins })
        );
        return Ok(code);
    }
    let rows: i64 = manifest.contents.tables.values().sum();
    out!("Restored the backup of {}: {rows} rows.", manifest.made_at.format("%F %T UTC"));
    out!(
        "ok      safety states, consent chains' heads and due rows of {} casino(s) equal the manifest",
        manifest.contents.casinos.len()
    );
    match &restored.chains {
        None => out!("-       consent chains were not walked; --verify does, and so does seven consent verify"),
        Some((walked, broken)) if broken.is_empty() => out!("ok      {walked} consent chain(s) walked, all whole"),
        Some((walked, broken)) => out!("BROKEN  {} of {walked} consent chain(s): {}", broken.len(), broken.join(", ")),
    }
    out!(
        "paused  for every casino: kill, pause_proactive. {} queued text(s) and {} answer(s) ended (they may have left since the backup), {} text(s) of guests closed (they may have been answered), {} campaign(s) paused.",
        restored.halted.texts,
        restored.halted.turns,
        restored.halted.waiting,
        restored.halted.campaigns
    );
    out!("Next:");
    out!("  1. Give seven_app its password again: alter role seven_app password '...'; a dump holds no logins.");
    for casino in &manifest.logins {
        out!("     seven casino login {casino}");
    }
    out!("  2. Start the workers. They take texts in and answer nobody.");
    out!("  3. seven recover --by NAME: asks the providers who wrote and who opted out since.");
    Ok(code)
}

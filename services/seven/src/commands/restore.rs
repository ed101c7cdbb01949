//! `seven restore`: restores a backup into an empty database (D5).

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::Args;
use serde_json::json;

use super::{
    args::{By, Json},
    context::{self, Context, Operate},
    progress::during,
    utc,
};
use crate::{life::restore, out};

#[derive(Debug, Args)]
pub struct Restore {
    /// The folder that `seven backup` wrote.
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    /// Verify every consent chain too. The restored data is always compared with the manifest.
    #[arg(long)]
    verify: bool,
    #[command(flatten)]
    by: By,
    #[command(flatten)]
    json: Json,
}

impl Operate for Restore {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        restore(ctx, &self).await
    }
}

async fn restore(ctx: &Context, command: &Restore) -> Result<ExitCode> {
    context::log()?;
    let settings = ctx.settings()?;
    let restored = restore::restore(&settings, &command.from, command.verify, &command.by.by);
    let restored = during("Restoring the database", restored).await?;
    let broken = restored
        .chains
        .as_ref()
        .map_or(&[][..], |(_, broken)| broken.as_slice());
    let code = if broken.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    };
    let manifest = &restored.manifest;
    if command.json.json {
        let chains = restored
            .chains
            .as_ref()
            .map(|(walked, broken)| json!({ "walked": walked, "broken": broken }));
        out!(
            "{}",
            json!({
                "made_at": manifest.made_at,
                "casinos": manifest.contents.casinos,
                "chains": chains,
                "halted": restored.halted,
                "logins": manifest.logins,
            })
        );
        return Ok(code);
    }
    let rows: i64 = manifest.contents.tables.values().sum();
    out!(
        "Restored the backup of {}: {rows} rows.",
        utc(manifest.made_at)
    );
    out!(
        "ok      safety states, consent chains' heads and due rows of {} casino(s) equal the \
         manifest",
        manifest.contents.casinos.len()
    );
    match &restored.chains {
        None => out!(
            "-       consent chains were not verified; --verify and `seven consent verify` do it"
        ),
        Some((walked, broken)) if broken.is_empty() => {
            out!("ok      {walked} consent chain(s) verified, none broken");
        }
        Some((walked, broken)) => out!(
            "BROKEN  {} of {walked} consent chain(s): {}",
            broken.len(),
            broken.join(", ")
        ),
    }
    out!(
        "paused  for every casino: kill, pause_proactive\n        \
         {} queued text(s) and {} answer(s) were ended: they may have been sent since the backup\n        \
         {} text(s) of guests were closed: they may have been answered\n        \
         {} campaign(s) were paused",
        restored.halted.texts,
        restored.halted.turns,
        restored.halted.waiting,
        restored.halted.campaigns
    );
    out!("Next:");
    out!(
        "  1. Give seven_app and seven_console their passwords again: alter role seven_app password \
         '...'; a dump holds no logins."
    );
    for casino in &manifest.logins {
        out!("     seven casino login {casino}");
    }
    out!("  2. Start the workers. They accept texts and answer nobody.");
    out!("  3. seven recover --by NAME: asks the providers who wrote and who opted out since.");
    Ok(code)
}

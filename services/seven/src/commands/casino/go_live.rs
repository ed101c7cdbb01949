//! `seven casino go-live`: everything that must be true before the first real guest is texted (DEP-30, DEP-43, SMS-59), gathered here and
//! judged in `checklist`.

pub mod checklist;
pub mod gather;
pub mod pages;

use std::{path::Path, process::ExitCode};

use anyhow::Result;
use clap::Args;
use serde_json::json;
use seven_domain::CasinoId;
use seven_settings::Settings;

use crate::{commands::fleet, out};

#[derive(Debug, Args)]
pub struct GoLive {
    casino: CasinoId,
    /// One JSON document instead of lines.
    #[arg(long)]
    json: bool,
}

pub async fn run(config: Option<&Path>, command: &GoLive) -> Result<ExitCode> {
    let settings = Settings::load(config)?;
    let fleet = fleet(config).await?;
    crate::commands::known(&fleet.store, &command.casino).await?;
    let lines = checklist::judge(&gather::facts(&fleet, &settings, &command.casino).await?);
    let missing = lines.iter().filter(|line| !line.ok).count();
    if command.json {
        out!("{}", json!({ "casino": command.casino, "ready": missing == 0, "checks": lines }));
    } else {
        for line in &lines {
            let mark = if line.ok { "ok     " } else { "missing" };
            out!("{mark} {:<14} {}", line.what, line.found);
            if let Some(todo) = &line.todo {
                out!("        {:<14} -> {todo}", "");
            }
        }
        match missing {
            0 => out!("{} is ready for its first guests: {} checks.", command.casino, lines.len()),
            n => out!("{} is not ready: {n} of {} checks missing.", command.casino, lines.len()),
        }
        out!("What no command can see: the casino's signature under its content, a person on call.");
    }
    Ok(if missing == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

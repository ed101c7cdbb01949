//! `seven casino`: one subcommand per function here or file beside.

pub mod go_live;
pub mod login;
pub mod verify;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Result, ensure};
use clap::Subcommand;
use seven_domain::{AuditEvent, CasinoConfig, CasinoId, PhoneE164};
use seven_store::{audit::Entry, casinos::Added, numbers::Number};

use super::{
    fleet,
    given::{By, Careful, Who},
};
use crate::{onboard, out};

#[derive(Debug, Subcommand)]
pub enum Casino {
    /// Add a casino, or replace its configuration document (JSON or TOML; `-` takes JSON from standard input). A document that changes a
    /// casino shows what differs and asks.
    Add {
        file: PathBuf,
        #[command(flatten)]
        careful: Careful,
        #[command(flatten)]
        by: By,
    },
    /// All casinos, their numbers and versions.
    List {
        /// One JSON document instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Stop serving a casino; its data and its place on the bus stay.
    Suspend {
        casino: CasinoId,
        #[command(flatten)]
        who: Who,
    },
    /// Serve a suspended casino again.
    Resume {
        casino: CasinoId,
        #[command(flatten)]
        who: Who,
    },
    /// Take a casino off the fleet: its numbers and consumers go, its data stays for retention.
    Remove {
        casino: CasinoId,
        /// Spell the casino's id again.
        #[arg(long, value_name = "ID")]
        confirm: CasinoId,
        #[command(flatten)]
        who: Who,
    },
    /// Tell every guest again that an AI writes, with the next text: something they were told about has changed (SEC-53).
    Redisclose {
        casino: CasinoId,
        /// The change that makes the disclosure due again.
        #[arg(long, value_parser = seven_compliance::disclosure::TRIGGERS)]
        trigger: String,
    },
    /// The isolation check of an onboarding: tries to read and write other casinos' rows with the workers' login, and must fail everywhere.
    Verify(verify::Verify),
    /// Make (or give a new password to) a database login that can bind this casino alone, for workers run with `--casino`.
    Login(login::Login),
    /// Everything that must be true before the first guest is texted: one line per check, exit 1 with what is missing.
    GoLive(go_live::GoLive),
    /// The JSON Schema of the configuration document.
    Schema,
}

pub async fn run(config: Option<&Path>, command: Casino) -> Result<ExitCode> {
    match command {
        Casino::Verify(command) => return verify::run(config, &command).await,
        Casino::GoLive(command) => return Box::pin(go_live::run(config, &command)).await,
        Casino::Login(command) => login::run(config, &command).await,
        Casino::Add { file, careful, by } => add(config, &file, careful, &by.by).await,
        Casino::List { json } => list(config, json).await,
        Casino::Suspend { casino, who } => set(config, &casino, "suspended", &who).await,
        Casino::Resume { casino, who } => set(config, &casino, "active", &who).await,
        Casino::Remove { casino, confirm, who } => {
            ensure!(casino == confirm, "--confirm names {confirm}, not {casino}; nothing was removed");
            set(config, &casino, "removed", &who).await
        }
        Casino::Redisclose { casino, trigger } => redisclose(config, &casino, &trigger).await,
        Casino::Schema => {
            out!("{}", serde_json::to_string_pretty(&CasinoConfig::json_schema())?);
            Ok(())
        }
    }?;
    Ok(ExitCode::SUCCESS)
}

async fn add(config: Option<&Path>, file: &Path, careful: Careful, by: &str) -> Result<()> {
    let text = super::read(file)?;
    let document = onboard::read_casino(&file.display().to_string(), &text)?;
    let casino = &document.casino_id;
    let fleet = fleet(config).await?;
    let planned = onboard::try_casino(&fleet, &document).await?;
    planned.changes.iter().for_each(|change| out!("  {change}"));
    let question = match (planned.added, planned.changes.len()) {
        (Added::New, _) => {
            out!(
                "{casino} is new: {}.",
                document.operational.numbers().map(PhoneE164::as_str).collect::<Vec<_>>().join(", ")
            );
            None
        }
        (Added::Updated, 0) => {
            out!("The document of {casino} is as it was.");
            None
        }
        (Added::Updated, fields) => Some(format!("change {fields} field(s) of {casino}")),
    };
    if !careful.goes_on(question.as_deref())? {
        return Ok(());
    }
    match onboard::add_casino(&fleet, &document, by).await?.added {
        Added::New => out!("Added {casino}. Next: seven content load --casino {casino} --by {by} FILE"),
        Added::Updated => out!("Replaced the document of {casino}."),
    }
    super::dead::of_known_numbers(&fleet, by).await?.tell();
    Ok(())
}

async fn list(config: Option<&Path>, json: bool) -> Result<()> {
    let fleet = fleet(config).await?;
    let (roster, numbers) = (fleet.store.roster().await?, fleet.store.numbers().await?);
    let of = |casino: &CasinoId, retired: bool| {
        let mine = numbers.iter().filter(move |n| n.casino_id == casino.as_str() && n.retired_at.is_some() == retired);
        mine.collect::<Vec<_>>()
    };
    if json {
        let rows = roster.iter().map(|entry| {
            let mut row = serde_json::to_value(entry)?;
            row["numbers"] = of(&entry.casino, false).iter().map(|n| n.number.clone()).collect();
            row["former_numbers"] = serde_json::to_value(of(&entry.casino, true))?;
            Ok(row)
        });
        out!("{}", serde_json::Value::Array(rows.collect::<Result<_>>()?));
        return Ok(());
    }
    let mut table = super::table(["casino", "state", "numbers", "former numbers", "config", "content", "switches"]);
    for entry in roster {
        let state = if entry.active { "active" } else { "suspended" };
        let present = of(&entry.casino, false).iter().map(|n| n.number.clone()).collect::<Vec<_>>();
        let former = of(&entry.casino, true).iter().map(|n| former(n)).collect::<Vec<_>>();
        let row = [
            entry.casino.to_string(),
            state.to_owned(),
            present.join("\n"),
            former.join("\n"),
            format!("v{}", entry.config_version),
            format!("v{}", entry.content_version),
            entry.paused.join(" "),
        ];
        table.add_row(row);
    }
    out!("{table}");
    Ok(())
}

/// `+18605550100 until 2026-11-26, now rose_court's`.
fn former(number: &Number) -> String {
    let until = number.retired_at.map(|at| format!(" until {}", at.date_naive())).unwrap_or_default();
    let now_of = number.now_of.as_ref().map(|casino| format!(", now {casino}'s")).unwrap_or_default();
    format!("{}{until}{now_of}", number.number)
}

async fn redisclose(config: Option<&Path>, casino: &CasinoId, trigger: &str) -> Result<()> {
    let fleet = fleet(config).await?;
    super::known(&fleet.store, casino).await?;
    let mut tx = fleet.store.bind(casino).await?;
    let guests = tx.redisclose_all(trigger).await?;
    let detail = serde_json::json!({ "redisclose": trigger, "guests": guests });
    tx.audit(&Entry::of(AuditEvent::CasinoChanged, "seven casino redisclose", casino.as_str(), detail)).await?;
    tx.commit().await?;
    out!("{guests} guest(s) of {casino} will be told again with their next text.");
    Ok(())
}

async fn set(config: Option<&Path>, casino: &CasinoId, status: &str, who: &Who) -> Result<()> {
    let fleet = fleet(config).await?;
    let mut tx = fleet.store.bind(casino).await?;
    let done = tx.set_casino_status(status, &who.by, &who.reason).await?;
    ensure!(done, "no casino {casino}; `seven casino list` shows them");
    tx.commit().await?;
    onboard::announce(&fleet, casino).await?;
    if status == "removed" {
        fleet.bus.remove_consumers(casino).await?;
    }
    out!("{casino} is {status}.");
    Ok(())
}

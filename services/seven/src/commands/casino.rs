//! `seven casino`: the fleet's casinos, the checks before their first guest, and their logins.

pub mod go_live;
pub mod login;
pub mod verify;

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Result, ensure};
use clap::{Args, Subcommand};
use seven_domain::{AuditEvent, CasinoConfig, CasinoId, CasinoStatus, MaterialChange, PhoneE164};
use seven_store::{audit::Entry, casinos::Added, numbers::Number};

use super::{
    args::{By, Careful, Json, Who},
    context::{Context, Operate},
    given,
};
use crate::{onboard, out};

#[derive(Debug, Subcommand)]
pub enum Casino {
    /// List all casinos with their numbers and versions.
    List(Json),
    /// Add a casino, or replace its document; changes are shown and must be confirmed.
    Add(Add),
    /// Stop serving a casino; its data and its consumers on the bus stay.
    Suspend(Change),
    /// Serve a suspended casino again.
    Resume(Change),
    /// Remove a casino: its numbers and consumers go, its data stays until retention deletes it.
    Remove(Remove),
    /// Tell every guest again, with the next text, that an AI writes, because something changed.
    Redisclose(Redisclose),
    /// Check that the workers' login can read and write no other casino's rows.
    Verify(verify::Verify),
    /// Make a database login that serves only this casino, or give that login a new password.
    Login(login::Login),
    /// Check everything that must be true before the first guest is texted; if something is
    /// missing, list it and exit with 1.
    GoLive(go_live::GoLive),
    /// Print the JSON Schema of the casino document.
    Schema(Schema),
}

#[derive(Debug, Args)]
pub struct Add {
    /// The casino document (JSON or TOML); - reads JSON from stdin.
    file: PathBuf,
    #[command(flatten)]
    careful: Careful,
    #[command(flatten)]
    by: By,
}

#[derive(Debug, Args)]
pub struct Change {
    /// The casino's id.
    casino: CasinoId,
    #[command(flatten)]
    who: Who,
}

#[derive(Debug, Args)]
pub struct Remove {
    /// The casino's id.
    casino: CasinoId,
    /// The casino's id again, as a confirmation.
    #[arg(long, value_name = "ID")]
    confirm: CasinoId,
    #[command(flatten)]
    who: Who,
}

#[derive(Debug, Args)]
pub struct Redisclose {
    /// The casino's id.
    casino: CasinoId,
    /// The change that makes the disclosure due again.
    #[arg(long, value_parser = given::one_of(MaterialChange::ALL, MaterialChange::as_str))]
    trigger: MaterialChange,
}

#[derive(Debug, Args)]
pub struct Schema {}

impl Operate for Casino {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        match self {
            Self::Verify(command) => return command.run(ctx).await,
            Self::GoLive(command) => return Box::pin(command.run(ctx)).await,
            Self::Login(command) => login::login(ctx, &command).await,
            Self::Add(command) => add(ctx, command).await,
            Self::List(json) => list(ctx, json.json).await,
            Self::Suspend(Change { casino, who }) => {
                set(ctx, &casino, CasinoStatus::Suspended, &who).await
            }
            Self::Resume(Change { casino, who }) => {
                set(ctx, &casino, CasinoStatus::Active, &who).await
            }
            Self::Remove(Remove {
                casino,
                confirm,
                who,
            }) => {
                ensure!(
                    casino == confirm,
                    "--confirm names {confirm}, not {casino}; nothing was removed"
                );
                set(ctx, &casino, CasinoStatus::Removed, &who).await
            }
            Self::Redisclose(Redisclose { casino, trigger }) => {
                redisclose(ctx, &casino, trigger).await
            }
            Self::Schema(Schema {}) => {
                out!(
                    "{}",
                    serde_json::to_string_pretty(&CasinoConfig::json_schema())?
                );
                Ok(())
            }
        }?;
        Ok(ExitCode::SUCCESS)
    }
}

async fn add(
    ctx: &Context,
    Add {
        file,
        careful,
        by: By { by },
    }: Add,
) -> Result<()> {
    let text = super::read(&file)?;
    let document = onboard::read_casino(&file.display().to_string(), &text)?;
    let casino = &document.casino_id;
    let fleet = ctx.fleet().await?;
    let planned = onboard::try_casino(fleet, &document).await?;
    planned.changes.iter().for_each(|change| out!("  {change}"));
    let question = match (planned.added, planned.changes.len()) {
        (Added::New, _) => {
            out!(
                "{casino} is new: {}.",
                document
                    .operational
                    .numbers()
                    .map(PhoneE164::as_str)
                    .collect::<Vec<_>>()
                    .join(", ")
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
    match onboard::add_casino(fleet, &document, &by).await?.added {
        Added::New => {
            out!("Added {casino}. Next: seven content load --casino {casino} --by {by} FILE");
        }
        Added::Updated => out!("Replaced the document of {casino}."),
    }
    super::dead::of_known_numbers(fleet, &by).await?.tell();
    Ok(())
}

async fn list(ctx: &Context, json: bool) -> Result<()> {
    let fleet = ctx.fleet().await?;
    let (roster, numbers) = (fleet.store.roster().await?, fleet.store.numbers().await?);
    let of = |casino: &CasinoId, retired: bool| {
        let mine = numbers
            .iter()
            .filter(move |n| n.casino_id == casino.as_str() && n.retired_at.is_some() == retired);
        mine.collect::<Vec<_>>()
    };
    if json {
        let rows = roster.iter().map(|entry| {
            let mut row = serde_json::to_value(entry)?;
            row["numbers"] = of(&entry.casino, false)
                .iter()
                .map(|n| n.number.clone())
                .collect();
            row["former_numbers"] = serde_json::to_value(of(&entry.casino, true))?;
            Ok(row)
        });
        out!("{}", serde_json::Value::Array(rows.collect::<Result<_>>()?));
        return Ok(());
    }
    let columns = [
        "casino",
        "state",
        "numbers",
        "switches",
        "document",
        "content",
        "former numbers",
    ];
    let mut table = ctx.table(columns).wide(["former numbers"]);
    for entry in roster {
        let state = if entry.active { "active" } else { "suspended" };
        let present = of(&entry.casino, false)
            .iter()
            .map(|n| n.number.clone())
            .collect::<Vec<_>>();
        let former = of(&entry.casino, true)
            .iter()
            .map(|n| former(n))
            .collect::<Vec<_>>();
        let row = [
            entry.casino.to_string(),
            state.to_owned(),
            present.join("\n"),
            entry.paused.join(" "),
            format!("v{}", entry.config_version),
            format!("v{}", entry.content_version),
            former.join("\n"),
        ];
        table.add_row(row);
    }
    out!("{table}");
    Ok(())
}

/// Formats a former number: `+18605550100 until 2026-11-26, now rose_court's`.
fn former(number: &Number) -> String {
    let until = number
        .retired_at
        .map(|at| format!(" until {}", at.date_naive()))
        .unwrap_or_default();
    let now_of = number
        .now_of
        .as_ref()
        .map(|casino| format!(", now {casino}'s"))
        .unwrap_or_default();
    format!("{}{until}{now_of}", number.number)
}

async fn redisclose(ctx: &Context, casino: &CasinoId, trigger: MaterialChange) -> Result<()> {
    let fleet = ctx.fleet().await?;
    super::known(&fleet.store, casino).await?;
    let mut tx = fleet.store.bind(casino).await?;
    let guests = tx.redisclose_all(trigger).await?;
    let detail = serde_json::json!({ "redisclose": trigger, "guests": guests });
    tx.audit(&Entry::of(
        AuditEvent::CasinoChanged,
        "seven casino redisclose",
        casino.as_str(),
        detail,
    ))
    .await?;
    tx.commit().await?;
    out!("{guests} guest(s) of {casino} will be told again with their next text.");
    Ok(())
}

async fn set(ctx: &Context, casino: &CasinoId, status: CasinoStatus, who: &Who) -> Result<()> {
    let fleet = ctx.fleet().await?;
    let mut tx = fleet.store.bind(casino).await?;
    let done = tx.set_casino_status(status, &who.by, &who.reason).await?;
    ensure!(done, "no casino {casino}; `seven casino list` shows them");
    tx.commit().await?;
    onboard::announce(fleet, casino).await?;
    if status == CasinoStatus::Removed {
        fleet.bus.remove_consumers(casino).await?;
    }
    out!("{casino} is {status}.");
    Ok(())
}

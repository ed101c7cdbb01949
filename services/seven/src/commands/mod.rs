//! One file per noun of the command line.

pub mod alert;
pub mod audit;
pub mod backup;
pub mod campaign;
pub mod casino;
pub mod consent;
pub mod content;
pub mod conversation;
pub mod cost;
pub mod dead;
pub mod delivery;
pub mod deploy;
pub mod escalation;
pub mod facts;
pub mod flag;
pub mod gate;
pub mod given;
pub mod guest;
mod guest_ref;
pub mod incident;
pub mod knowledge;
pub mod message;
pub mod pause;
pub mod person;
pub mod phrases;
pub mod provider;
pub mod quiet_hours;
pub mod reconcile;
pub mod recover;
pub mod restore;
pub mod run;
pub mod secret;
pub mod sms;
pub mod status;
pub mod turn;
pub mod webhook;
pub mod why;

use std::{
    io::{IsTerminal, Write},
    path::Path,
};

use anyhow::{Context, Result, ensure};
use serde::de::DeserializeOwned;
use seven_domain::CasinoId;
use seven_runtime::Fleet;
use seven_settings::Settings;
use seven_store::Store;
use tokio_util::sync::CancellationToken;

use crate::wiring;

/// Log filter for what a command's libraries write to stderr. Warnings of sqlx are left out,
/// because a slow database is no answer to an operator.
pub(crate) const LOG: &str = "warn,sqlx=error";

const NATS_WANTED: wiring::Nats = wiring::Nats::Wanted(std::time::Duration::ZERO);
/// For the first answer of a store: a person waits.
const FIRST_ANSWER_TIMEOUT: std::time::Duration = std::time::Duration::from_millis(1_500);

/// A fleet handle for one command. All of them ask the database. Most ask nothing else, and an outage of NATS is when they are wanted:
/// it is told, and a part that needs NATS fails by itself.
async fn fleet(config: Option<&Path>) -> Result<Fleet> {
    let fleet = wiring::handles(&Settings::load(config)?, Vec::new(), NATS_WANTED, CancellationToken::new()).await?;
    let roster = fleet.store.roster().await;
    let roster = roster.context("Postgres does not answer; `seven status` shows what does")?;
    roster.into_iter().for_each(|entry| fleet.roster.put(seven_scheduler::control(entry)));
    seven_telemetry::init(seven_telemetry::LogTarget::Stderr, LOG)?;
    if !fleet.bus.ready().await {
        tracing::warn!("NATS does not answer; going on without it");
    }
    Ok(fleet)
}

/// The same for a command that names itself the stores that are away: nothing is asked of Postgres yet.
async fn handles(config: Option<&Path>) -> Result<Fleet> {
    wiring::handles(&Settings::load(config)?, Vec::new(), NATS_WANTED, CancellationToken::new()).await
}

async fn in_time<T>(asked: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::time::timeout(FIRST_ANSWER_TIMEOUT, asked).await.context("no answer within 1.5 s")?
}

/// After the commit the work is done: a signal that found no bus is repeated by the sweep, and a command that failed would be given again.
fn told<E: std::error::Error + 'static>(signalled: Result<(), E>) {
    if let Err(error) = signalled {
        tracing::warn!(error = &error as &dyn std::error::Error, "it is stored; the workers hear of it within seconds");
    }
}

/// Reads a file; `-` is standard input, for commands that run in a pod while the document's file is
/// somewhere else.
fn read(file: &Path) -> Result<String> {
    if file.as_os_str() == "-" {
        return std::io::read_to_string(std::io::stdin()).context("reading standard input");
    }
    std::fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))
}

/// With a capital letter first.
fn capital(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Asks a person at a terminal; anybody else has to say `--yes`. `what` begins with the verb, such as `replay 3 dead letter(s)`.
fn confirmed(what: &str, yes: bool) -> Result<bool> {
    if yes {
        return Ok(true);
    }
    ensure!(std::io::stdin().is_terminal(), "this would {what}; say --yes");
    write!(std::io::stderr(), "{}? [y/N] ", capital(what)).context("asking")?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).context("reading the answer")?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Says so when there is no such casino: an empty answer would look like a quiet one.
async fn known(store: &Store, casino: &CasinoId) -> Result<()> {
    let mut tx = store.bind(casino).await?;
    let row = tx.casino_row().await?;
    tx.commit().await?;
    ensure!(row.is_some(), "no casino {casino}; `seven casino list` shows them");
    Ok(())
}

/// Answers JSON lines on stdin with JSON lines on stdout; a bad line names its number and ends the command.
fn json_lines<Q: DeserializeOwned>(mut answer: impl FnMut(Q) -> Result<serde_json::Value>) -> Result<()> {
    for (row, line) in std::io::stdin().lines().enumerate() {
        let line = line.context("reading stdin")?;
        if line.trim().is_empty() {
            continue;
        }
        let question = serde_json::from_str(&line).with_context(|| {
            format!(
                "line {} of stdin is not one JSON document of what --help names, such as {{\"text\":\"...\"}}",
                row + 1
            )
        })?;
        crate::out!("{}", answer(question)?);
    }
    Ok(())
}

/// Stands for what a guest or the host wrote; says how long it was.
fn hidden(text: &str) -> String {
    format!("({} characters; --reveal shows them)", text.chars().count())
}

/// An empty table with these columns.
pub fn table<const N: usize>(header: [&str; N]) -> comfy_table::Table {
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::UTF8_BORDERS_ONLY).set_header(header);
    table
}

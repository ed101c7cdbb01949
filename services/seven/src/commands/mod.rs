//! One file per noun of the command line.

#![allow(
    rustdoc::invalid_html_tags,
    rustdoc::broken_intra_doc_links,
    reason = "clap prints doc comments of arguments as help, in which <key> and [cost] are text"
)]

pub mod alert;
pub mod args;
pub mod audit;
pub mod backup;
pub mod campaign;
pub mod casino;
pub mod consent;
pub mod contact;
pub mod content;
pub(crate) mod context;
pub mod conversation;
pub mod cost;
pub mod dead;
pub mod delivery;
pub mod deploy;
pub mod escalation;
pub mod facts;
pub mod figures;
pub mod flag;
pub mod gate;
pub mod given;
pub mod guest;
pub mod guest_ref;
pub mod health;
pub mod id_prefix;
pub mod incident;
pub mod knowledge;
pub mod log;
pub mod message;
pub mod model;
pub mod operator;
pub mod output;
pub mod pause;
pub(crate) mod progress;
pub mod provider;
pub mod quiet_hours;
pub mod reconcile;
pub mod recover;
pub mod restore;
pub mod run;
pub mod secret;
pub mod shell;
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
use serde::{Serialize, de::DeserializeOwned};
use seven_domain::CasinoId;
use seven_store::Store;

/// Timeout of a store's first answer; it is short, because a person waits for it.
const FIRST_ANSWER_TIMEOUT: std::time::Duration = std::time::Duration::from_millis(1_500);

async fn in_time<T>(asked: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::time::timeout(FIRST_ANSWER_TIMEOUT, asked)
        .await
        .context("no answer within 1.5 s")?
}

/// Reads a file, or standard input if the path is `-`: a command that runs in a pod may not have
/// the operator's file.
fn read(file: &Path) -> Result<String> {
    if file.as_os_str() == "-" {
        return std::io::read_to_string(std::io::stdin()).context("reading standard input");
    }
    std::fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))
}

/// Makes the first letter a capital.
fn capital(words: &str) -> String {
    let mut chars = words.chars();
    chars
        .next()
        .map(|first| first.to_uppercase().chain(chars).collect())
        .unwrap_or_default()
}

/// Asks a person at a terminal to confirm; without a terminal, `--yes` is required. `what` begins
/// with the verb, such as `replay 3 dead letter(s)`.
fn confirmed(what: &str, yes: bool) -> Result<bool> {
    if yes {
        return Ok(true);
    }
    ensure!(
        std::io::stdin().is_terminal(),
        "this would {what}; say --yes"
    );
    write!(std::io::stderr(), "{}? [y/N] ", capital(what)).context("asking")?;
    let mut answer = String::new();
    std::io::stdin()
        .read_line(&mut answer)
        .context("reading the answer")?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Fails if the casino does not exist. Otherwise, the command's empty result would look like that
/// of a casino without guests.
async fn known(store: &Store, casino: &CasinoId) -> Result<()> {
    let mut tx = store.bind(casino).await?;
    let row = tx.casino_row().await?;
    tx.commit().await?;
    ensure!(
        row.is_some(),
        "no casino {casino}; `seven casino list` shows them"
    );
    Ok(())
}

/// Answers JSON lines on stdin with JSON lines on stdout; the first bad line ends the command with
/// an error that names the line's number.
fn json_lines<Q: DeserializeOwned>(
    mut answer: impl FnMut(Q) -> Result<serde_json::Value>,
) -> Result<()> {
    for (row, line) in std::io::stdin().lines().enumerate() {
        let line = line.context("reading stdin")?;
        if line.trim().is_empty() {
            continue;
        }
        let question = serde_json::from_str(&line).with_context(|| {
            format!(
                "line {} of stdin is not one JSON document of what --help names, such as \
                 {{\"text\":\"...\"}}",
                row + 1
            )
        })?;
        crate::out!("{}", answer(question)?);
    }
    Ok(())
}

/// Returns a placeholder for words of a guest or the host; it gives their length.
fn hidden(text: &str) -> String {
    format!("({} characters; --reveal shows them)", text.chars().count())
}

/// Prints one JSON document per row.
fn json_rows<T: Serialize>(rows: &[T]) -> Result<()> {
    rows.iter()
        .try_for_each(|row| serde_json::to_string(row).map(|line| crate::out!("{line}")))?;
    Ok(())
}

/// Formats a time for people, to the second.
fn utc(at: chrono::DateTime<chrono::Utc>) -> String {
    at.format("%F %T UTC").to_string()
}

/// Formats a time in UTC for a table cell, to the minute and without year or zone.
fn minute(at: chrono::DateTime<chrono::Utc>) -> String {
    at.format("%m-%d %H:%M").to_string()
}

/// Returns an empty table with these columns, as wide as its content.
pub fn table<const N: usize>(columns: [&str; N]) -> output::Table {
    output::Table::new(columns, output::View::of_stdout(output::Format::Wide))
}

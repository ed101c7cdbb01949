//! `seven dead export`: dead letters as JSON lines. The export itself is audited, once per casino.

use std::{
    io::{BufWriter, Write},
    path::PathBuf,
};

use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;
use seven_dead_letters::payload;
use seven_domain::AuditEvent;
use seven_runtime::Fleet;
use seven_store::{audit::Entry, dead::DeadLetter};

use super::{
    batch,
    reader::{Reader, Reveal},
    select::{Select, whose},
    show,
};
use crate::{
    commands::{guest::private, id_prefix::IdPrefix, progress::during},
    out,
};

#[derive(Debug, Args)]
#[command(group = whose())]
pub struct Export {
    /// Ids of the dead letters in any state, or unique prefixes. Without ids: all that the filters
    /// match.
    #[arg(value_name = "ID")]
    ids: Vec<IdPrefix>,
    #[command(flatten)]
    select: Select,
    #[command(flatten)]
    reveal: Reveal,
    /// File to write, readable by you alone. Without it: stdout.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    by: Reader,
}

pub(super) async fn export(fleet: &Fleet, command: Export) -> Result<()> {
    during("Exporting dead letters", write(fleet, command)).await
}

async fn write(fleet: &Fleet, command: Export) -> Result<()> {
    let Export {
        ids,
        select,
        reveal: Reveal { reveal, reason },
        out: file,
        by: Reader { by },
    } = command;
    let parts = if ids.is_empty() {
        select.parts(fleet, false).await?
    } else {
        Vec::new()
    };
    let todos = batch::collect(fleet, &ids, &select, &parts).await?;
    let mut sink: Box<dyn Write> = match &file {
        Some(path) => Box::new(BufWriter::new(private(path)?)),
        None => Box::new(std::io::stdout().lock()),
    };
    // The audit entries come before the first line: if they fail, nothing may have been shown.
    let mut owners: Vec<_> = todos.iter().map(|todo| &todo.owner).collect();
    owners.sort();
    owners.dedup();
    for owner in owners {
        let letters = todos.iter().filter(|todo| todo.owner == *owner).count();
        let event = if reveal {
            AuditEvent::PersonalDataRevealed
        } else {
            AuditEvent::DeadLetterHandled
        };
        let detail = json!({
            "did": "export",
            "letters": letters,
            "revealed": reveal,
            "reason": reason,
            "filter": select.said(),
        });
        let mut tx = fleet.store.bind(owner).await?;
        tx.audit(&Entry::of(event, &by, "dead letters", detail))
            .await?;
        tx.commit().await?;
    }
    let mut written = 0_u64;
    for todo in &todos {
        let mut tx = fleet.store.bind(&todo.owner).await?;
        let Some(letter) = tx.dead_letter(todo.id).await? else {
            continue;
        };
        let history = tx.dead_history(todo.id).await?;
        tx.commit().await?;
        let payload = payload::shown(todo.stage, &letter.payload, reveal);
        let error = |text: &str| {
            if reveal {
                text.to_owned()
            } else {
                payload::plain(text)
            }
        };
        let letter = DeadLetter {
            first_error: error(&letter.first_error),
            last_error: error(&letter.last_error),
            ..letter
        };
        let line = show::document(todo.owner.as_str(), &letter, &payload, &history);
        if writeln!(sink, "{line}").is_err() && file.is_none() {
            // A closed pipe (`| head`) is not an error.
            return Ok(());
        }
        written += 1;
    }
    sink.flush().context("writing the export")?;
    drop(sink);
    if let Some(path) = file {
        out!("Wrote {written} dead letter(s) to {}.", path.display());
    }
    Ok(())
}

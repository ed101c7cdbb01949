//! `seven dead list|show|replay`: plain for now; filters, rates and masking come with issue D.

use std::{path::Path, time::Duration};

use anyhow::{Context, Result, ensure};
use clap::Subcommand;
use seven_bus::{Outgoing, subject};
use seven_domain::{AuditEvent, CasinoId, DeadId, Stage};
use seven_runtime::Fleet;
use seven_store::{audit::Entry, dead::DeadLetter};

use super::fleet;
use crate::out;

#[derive(Debug, Subcommand)]
pub enum Dead {
    /// Open dead letters of a casino (`--casino`), or of numbers no casino had (`--unknown`).
    List {
        #[arg(long, value_name = "ID", required_unless_present = "unknown")]
        casino: Option<CasinoId>,
        #[arg(long, conflicts_with = "casino")]
        unknown: bool,
        /// Also those that were replayed.
        #[arg(long)]
        all: bool,
    },
    /// One dead letter; its payload is not shown, it may hold a guest's text.
    Show {
        #[arg(long, value_name = "ID")]
        casino: Option<CasinoId>,
        id: DeadId,
    },
    /// Give a dead letter back to the stage that failed, under its own identity, so that it can never act twice.
    Replay {
        #[arg(long, value_name = "ID")]
        casino: Option<CasinoId>,
        id: DeadId,
    },
}

pub async fn run(config: Option<&Path>, command: Dead) -> Result<()> {
    let fleet = fleet(config).await?;
    match command {
        Dead::List { casino, all, .. } => {
            let mut tx = fleet.store.bind(&owner(casino)).await?;
            let letters = tx.dead_letters(if all { None } else { Some("open") }, 200).await?;
            tx.commit().await?;
            list(letters);
            Ok(())
        }
        Dead::Show { casino, id } => {
            let mut tx = fleet.store.bind(&owner(casino)).await?;
            let letter = tx.dead_letter(id).await?.context("no such dead letter")?;
            tx.commit().await?;
            show(&letter);
            Ok(())
        }
        Dead::Replay { casino, id } => replay(&fleet, &owner(casino), id).await,
    }
}

fn owner(casino: Option<CasinoId>) -> CasinoId {
    casino.unwrap_or_else(CasinoId::unknown)
}

fn list(letters: Vec<DeadLetter>) {
    let mut table = super::table(["dead letter", "stage", "reason", "error", "tries", "last"]);
    for letter in letters {
        let row = [
            letter.dead_id.to_string(),
            letter.stage,
            letter.reason,
            letter.last_error,
            letter.attempts.to_string(),
            letter.last_at.to_rfc3339(),
        ];
        table.add_row(row);
    }
    out!("{table}");
}

fn show(letter: &DeadLetter) {
    out!("{} at {} ({}, replayed {} times)", letter.dead_id, letter.stage, letter.state, letter.replays);
    out!("  reason       {}", letter.reason);
    out!("  first error  {} {}", letter.first_at, letter.first_error);
    out!("  last error   {} {}", letter.last_at, letter.last_error);
    out!("  attempts     {}", letter.attempts);
    out!(
        "  payload      {} bytes, re-enters at {}",
        letter.payload.len(),
        if letter.subject.is_empty() { "ingress" } else { &letter.subject }
    );
    out!("  trace        {}", letter.trace);
}

/// Re-enters the failed stage with a fresh message id and the same identity.
pub async fn replay(fleet: &Fleet, owner: &CasinoId, id: DeadId) -> Result<()> {
    let mut tx = fleet.store.bind(owner).await?;
    let letter = tx.dead_letter(id).await?.context("no such dead letter")?;
    let copy = Some(format!("replay:{}", fleet.ids.uuid()));
    let deadline = Duration::from_secs(5);
    if letter.stage == Stage::Ingress.as_str() {
        let intake = seven_ingress_webhook::intake_raw(&letter.payload, None, letter.first_at);
        let number = intake.number().with_context(|| format!("still unreadable: {}", letter.last_error))?;
        let casino = fleet
            .store
            .casino_of_number(number)
            .await?
            .context("no casino has its number yet; add the casino, then replay")?;
        let (stage, key, payload) =
            intake.message().with_context(|| format!("still unusable: {}", letter.last_error))?;
        let message =
            Outgoing { subject: subject(stage, &casino, None), key: &key, copy, trace: &letter.trace, payload };
        fleet.bus.publish(&message, deadline).await?;
    } else {
        ensure!(!letter.subject.is_empty(), "this dead letter does not say where it re-enters");
        tx.reopen_for_replay(&letter).await?;
        let message = Outgoing {
            subject: letter.subject.clone(),
            key: &letter.message_key,
            copy,
            trace: &letter.trace,
            payload: letter.payload.clone().into(),
        };
        fleet.bus.publish(&message, deadline).await?;
    }
    tx.mark_replayed(id).await?;
    let (subject, detail) = (id.to_string(), serde_json::json!({ "stage": letter.stage, "did": "replay" }));
    let entry = Entry::of(AuditEvent::DeadLetterHandled, "seven dead replay", &subject, detail);
    tx.audit(&Entry { trace: Some(&letter.trace), ..entry }).await?;
    tx.commit().await?;
    out!("Replayed {id} at {}.", letter.stage);
    Ok(())
}

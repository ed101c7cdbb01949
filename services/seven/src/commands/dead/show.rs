//! `seven dead show`: the errors that led to one dead letter, its payload, and what was done to it.

use anyhow::{Context, Result};
use clap::Args;
use serde_json::{Value, json};
use seven_dead_letters::payload;
use seven_domain::{AuditEvent, Stage};
use seven_runtime::Fleet;
use seven_store::{
    audit::Entry,
    dead::{DeadLetter, Handled},
};

use super::{
    list::channel,
    reader::{Reader, Reveal},
    select::Select,
};
use crate::{
    commands::{args::Json, id_prefix::IdPrefix},
    out,
};

#[derive(Debug, Args)]
pub struct Show {
    /// Id of the dead letter, as `seven dead list` shows it; a unique prefix is enough.
    id: IdPrefix,
    #[command(flatten)]
    select: Select,
    #[command(flatten)]
    reveal: Reveal,
    #[command(flatten)]
    json: Json,
    #[command(flatten)]
    by: Reader,
}

pub(super) async fn show(fleet: &Fleet, command: &Show) -> Result<()> {
    let (owner, id) = command.select.named(fleet, &command.id).await?;
    let mut tx = fleet.store.bind(&owner).await?;
    let letter = tx
        .dead_letter(id)
        .await?
        .with_context(|| format!("{owner} has no dead letter {id}"))?;
    let history = tx.dead_history(id).await?;
    let reveal = command.reveal.reveal;
    if reveal {
        let (subject, detail) = (
            id.to_string(),
            json!({ "what": "dead letter", "reason": command.reveal.reason }),
        );
        tx.audit(&Entry::of(
            AuditEvent::PersonalDataRevealed,
            &command.by.by,
            &subject,
            detail,
        ))
        .await?;
    }
    tx.commit().await?;
    let payload = payload::shown(letter.stage, &letter.payload, reveal);
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
    if command.json.json {
        out!("{}", document(owner.as_str(), &letter, &payload, &history));
    } else {
        lines(owner.as_str(), &letter, &payload, reveal, &history);
    }
    Ok(())
}

/// Returns a letter as one JSON object, for `show` and `export`.
pub(super) fn document(
    owner: &str,
    letter: &DeadLetter,
    payload: &Value,
    history: &[Handled],
) -> Value {
    json!({
        "dead_id": letter.dead_id, "casino_id": owner, "stage": letter.stage, "state": letter.state,
        "reason": letter.reason, "channel": letter.channel,
        "first_error": letter.first_error, "last_error": letter.last_error,
        "attempts": letter.attempts, "replays": letter.replays,
        "first_at": letter.first_at, "last_at": letter.last_at, "subject": letter.subject,
        "message_key": letter.message_key,
        "stream_seq": letter.stream_seq, "guest_hash": letter.guest_hash, "trace": letter.trace,
        "claimed_by": letter.claimed_by, "claimed_at": letter.claimed_at, "payload": payload,
        "handled": history,
    })
}

fn lines(owner: &str, letter: &DeadLetter, payload: &Value, reveal: bool, history: &[Handled]) {
    let at = |at: &chrono::DateTime<chrono::Utc>| crate::commands::utc(*at);
    out!("{} of {owner}, died at {}", letter.dead_id, letter.stage);
    out!(
        "  state        {}, replayed {} time(s)",
        letter.state,
        letter.replays
    );
    out!("  reason       {}", letter.reason);
    out!("  channel      {}", channel(letter.channel));
    out!("  tries        {}", letter.attempts);
    out!(
        "  first seen   {}  {}",
        at(&letter.first_at),
        letter.first_error
    );
    out!(
        "  last seen    {}  {}",
        at(&letter.last_at),
        letter.last_error
    );
    let reentry = if letter.subject.is_empty() {
        "where ingress would have put it"
    } else {
        &letter.subject
    };
    out!("  re-enters    {reentry}");
    if let Some(sequence) = letter.stream_seq.filter(|sequence| *sequence > 0) {
        out!("  stream       sequence {sequence} of its stage's stream");
    }
    out!(
        "  guest        {}",
        letter.guest_hash.as_deref().unwrap_or("nobody can tell")
    );
    let trace = letter.trace.split('-').nth(1).unwrap_or(&letter.trace);
    out!(
        "  trace        {}",
        if trace.is_empty() { "none" } else { trace }
    );
    if let (Some(by), Some(since)) = (&letter.claimed_by, &letter.claimed_at) {
        out!(
            "  under way    a replay by {by} began {} and has not ended; replay it again",
            at(since)
        );
    }
    // Payloads of later stages hold ids and no personal data.
    let personal = matches!(letter.stage, Stage::Ingress | Stage::Gate);
    let masked = if personal && !reveal {
        ", masked; --reveal --reason TEXT shows it"
    } else {
        ""
    };
    out!("  payload      {} bytes{masked}", letter.payload.len());
    for (name, value) in payload.as_object().into_iter().flatten() {
        out!(
            "    {name:<20} {}",
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        );
    }
    for done in history {
        let did = done.detail["did"].as_str().unwrap_or("handled");
        let reason = done.detail["reason"]
            .as_str()
            .map(|reason| format!(": {reason}"))
            .unwrap_or_default();
        out!(
            "  done         {}  {did} by {}{reason}",
            at(&done.at),
            done.actor
        );
    }
    if history.is_empty() {
        out!("  done         nothing yet");
    }
}

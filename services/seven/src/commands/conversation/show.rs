//! `seven conversation show`: the state of one conversation, the known facts about its guest, and
//! its texts.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::{Value, json};
use seven_guest::Profile;
use seven_runtime::Fleet;
use seven_store::conversations::{ShownConversation, TranscriptLine};

use super::which::{Which, note_reveal};
use crate::{
    commands::{
        args::{Json, Reveal},
        context::{Context, Operate},
        hidden,
        output::View,
        utc,
    },
    out,
};

#[derive(Debug, Args)]
pub struct Show {
    #[command(flatten)]
    which: Which,
    /// Number of rows to show, at most: the newest texts of the conversation.
    #[arg(long, value_name = "N", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(i64).range(0..=1_000))]
    most: i64,
    #[command(flatten)]
    reveal: Reveal,
    #[command(flatten)]
    json: Json,
}

impl Operate for Show {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        let fleet = ctx.fleet().await?;
        show(fleet, ctx.view, self).await?;
        Ok(ExitCode::SUCCESS)
    }
}

async fn show(fleet: &Fleet, view: View, command: Show) -> Result<()> {
    let Show {
        which,
        most,
        reveal: Reveal { reveal },
        json: Json { json },
    } = command;
    let conversation = which.find(fleet).await?;
    let mut tx = fleet.store.bind(which.casino()).await?;
    let shown = tx
        .shown_conversation(conversation)
        .await?
        .context("it was deleted this moment")?;
    let kept = tx.held_texts(conversation).await?;
    let mut texts = tx.transcript(conversation, most).await?;
    if reveal {
        note_reveal(&mut tx, conversation).await?;
    }
    tx.commit().await?;
    let facts = facts(&shown, fleet, reveal);
    if !reveal {
        texts
            .iter_mut()
            .for_each(|line| line.text = hidden(&line.text));
    }
    let kept: Vec<Value> = kept
        .into_iter()
        .map(|(id, text, at)| {
            json!({
                "id": id,
                "at": at,
                "text": if reveal { text } else { hidden(&text) },
            })
        })
        .collect();
    if json {
        let mut document = serde_json::to_value(&shown)?;
        document["profile"] = json!(facts);
        document["kept"] = json!(kept);
        document["texts"] = json!(texts);
        out!("{document}");
    } else {
        lines(&shown, &facts, &kept, view);
        transcript(&texts);
    }
    Ok(())
}

/// Returns the known facts about the guest, each with its path, value and confidence. Values are
/// hidden unless `reveal` is set.
fn facts(shown: &ShownConversation, fleet: &Fleet, reveal: bool) -> Vec<Value> {
    let profile = shown
        .profile
        .clone()
        .and_then(|document| Profile::from_json(document).ok());
    let context = profile
        .map(|read| read.profile.context(fleet.clock.property_now()))
        .unwrap_or_default();
    let told = context.facts.into_iter().map(|fact| {
        let value = if reveal {
            json!(fact.value)
        } else {
            json!("(--reveal shows it)")
        };
        json!({
            "field": fact.path,
            "value": value,
            "confidence": fact.confidence.get(),
            "doubtful": fact.doubtful,
        })
    });
    told.collect()
}

fn lines(shown: &ShownConversation, facts: &[Value], kept: &[Value], view: View) {
    let text = |json: &Value, name: &str| json[name].as_str().unwrap_or("-").to_owned();
    let language = shown.language.as_deref().unwrap_or("no language yet");
    out!(
        "{} of guest {} ({}, {language})",
        shown.conversation_id,
        shown.guest_id,
        shown.channel
    );
    out!(
        "  guest     {}, consent {}",
        shown.status,
        shown.consent_tier
    );
    let why = shown.pause_reason.as_deref().unwrap_or_default();
    match (shown.paused, shown.paused_until) {
        (false, _) => out!("  state     the host answers"),
        (true, None) => out!(
            "  state     {}",
            view.line(&format!("PAUSED until a person ends it ({why})"))
        ),
        (true, Some(until)) => out!(
            "  state     {}",
            view.line(&format!("PAUSED until {} ({why})", utc(until)))
        ),
    }
    out!(
        "  texts     {} open, {} kept for a person",
        shown.open_texts,
        shown.held_texts
    );
    for each in kept {
        out!("  kept      {} {}", text(each, "at"), text(each, "text"));
    }
    if let Some(session) = &shown.session {
        let about: Vec<&str> = session["about"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        out!(
            "  session   {} since {}, {} turn(s)",
            text(session, "session_id"),
            text(session, "started_at"),
            session["turns"]
        );
        out!("  phase     {}", text(session, "phase"));
        if !about.is_empty() {
            out!("  about     {}", about.join(", "));
        }
    }
    out!("  sessions  {}", shown.sessions);
    for case in shown.cases.as_array().into_iter().flatten() {
        let hand = case["acknowledged_by"]
            .as_str()
            .map_or("open".to_owned(), |by| format!("in hand: {by}"));
        out!(
            "  case      {} {} {}, write by {}, {hand}",
            text(case, "escalation_id"),
            text(case, "severity"),
            text(case, "reason"),
            text(case, "respond_due_at")
        );
    }
    for fact in facts {
        let doubt = if fact["doubtful"] == json!(true) {
            ", doubtful"
        } else {
            ""
        };
        out!(
            "  known     {} {} ({:.2}{doubt})",
            text(fact, "field"),
            fact["value"],
            fact["confidence"].as_f64().unwrap_or_default()
        );
    }
}

/// Prints the texts, oldest first: time, direction, state and words.
fn transcript(texts: &[TranscriptLine]) {
    for TranscriptLine {
        direction,
        id: _,
        kind: _,
        turn_id: _,
        at,
        state,
        reason,
        text,
    } in texts
    {
        let who = if direction == "in" { "guest" } else { "us" };
        let reason = reason
            .as_deref()
            .map(|reason| format!(" ({reason})"))
            .unwrap_or_default();
        out!("{}  {who:<5}  {state}{reason}", at.format("%F %T"));
        text.lines().for_each(|line| out!("  {line}"));
    }
}

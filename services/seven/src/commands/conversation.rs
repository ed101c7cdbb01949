//! `seven conversation show|pause|resume|takeover|say|release`: shows the state of a conversation,
//! and lets a person write in place of the host (SEC-104, SEC-109, C-31). Facts about the guest and
//! kept texts are masked unless `--reveal` is given, which is audited.

use std::{path::Path, time::Duration};

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use seven_domain::{AuditEvent, CasinoId, ConversationId};
use seven_guest::Profile;
use seven_runtime::Fleet;
use seven_store::{Tx, audit::Entry, conversations::ShownConversation, pauses::Resumed};
use uuid::Uuid;

use super::{fleet, given, guest_ref::GuestRef, hidden, known, person};
use crate::out;

#[derive(Debug, Subcommand)]
pub enum Conversation {
    /// Show its state: pause, session, phase, open cases, waiting texts, known facts about the
    /// guest.
    Show {
        #[command(flatten)]
        which: Which,
        /// Also show the known facts about the guest and the texts that the guest wrote during the
        /// pause.
        #[arg(long)]
        reveal: bool,
        /// One JSON document instead of lines.
        #[arg(long)]
        json: bool,
    },
    /// Pause it: the host is silent, and inbound texts are kept. STOP, HELP and cries for help are
    /// still answered.
    Pause {
        #[command(flatten)]
        which: Which,
        /// Your name, for the record.
        #[arg(long, value_parser = given::words)]
        by: String,
        /// Reason; kept in the audit log.
        #[arg(long, value_parser = given::words)]
        reason: String,
        /// End the pause after this many minutes; without it the pause lasts until `resume`.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_080))]
        minutes: Option<u32>,
    },
    /// Take it over to write to the guest yourself: the host is silent until `release`, and the
    /// guest is not told.
    Takeover {
        #[command(flatten)]
        which: Which,
        /// Your name, for the record.
        #[arg(long, value_parser = given::words)]
        by: String,
        /// Reason; kept in the audit log.
        #[arg(long, value_parser = given::words)]
        reason: String,
    },
    /// Send a text as a person, during a takeover. It passes the same pre-send check as every text;
    /// the guest's earlier texts count as answered.
    Say {
        #[command(flatten)]
        which: Which,
        /// Your name, for the record.
        #[arg(long, value_parser = given::words)]
        by: String,
        /// The text to send, at most two messages long. - reads it from stdin.
        #[arg(long)]
        text: String,
    },
    /// End a takeover; the host answers the texts that you did not, and knows what you wrote.
    Release {
        #[command(flatten)]
        which: Which,
        /// Your name, for the record.
        #[arg(long, value_parser = given::words)]
        by: String,
    },
    /// End a pause; the host answers the texts that were kept.
    Resume {
        #[command(flatten)]
        which: Which,
        /// Your name, for the record.
        #[arg(long, value_parser = given::words)]
        by: String,
    },
}

#[derive(Debug, Args)]
pub struct Which {
    /// The conversation's id, or the id of its guest or of one of its texts.
    #[arg(required_unless_present = "guest", conflicts_with = "guest", value_parser = given::id)]
    id: Option<Uuid>,
    /// Phone, guest id, hmac:<key>:<hex>, or - for a phone on stdin.
    #[arg(long)]
    guest: Option<GuestRef>,
    /// The casino whose guest it is.
    #[arg(long, value_name = "ID")]
    casino: CasinoId,
}

pub async fn run(config: Option<&Path>, command: Conversation) -> Result<()> {
    let fleet = fleet(config).await?;
    match command {
        Conversation::Show { which, reveal, json } => show(&fleet, &which, reveal, json).await,
        Conversation::Pause { which, by, reason, minutes } => pause(&fleet, &which, &by, &reason, minutes).await,
        Conversation::Takeover { which, by, reason } => takeover(&fleet, &which, &by, &reason).await,
        Conversation::Say { which, by, text } => speak(&fleet, &which, &by, text).await,
        Conversation::Resume { which, by } | Conversation::Release { which, by } => resume(&fleet, &which, &by).await,
    }
}

// === impl Which ===

impl Which {
    async fn find(&self, fleet: &Fleet) -> Result<ConversationId> {
        known(&fleet.store, &self.casino).await?;
        let hash = match &self.guest {
            Some(guest) => Some(guest.hash(fleet, &self.casino).await?),
            None => None,
        };
        let mut tx = fleet.store.bind(&self.casino).await?;
        let id = match &hash {
            Some(hash) => tx.guest_by_hash(hash).await?.map(|guest| guest.0),
            None => self.id,
        };
        let found = match id {
            Some(id) => tx.conversation_of(id).await?,
            None => None,
        };
        tx.commit().await?;
        found.with_context(|| format!("{} has no such conversation", self.casino))
    }
}

async fn show(fleet: &Fleet, which: &Which, reveal: bool, json: bool) -> Result<()> {
    let conversation = which.find(fleet).await?;
    let mut tx = fleet.store.bind(&which.casino).await?;
    let shown = tx.shown_conversation(conversation).await?.context("it was deleted this moment")?;
    let kept = tx.held_texts(conversation).await?;
    if reveal {
        let about = conversation.to_string();
        tx.audit(&Entry::of(AuditEvent::PersonalDataRevealed, "seven conversation", &about, json!({}))).await?;
    }
    tx.commit().await?;
    let facts = facts(&shown, fleet, reveal);
    let kept: Vec<Value> = kept
        .into_iter()
        .map(|(id, text, at)| json!({ "id": id, "at": at, "text": if reveal { text } else { hidden(&text) } }))
        .collect();
    if json {
        let mut document = serde_json::to_value(&shown)?;
        document["profile"] = json!(facts);
        document["kept"] = json!(kept);
        out!("{document}");
    } else {
        lines(&shown, &facts, &kept);
    }
    Ok(())
}

/// Returns the facts known about the guest by path, each with value and confidence. Values are
/// hidden unless `reveal` is set.
fn facts(shown: &ShownConversation, fleet: &Fleet, reveal: bool) -> Vec<Value> {
    let profile = shown.profile.clone().and_then(|document| Profile::from_json(document).ok());
    let context = profile.map(|read| read.profile.context(fleet.clock.property_now())).unwrap_or_default();
    let told = context.facts.into_iter().map(|fact| {
        let value = if reveal { json!(fact.value) } else { json!("(--reveal shows it)") };
        json!({ "field": fact.path, "value": value, "confidence": fact.confidence.get(), "doubtful": fact.doubtful })
    });
    told.collect()
}

fn lines(shown: &ShownConversation, facts: &[Value], kept: &[Value]) {
    let text = |json: &Value, name: &str| json[name].as_str().unwrap_or("-").to_owned();
    let language = shown.language.as_deref().unwrap_or("no language yet");
    out!("{} of guest {} ({}, {language})", shown.conversation_id, shown.guest_id, shown.channel);
    out!("  guest     {}, consent {}", shown.status, shown.consent_tier);
    let why = shown.pause_reason.as_deref().unwrap_or_default();
    match (shown.paused, shown.paused_until) {
        (false, _) => out!("  state     the host answers"),
        (true, None) => out!("  state     PAUSED until `seven conversation resume` ({why})"),
        (true, Some(until)) => out!("  state     PAUSED until {} ({why})", until.format("%Y-%m-%d %H:%M:%S")),
    }
    out!("  texts     {} open, {} kept for a person", shown.open_texts, shown.held_texts);
    for each in kept {
        out!("  kept      {} {}", text(each, "at"), text(each, "text"));
    }
    if let Some(session) = &shown.session {
        let about: Vec<&str> = session["about"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
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
        let hand = case["acknowledged_by"].as_str().map_or("open".to_owned(), |by| format!("in hand: {by}"));
        out!(
            "  case      {} {} {}, write by {}, {hand}",
            text(case, "escalation_id"),
            text(case, "severity"),
            text(case, "reason"),
            text(case, "respond_due_at")
        );
    }
    for fact in facts {
        let doubt = if fact["doubtful"] == json!(true) { ", doubtful" } else { "" };
        out!(
            "  known     {} {} ({:.2}{doubt})",
            text(fact, "field"),
            fact["value"],
            fact["confidence"].as_f64().unwrap_or_default()
        );
    }
}

async fn pause(fleet: &Fleet, which: &Which, by: &str, reason: &str, minutes: Option<u32>) -> Result<()> {
    let conversation = which.find(fleet).await?;
    let span = minutes.map(|minutes| fleet.timing.scaled(Duration::from_secs(u64::from(minutes) * 60)));
    let mut tx = fleet.store.bind(&which.casino).await?;
    // A turn in progress can send nothing more (D4).
    tx.cancel_unsent(conversation, "conversation_paused").await?;
    tx.pause(conversation, "operator", span).await?;
    let detail = json!({ "reason": reason, "minutes": minutes });
    note(&mut tx, AuditEvent::ConversationPaused, by, conversation, detail).await?;
    tx.commit().await?;
    out!("{conversation} is yours: the host is silent and keeps what the guest writes.");
    Ok(())
}

async fn takeover(fleet: &Fleet, which: &Which, by: &str, reason: &str) -> Result<()> {
    let conversation = which.find(fleet).await?;
    person::take_over(fleet, &which.casino, conversation, by, reason).await?;
    out!(
        "{conversation} is yours until `seven conversation release`: the host is silent and keeps what the guest writes."
    );
    Ok(())
}

async fn speak(fleet: &Fleet, which: &Which, by: &str, text: String) -> Result<()> {
    let text = if text == "-" { std::io::read_to_string(std::io::stdin()).context("reading stdin")? } else { text };
    let conversation = which.find(fleet).await?;
    let said = person::say(fleet, &which.casino, conversation, by, &text).await?;
    out!("Queued as {} text(s); {} text(s) of the guest count as answered.", said.texts.len(), said.answered);
    for id in &said.texts {
        let (state, reason) = person::outcome(fleet, &which.casino, *id).await?;
        out!("  {id}  {state}{}", reason.map_or_else(String::new, |reason| format!(" ({reason})")));
    }
    Ok(())
}

async fn resume(fleet: &Fleet, which: &Which, by: &str) -> Result<()> {
    let conversation = which.find(fleet).await?;
    let mut tx = fleet.store.bind(&which.casino).await?;
    let resumed = go_on(&mut tx, conversation, by).await?;
    let resumed = resumed.with_context(|| format!("{conversation} is not paused"))?;
    tx.commit().await?;
    announce(fleet, &which.casino, conversation, &resumed).await;
    out!("{conversation} is the host's again; {} text(s) that were kept will be answered.", resumed.released);
    Ok(())
}

/// Ends the pause and records in the audit log who ended it.
pub async fn go_on(tx: &mut Tx, conversation: ConversationId, by: &str) -> Result<Option<Resumed>> {
    let Some(resumed) = tx.resume(conversation).await? else { return Ok(None) };
    let detail = json!({ "reason": resumed.reason, "texts": resumed.released });
    note(tx, AuditEvent::ConversationResumed, by, conversation, detail).await?;
    Ok(Some(resumed))
}

/// Signals the kept texts, after the commit that reopened them; a sweep repeats a lost signal.
pub async fn announce(fleet: &Fleet, casino: &CasinoId, conversation: ConversationId, resumed: &Resumed) {
    if let Some((cause, trace)) = &resumed.first {
        let copy = Some(format!("resume:{}", fleet.ids.uuid()));
        super::told(fleet.bus.signal_conversation(casino, conversation.0, *cause, copy, trace).await);
    }
}

pub(super) async fn note(
    tx: &mut Tx,
    event: AuditEvent,
    by: &str,
    conversation: ConversationId,
    detail: Value,
) -> Result<()> {
    let guest = match tx.shown_conversation(conversation).await? {
        Some(shown) => tx.hash_of(shown.guest_id.into()).await?,
        None => None,
    };
    let subject = conversation.to_string();
    tx.audit(&Entry { event, actor: by, subject: &subject, guest: guest.as_ref(), detail, trace: None }).await?;
    Ok(())
}

//! `seven why`: what happened, over all stages, in the order in which it happened. A phone is read from stdin, never argv.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use chrono::{DateTime, Utc};
use seven_domain::{AuditEvent, CasinoId};
use seven_runtime::Fleet;
use seven_store::{
    audit::Entry,
    timeline::{Subject, Timeline},
};
use uuid::Uuid;

use super::{fleet, given, guest_ref::GuestRef, phrases::sentence};
use crate::out;

#[derive(Debug, clap::Args)]
pub struct Why {
    /// The casino it happened at.
    #[arg(long, value_name = "ID")]
    casino: CasinoId,
    /// Guest id or hmac:<key>:<hex>; - reads a phone from stdin, as does the command without --guest, --text and --trace.
    #[arg(long, value_name = "GUEST", conflicts_with_all = ["text", "trace"])]
    guest: Option<GuestRef>,
    /// The id of a text in, a turn, or a text out.
    #[arg(long, value_name = "ID", value_parser = given::id)]
    text: Option<Uuid>,
    /// A trace, 32 hex digits.
    #[arg(long, value_name = "HEX", conflicts_with = "text")]
    trace: Option<String>,
    /// How many texts, turns and sends at most, the newest.
    #[arg(long, default_value_t = 50)]
    most: i64,
    /// Show what was written, too.
    #[arg(long)]
    reveal: bool,
    /// One JSON document instead of lines.
    #[arg(long)]
    json: bool,
}

pub async fn run(config: Option<&Path>, why: Why) -> Result<()> {
    let fleet = fleet(config).await?;
    super::known(&fleet.store, &why.casino).await?;
    let subject = subject(&fleet, &why).await?;
    let mut tx = fleet.store.bind(&why.casino).await?;
    if why.reveal {
        let about = format!("{subject:?}");
        tx.audit(&Entry::of(AuditEvent::PersonalDataRevealed, "seven why", &about, serde_json::json!({}))).await?;
    }
    let mut timeline = tx.timeline(&subject, why.most).await?;
    tx.commit().await?;
    if !why.reveal {
        mask(&mut timeline);
    }
    if why.json {
        out!("{}", serde_json::to_string(&timeline)?);
        return Ok(());
    }
    let lines = lines(&timeline);
    ensure!(!lines.is_empty(), "nothing is known about this at {}", why.casino);
    for (at, line) in lines {
        out!("{}  {line}", at.format("%Y-%m-%d %H:%M:%S%.3f"));
    }
    Ok(())
}

async fn subject(fleet: &Fleet, why: &Why) -> Result<Subject> {
    if let Some(id) = why.text {
        return Ok(Subject::Text(id));
    }
    if let Some(trace) = &why.trace {
        // A whole traceparent, as other commands print it, will do too.
        let hex = trace.split('-').nth(1).unwrap_or(trace);
        ensure!(hex.len() == 32 && hex.bytes().all(|b| b.is_ascii_hexdigit()), "a trace is 32 hex digits");
        return Ok(Subject::Trace(hex.to_owned()));
    }
    let hash = why.guest.as_ref().unwrap_or(&GuestRef::Stdin).hash(fleet, &why.casino).await?;
    let mut tx = fleet.store.bind(&why.casino).await?;
    let guest = tx.guest_by_hash(&hash).await?;
    tx.commit().await?;
    Ok(Subject::Guest(guest.with_context(|| format!("{} has no such guest", why.casino))?))
}

fn mask(timeline: &mut Timeline) {
    for line in &mut timeline.inbound {
        line.body = format!("[{} characters]", line.body.chars().count());
    }
    for line in &mut timeline.outbound {
        line.body = format!("[{} characters]", line.body.chars().count());
    }
}

fn lines(timeline: &Timeline) -> Vec<(DateTime<Utc>, String)> {
    let mut lines = Vec::new();
    for text in &timeline.inbound {
        let trace = trace_id(&text.trace);
        lines.push((
            text.received_at,
            format!("ingress   text {} received (trace {trace}): {}", text.inbound_id, text.body),
        ));
        let pattern = text.pattern_id.as_deref().map(|p| format!(" ({p})")).unwrap_or_default();
        lines.push((text.stored_at, format!("gate      verdict {}{pattern}", text.verdict)));
        let end = match text.reason.as_deref() {
            Some(reason) => format!("{}, {}", text.disposition, sentence(reason)),
            None => text.disposition.clone(),
        };
        lines.push((text.closed_at.unwrap_or(text.stored_at), format!("text      {end}")));
    }
    for turn in &timeline.turns {
        let sources = if turn.sources.as_array().is_none_or(Vec::is_empty) {
            String::new()
        } else {
            format!(", from {}", turn.sources)
        };
        let reason = turn.reason.as_deref().map(|r| format!(", {}", sentence(r))).unwrap_or_default();
        lines.push((
            turn.created_at,
            format!(
                "swarm     turn by {} ({}): {}{sources}, {}{reason}",
                turn.agent, turn.model, turn.intent, turn.state
            ),
        ));
    }
    for text in &timeline.outbound {
        let from = if text.turn_id.is_some() { "envelope " } else { "gate     " };
        lines.push((
            text.created_at,
            format!(
                "{from} text {} queued as {} ({} of {}, not before {}): {}",
                text.outbound_id,
                text.class,
                text.part,
                text.parts,
                text.not_before.format("%H:%M:%S%.3f"),
                text.body
            ),
        ));
        if let Some(at) = text.ended_at.or(text.sent_at) {
            let reason = text.reason.as_deref().map(|r| format!(", {}", sentence(r))).unwrap_or_default();
            lines.push((at, format!("sender    text {} is {}{reason}", text.outbound_id, text.state)));
        }
    }
    for attempt in &timeline.attempts {
        let detail = attempt.detail.as_deref().map(|d| format!(" ({d})")).unwrap_or_default();
        lines.push((
            attempt.started_at,
            format!("sender    attempt {} at {}: {}{detail}", attempt.attempt_id, attempt.provider, attempt.outcome),
        ));
    }
    for receipt in &timeline.receipts {
        lines.push((receipt.received_at, format!("receipts  {}", receipt.status)));
    }
    lines.sort_by_key(|(at, _)| *at);
    lines
}

/// The trace of a `traceparent`.
pub fn trace_id(traceparent: &str) -> &str {
    traceparent.split('-').nth(1).unwrap_or(traceparent)
}

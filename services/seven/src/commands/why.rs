//! `seven why`: the timeline of a guest, a text or a trace through all stages.

use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};
use chrono::{DateTime, Utc};
use seven_domain::AuditEvent;
use seven_runtime::Fleet;
use seven_staff::phrases::sentence;
use seven_store::{
    audit::Entry,
    prefix::Named,
    timeline::{Subject, Timeline},
};

use super::{
    args::{Casino, Json, Reveal},
    context::{Context, Operate},
    guest_ref::GuestRef,
    id_prefix::IdPrefix,
};
use crate::out;

#[derive(Debug, clap::Args)]
pub struct Why {
    #[command(flatten)]
    of: Casino,
    /// The guest: phone, guest id, hmac:<key>:<hex>, or - to read a phone from stdin. If --guest,
    /// --text and --trace are all missing: a phone on stdin.
    #[arg(long, value_name = "GUEST", conflicts_with_all = ["text", "trace"])]
    guest: Option<GuestRef>,
    /// Id of an inbound text, a turn or an outbound text; a unique prefix is enough.
    #[arg(long, value_name = "ID")]
    text: Option<IdPrefix>,
    /// Id of a trace, 32 hex digits.
    #[arg(long, value_name = "HEX", conflicts_with = "text")]
    trace: Option<String>,
    /// Number of rows to show, at most, for each of inbound texts, turns and outbound texts: the
    /// newest.
    #[arg(long, value_name = "N", default_value_t = 50)]
    most: i64,
    #[command(flatten)]
    reveal: Reveal,
    #[command(flatten)]
    json: Json,
}

impl Operate for Why {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        why(ctx, &self).await?;
        Ok(ExitCode::SUCCESS)
    }
}

async fn why(ctx: &Context, why: &Why) -> Result<()> {
    let fleet = ctx.fleet().await?;
    let casino = &why.of.casino;
    super::known(&fleet.store, casino).await?;
    let subject = subject(fleet, why).await?;
    let reveal = why.reveal.reveal;
    let mut tx = fleet.store.bind(casino).await?;
    if reveal {
        let about = format!("{subject:?}");
        tx.audit(&Entry::of(
            AuditEvent::PersonalDataRevealed,
            "seven why",
            &about,
            serde_json::json!({}),
        ))
        .await?;
    }
    let mut timeline = tx.timeline(&subject, why.most).await?;
    tx.commit().await?;
    if !reveal {
        mask(&mut timeline);
    }
    if why.json.json {
        out!("{}", serde_json::to_string(&timeline)?);
        return Ok(());
    }
    let lines = lines(&timeline);
    ensure!(!lines.is_empty(), "{casino} has nothing about this");
    for (at, line) in lines {
        out!("{}  {line}", at.format("%Y-%m-%d %H:%M:%S%.3f"));
    }
    Ok(())
}

async fn subject(fleet: &Fleet, why: &Why) -> Result<Subject> {
    let casino = &why.of.casino;
    if let Some(id) = &why.text {
        let mut tx = fleet.store.bind(casino).await?;
        let id = id.find(&mut tx, Named::Text).await?;
        tx.commit().await?;
        return Ok(Subject::Text(id));
    }
    if let Some(trace) = &why.trace {
        // A whole traceparent, as other commands print it, is accepted too.
        let hex = trace.split('-').nth(1).unwrap_or(trace);
        ensure!(
            hex.len() == 32 && hex.bytes().all(|b| b.is_ascii_hexdigit()),
            "a trace is 32 hex digits"
        );
        return Ok(Subject::Trace(hex.to_owned()));
    }
    let hash = why
        .guest
        .as_ref()
        .unwrap_or(&GuestRef::Stdin)
        .hash(fleet, casino)
        .await?;
    let mut tx = fleet.store.bind(casino).await?;
    let guest = tx.guest_by_hash(&hash).await?;
    tx.commit().await?;
    Ok(Subject::Guest(
        guest.with_context(|| format!("{casino} has no such guest"))?,
    ))
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
            format!(
                "ingress   text {} received (trace {trace}): {}",
                text.inbound_id, text.body
            ),
        ));
        let pattern = text
            .pattern_id
            .as_deref()
            .map(|p| format!(" ({p})"))
            .unwrap_or_default();
        lines.push((
            text.stored_at,
            format!("gate      verdict {}{pattern}", text.verdict),
        ));
        let end = match text.reason.as_deref() {
            Some(reason) => format!("{}, {}", text.disposition, sentence(reason)),
            None => text.disposition.to_string(),
        };
        lines.push((
            text.closed_at.unwrap_or(text.stored_at),
            format!("text      {end}"),
        ));
    }
    for turn in &timeline.turns {
        let sources = if turn.sources.as_array().is_none_or(Vec::is_empty) {
            String::new()
        } else {
            format!(", from {}", turn.sources)
        };
        let reason = turn
            .reason
            .as_deref()
            .map(|r| format!(", {}", sentence(r)))
            .unwrap_or_default();
        lines.push((
            turn.created_at,
            format!(
                "swarm     turn by {} ({}): {}{sources}, {}{reason}",
                turn.agent, turn.model, turn.intent, turn.state
            ),
        ));
    }
    for text in &timeline.outbound {
        let from = if text.turn_id.is_some() {
            "envelope "
        } else {
            "gate     "
        };
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
            let reason = text
                .reason
                .as_deref()
                .map(|r| format!(", {}", sentence(r)))
                .unwrap_or_default();
            lines.push((
                at,
                format!(
                    "sender    text {} is {}{reason}",
                    text.outbound_id, text.state
                ),
            ));
        }
    }
    for attempt in &timeline.attempts {
        let detail = attempt
            .detail
            .as_deref()
            .map(|d| format!(" ({d})"))
            .unwrap_or_default();
        lines.push((
            attempt.started_at,
            format!(
                "sender    attempt {} at {}: {}{detail}",
                attempt.attempt_id, attempt.provider, attempt.outcome
            ),
        ));
    }
    for receipt in &timeline.receipts {
        lines.push((receipt.received_at, format!("receipts  {}", receipt.status)));
    }
    lines.sort_by_key(|(at, _)| *at);
    lines
}

/// Returns the trace id of a `traceparent`.
pub fn trace_id(traceparent: &str) -> &str {
    traceparent.split('-').nth(1).unwrap_or(traceparent)
}

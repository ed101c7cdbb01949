//! `seven turn show|list` (the others are in `facts`): why the host said what it said (AGENT-7, AGENT-75). Texts are masked unless `--reveal`, which is audited.

use std::path::Path;

use anyhow::{Context, Result};
use clap::Subcommand;
use seven_domain::{AuditEvent, CasinoId};
use seven_host::{Record, record::Usage};
use seven_store::{audit::Entry, turns::ToldTurn};
use uuid::Uuid;

use super::{facts, fleet, given, hidden, phrases::sentence};
use crate::out;

#[derive(Debug, Subcommand)]
pub enum Turn {
    /// One turn: its route, agents, rows, checks and what became of it.
    Show {
        /// The turn's id, as `list` and `why` print it.
        #[arg(value_parser = given::id)]
        id: Uuid,
        /// The casino whose host spoke.
        #[arg(long, value_name = "ID")]
        casino: CasinoId,
        /// Show what was written, too.
        #[arg(long)]
        reveal: bool,
        /// One JSON document instead of lines.
        #[arg(long)]
        json: bool,
    },
    /// The newest turns, newest first.
    List {
        /// The casino whose host spoke.
        #[arg(long, value_name = "ID")]
        casino: CasinoId,
        /// How many at most.
        #[arg(long, default_value_t = 20)]
        most: i64,
        /// One JSON line per turn instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Copy the figures of all finished turns to the table for analysis; the night does those of the day. May be repeated.
    Copy(facts::Copy),
    /// The copied figures as JSON lines, one per turn, without guests and texts.
    Export(facts::Export),
    /// The weekly review: per week how many turns, from content rows or not, and how they went.
    Weeks(facts::Weeks),
}

pub async fn run(config: Option<&Path>, command: Turn) -> Result<()> {
    let command = match command {
        Turn::Copy(command) => return facts::copy(config, &command).await,
        Turn::Export(command) => return facts::export(config, &command).await,
        Turn::Weeks(command) => return facts::weeks(config, &command).await,
        other => other,
    };
    let fleet = fleet(config).await?;
    match command {
        Turn::Copy(_) | Turn::Export(_) | Turn::Weeks(_) => {}
        Turn::Show { id, casino, reveal, json } => {
            super::known(&fleet.store, &casino).await?;
            let mut tx = fleet.store.bind(&casino).await?;
            let told = tx.told_turn(id).await?;
            let mut told = told.with_context(|| format!("{casino} has no turn {id}; `seven turn list` shows them"))?;
            if reveal {
                let about = id.to_string();
                tx.audit(&Entry::of(AuditEvent::PersonalDataRevealed, "seven turn", &about, serde_json::json!({})))
                    .await?;
            } else {
                mask(&mut told);
            }
            tx.commit().await?;
            if json {
                out!("{}", serde_json::to_string(&told)?);
            } else {
                show(&told)?;
            }
        }
        Turn::List { casino, most, json } => {
            super::known(&fleet.store, &casino).await?;
            let mut tx = fleet.store.bind(&casino).await?;
            let lines = tx.newest_turns(most).await?;
            tx.commit().await?;
            if json {
                lines.iter().try_for_each(|line| serde_json::to_string(line).map(|text| out!("{text}")))?;
                return Ok(());
            }
            let mut table = super::table(["turn", "agent", "intent", "model", "grounded", "findings", "state", "made"]);
            for line in lines {
                table.add_row([
                    line.turn_id.to_string(),
                    line.agent,
                    line.intent,
                    line.model,
                    if line.grounded { "yes" } else { "no" }.to_owned(),
                    line.findings.to_string(),
                    line.state,
                    line.created_at.format("%Y-%m-%d %H:%M:%S").to_string(),
                ]);
            }
            out!("{table}");
        }
    }
    Ok(())
}

/// Takes out what a guest or the host wrote; what remains says how long it was.
fn mask(told: &mut ToldTurn) {
    told.draft = hidden(&told.draft);
    for text in told.texts.as_array_mut().into_iter().flatten() {
        let masked = hidden(text["text"].as_str().unwrap_or_default());
        text["text"] = masked.into();
    }
    // Tools are called with the guest's words, and the planner's note may repeat them.
    for call in told.record.get_mut("tools").and_then(|tools| tools.as_array_mut()).into_iter().flatten() {
        for part in ["arguments", "result"] {
            call[part] = "(hidden)".into();
        }
    }
    if let Some(note) = told.record.pointer_mut("/plan/conversation_note") {
        *note = "(hidden)".into();
    }
    // A finding names what the reply said.
    if let Some(findings) = told.record.get_mut("findings").and_then(|findings| findings.as_array_mut()) {
        findings.iter_mut().for_each(|finding| {
            if let Some(kind) = finding.get("unfounded").and_then(|what| what.as_object()?.keys().next().cloned()) {
                finding["unfounded"] = serde_json::json!({ kind: "(hidden)" });
            }
        });
    }
}

fn show(told: &ToldTurn) -> Result<()> {
    let record: Record = serde_json::from_value(told.record.clone()).context("reading the turn's record")?;
    out!("{} by {} ({}{})", told.turn_id, told.agent, told.model, if record.degraded { ", degraded" } else { "" });
    for text in told.texts.as_array().into_iter().flatten() {
        out!("  guest     {}", text["text"].as_str().unwrap_or_default());
    }
    out!("  path      {}", record.path.join(" > "));
    if let Some(route) = &record.route {
        let domain = route.domain.as_deref().unwrap_or("no domain");
        out!("  route     {:?}, {domain}, confidence {:.2}", route.subject, route.confidence);
    }
    if let Some(plan) = &record.plan {
        out!("  plan      {:?} next, offer readiness {:.2}", plan.next_topic, plan.offer_readiness);
        if !plan.conversation_note.is_empty() {
            out!("  note      {}", plan.conversation_note);
        }
    }
    out!(
        "  intent    {} in {}, {}",
        told.intent,
        told.language,
        if told.grounded { "grounded" } else { "not all of it answered" }
    );
    for row in &record.context {
        let score = row.score.map(|score| format!(", score {score:.2}")).unwrap_or_default();
        out!("  row       {} {}{score}", row.id, row.name);
    }
    for call in &record.tools {
        out!("  tool      {} {} -> {} ({} ms)", call.name, call.arguments, call.result, call.millis);
    }
    for finding in &record.findings {
        out!("  finding   {}", finding.feedback());
    }
    for step in &record.steps {
        let billed = step.usage.and_then(billed).map(|billed| format!(", {billed}")).unwrap_or_default();
        let failed = step.failed.as_deref().map(|kind| format!(", failed ({kind})")).unwrap_or_default();
        let kept = if step.kept { ", kept from an earlier try" } else { "" };
        out!("  step      {} {:.1} ms{billed}{failed}{kept}", step.name, step.micros as f64 / 1000.0);
    }
    if let Some(billed) = billed(record.usage) {
        out!("  tokens    {billed}");
    }
    out!("  draft     {}", told.draft);
    if let Some(kind) = &told.disclosure_kind {
        out!("  disclosed that an AI writes ({kind})");
    }
    let reason = told.reason.as_deref().map(|reason| format!(": {}", sentence(reason))).unwrap_or_default();
    out!("  state     {}{reason}", told.state);
    for text in told.sent.as_array().into_iter().flatten() {
        out!(
            "  text      {} {}, {} segment(s)",
            text["id"].as_str().unwrap_or_default(),
            text["state"].as_str().unwrap_or_default(),
            text["segments"]
        );
    }
    out!("  trace     {}", told.trace.split('-').nth(1).unwrap_or(&told.trace));
    Ok(())
}

/// Tokens and dollars; nothing where a model costs nothing.
fn billed(usage: Usage) -> Option<String> {
    let Usage { input_tokens, output_tokens, nano_dollars } = usage;
    let dollars = nano_dollars as f64 / 1e9;
    (input_tokens + output_tokens > 0).then(|| format!("{input_tokens} in, {output_tokens} out, ${dollars:.6}"))
}

//! `seven turn`: why the host said what it said. Texts are masked unless
//! `--reveal` is given, which is audited. `copy`, `export` and `weeks` are in `facts`.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use seven_domain::AuditEvent;
use seven_host::{Record, record::Usage};
use seven_runtime::Fleet;
use seven_store::{audit::Entry, prefix::Named, turns::ShownTurn};

use super::{
    args::{Casino, Json, Reveal},
    context::{Context, Operate},
    facts, hidden,
    id_prefix::IdPrefix,
    json_rows, known, minute,
    phrases::sentence,
};
use crate::out;

#[derive(Debug, Subcommand)]
pub enum Turn {
    /// List turns, the newest first.
    List(List),
    /// Show one turn: its route, agents, content rows, checks and outcome.
    Show(Show),
    /// Copy the figures of finished turns to the table for analysis.
    ///
    /// The scheduler does this each night. A second copy of the same turn changes nothing.
    Copy(facts::Copy),
    /// Print the copied figures as JSON lines, one per turn, without guests and texts.
    Export(facts::Export),
    /// Show per week how many turns there were, how many content rows answered, and how they went.
    Weeks(facts::Weeks),
}

#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    of: Casino,
    /// Number of rows to show, at most.
    #[arg(long, value_name = "N", default_value_t = 20)]
    most: i64,
    #[command(flatten)]
    json: Json,
}

#[derive(Debug, Args)]
pub struct Show {
    /// The turn's id, as `turn list` and `why` print it; a unique prefix is enough.
    id: IdPrefix,
    #[command(flatten)]
    of: Casino,
    #[command(flatten)]
    reveal: Reveal,
    #[command(flatten)]
    json: Json,
}

impl Operate for Turn {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        let fleet = ctx.fleet().await?;
        match self {
            Self::List(command) => list(ctx, fleet, command).await?,
            Self::Show(command) => show_one(fleet, command).await?,
            Self::Copy(command) => return facts::copy(fleet, &command).await,
            Self::Export(command) => facts::export(fleet, &command).await?,
            Self::Weeks(command) => facts::weeks(ctx, fleet, &command).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

async fn show_one(
    fleet: &Fleet,
    Show {
        id,
        of: Casino { casino },
        reveal,
        json,
    }: Show,
) -> Result<()> {
    known(&fleet.store, &casino).await?;
    let mut tx = fleet.store.bind(&casino).await?;
    let id = id.find(&mut tx, Named::Turn).await?;
    let told = tx.shown_turn(id).await?;
    let mut told =
        told.with_context(|| format!("{casino} has no turn {id}; `seven turn list` shows them"))?;
    if reveal.reveal {
        let about = id.to_string();
        let entry = Entry::of(
            AuditEvent::PersonalDataRevealed,
            "seven turn",
            &about,
            serde_json::json!({}),
        );
        tx.audit(&entry).await?;
    } else {
        mask(&mut told);
    }
    tx.commit().await?;
    if json.json {
        out!("{}", serde_json::to_string(&told)?);
        return Ok(());
    }
    show(&told)
}

async fn list(
    ctx: &Context,
    fleet: &Fleet,
    List {
        of: Casino { casino },
        most,
        json,
    }: List,
) -> Result<()> {
    known(&fleet.store, &casino).await?;
    let mut tx = fleet.store.bind(&casino).await?;
    let lines = tx.newest_turns(most).await?;
    tx.commit().await?;
    if json.json {
        return json_rows(&lines);
    }
    let columns = [
        "turn", "agent", "intent", "grounded", "state", "made", "findings", "model",
    ];
    let mut table = ctx.table(columns).ids(["turn"]).wide(["findings", "model"]);
    for line in lines {
        table.add_row([
            line.turn_id.to_string(),
            line.agent,
            line.intent,
            if line.grounded { "yes" } else { "no" }.to_owned(),
            line.state.to_string(),
            minute(line.created_at),
            line.findings.to_string(),
            line.model,
        ]);
    }
    out!("{table}");
    Ok(())
}

/// Replaces the words of the guest and the host by their length.
fn mask(told: &mut ShownTurn) {
    told.draft = hidden(&told.draft);
    for text in told.texts.as_array_mut().into_iter().flatten() {
        let masked = hidden(text["text"].as_str().unwrap_or_default());
        text["text"] = masked.into();
    }
    // Tools are called with the guest's words, and the planner's note may repeat them.
    for call in told
        .record
        .get_mut("tools")
        .and_then(|tools| tools.as_array_mut())
        .into_iter()
        .flatten()
    {
        for part in ["arguments", "result"] {
            call[part] = "(hidden)".into();
        }
    }
    if let Some(note) = told.record.pointer_mut("/plan/conversation_note") {
        *note = "(hidden)".into();
    }
    // A finding names what the reply said.
    if let Some(findings) = told
        .record
        .get_mut("findings")
        .and_then(|findings| findings.as_array_mut())
    {
        findings.iter_mut().for_each(|finding| {
            if let Some(kind) = finding
                .get("unfounded")
                .and_then(|what| what.as_object()?.keys().next().cloned())
            {
                finding["unfounded"] = serde_json::json!({ kind: "(hidden)" });
            }
        });
    }
}

fn show(told: &ShownTurn) -> Result<()> {
    let record: Record =
        serde_json::from_value(told.record.clone()).context("reading the turn's record")?;
    out!(
        "{} by {} ({}{})",
        told.turn_id,
        told.agent,
        told.model,
        if record.degraded { ", degraded" } else { "" }
    );
    for text in told.texts.as_array().into_iter().flatten() {
        out!("  guest     {}", text["text"].as_str().unwrap_or_default());
    }
    out!("  path      {}", record.path.join(" > "));
    if let Some(why) = &record.stood_in {
        out!(
            "  offline   the hosted model did not answer: {}",
            sentence(why)
        );
    }
    if let Some(route) = &record.route {
        let domain = route.domain.as_deref().unwrap_or("no domain");
        out!(
            "  route     {:?}, {domain}, confidence {:.2}",
            route.subject,
            route.confidence
        );
    }
    if let Some(plan) = &record.plan {
        out!(
            "  plan      {:?} next, offer readiness {:.2}",
            plan.next_topic,
            plan.offer_readiness
        );
        if !plan.conversation_note.is_empty() {
            out!("  note      {}", plan.conversation_note);
        }
    }
    out!(
        "  intent    {} in {}, {}",
        told.intent,
        told.language,
        if told.grounded {
            "grounded"
        } else {
            "not all of it answered"
        }
    );
    for row in &record.context {
        let score = row
            .score
            .map(|score| format!(", score {score:.2}"))
            .unwrap_or_default();
        out!("  row       {} {}{score}", row.id, row.name);
    }
    for call in &record.tools {
        out!(
            "  tool      {} {} -> {} ({} ms)",
            call.name,
            call.arguments,
            call.result,
            call.millis
        );
    }
    for finding in &record.findings {
        out!("  finding   {}", finding.feedback());
    }
    for step in &record.steps {
        let billed = step
            .usage
            .and_then(billed)
            .map(|billed| format!(", {billed}"))
            .unwrap_or_default();
        let failed = step
            .failed
            .as_deref()
            .map(|kind| format!(", failed ({kind})"))
            .unwrap_or_default();
        let kept = if step.kept {
            ", kept from an earlier try"
        } else {
            ""
        };
        out!(
            "  step      {} {:.1} ms{billed}{failed}{kept}",
            step.name,
            step.micros as f64 / 1000.0
        );
    }
    if let Some(billed) = billed(record.usage) {
        out!("  tokens    {billed}");
    }
    out!("  draft     {}", told.draft);
    if let Some(kind) = told.disclosure_kind {
        out!("  disclosed that an AI writes ({kind})");
    }
    let reason = told
        .reason
        .as_deref()
        .map(|reason| format!(": {}", sentence(reason)))
        .unwrap_or_default();
    out!("  state     {}{reason}", told.state);
    for text in told.sent.as_array().into_iter().flatten() {
        out!(
            "  text      {} {}, {} segment(s)",
            text["id"].as_str().unwrap_or_default(),
            text["state"].as_str().unwrap_or_default(),
            text["segments"]
        );
    }
    out!(
        "  trace     {}",
        told.trace.split('-').nth(1).unwrap_or(&told.trace)
    );
    Ok(())
}

/// Tokens and dollars; nothing where a model costs nothing.
fn billed(usage: Usage) -> Option<String> {
    let Usage {
        input_tokens,
        output_tokens,
        nano_dollars,
    } = usage;
    let dollars = nano_dollars as f64 / 1e9;
    (input_tokens + output_tokens > 0)
        .then(|| format!("{input_tokens} in, {output_tokens} out, ${dollars:.6}"))
}

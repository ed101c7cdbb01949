//! `seven message show|list`: the history of one text that we sent, or the newest texts.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use serde_json::json;
use seven_domain::{OutboundId, OutboundState};
use seven_runtime::Fleet;
use seven_staff::phrases::sentence;
use seven_store::{
    prefix::Named,
    timeline::{AttemptLine, OutboundLine, ReceiptLine},
};

use super::{
    args::{Casino, Json},
    context::{Context, Operate},
    id_prefix::IdPrefix,
    json_rows, known, minute,
};
use crate::out;

#[derive(Debug, Subcommand)]
pub enum Message {
    /// List outbound texts, the newest first.
    List(List),
    /// Show one outbound text with its attempts and delivery receipts.
    Show(Show),
}

#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    of: Casino,
    /// State of the texts: queued, sending, sent, delivered, failed, undelivered, unknown,
    /// suppressed or expired.
    #[arg(long, value_name = "STATE")]
    state: Option<OutboundState>,
    /// Number of rows to show, at most.
    #[arg(long, value_name = "N", default_value_t = 20)]
    most: i64,
    #[command(flatten)]
    json: Json,
}

#[derive(Debug, Args)]
pub struct Show {
    /// The text's id, as `message list` and `why` print it; a unique prefix is enough.
    id: IdPrefix,
    #[command(flatten)]
    of: Casino,
    #[command(flatten)]
    json: Json,
}

impl Operate for Message {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        let fleet = ctx.fleet().await?;
        match self {
            Self::List(command) => list(ctx, fleet, command).await?,
            Self::Show(command) => show_one(fleet, command).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

async fn show_one(
    fleet: &Fleet,
    Show {
        id,
        of: Casino { casino },
        json,
    }: Show,
) -> Result<()> {
    known(&fleet.store, &casino).await?;
    let mut tx = fleet.store.bind(&casino).await?;
    let id = OutboundId(id.find(&mut tx, Named::Outbound).await?);
    let line = tx.outbound_line(id).await?;
    let line = line
        .with_context(|| format!("{casino} has no text {id}; `seven message list` shows them"))?;
    let (attempts, receipts) = tx.sends(&[id.0]).await?;
    tx.commit().await?;
    if json.json {
        out!(
            "{}",
            json!({ "message": line, "attempts": attempts, "receipts": receipts })
        );
    } else {
        show(&line, &attempts, &receipts);
    }
    Ok(())
}

fn show(line: &OutboundLine, attempts: &[AttemptLine], receipts: &[ReceiptLine]) {
    out!(
        "{} ({}, part {} of {}, {} segment(s) {})",
        line.outbound_id,
        line.class,
        line.part,
        line.parts,
        line.segments,
        line.encoding
    );
    out!("  state     {}", line.state);
    if let Some(reason) = &line.reason {
        out!("  reason    {}", sentence(reason));
    }
    out!(
        "  queued    {}, not before {}",
        line.created_at,
        line.not_before
    );
    if let Some(campaign) = line.campaign_id {
        out!("  campaign  {campaign}");
    }
    if let Some(risk) = line.risk_score_at_send {
        out!("  risk      {risk:.2} of 1 that carriers filter it, when it was sent");
    }
    for attempt in attempts {
        let error = attempt
            .error_code
            .as_deref()
            .filter(|code| !code.is_empty())
            .map(|code| format!(" {}", provider_said(&attempt.provider, code)))
            .unwrap_or_default();
        let detail = attempt
            .detail
            .as_deref()
            .map(|text| format!(" ({text})"))
            .unwrap_or_default();
        out!(
            "  attempt   {} {} {}{error}{detail}",
            attempt.started_at,
            attempt.provider,
            attempt.outcome
        );
    }
    for receipt in receipts {
        out!("  receipt   {} {}", receipt.occurred_at, receipt.status);
    }
    out!(
        "  trace     {}",
        line.trace.split('-').nth(1).unwrap_or(&line.trace)
    );
}

/// Returns the provider's error code with its meaning.
fn provider_said(provider: &str, code: &str) -> String {
    let meant = seven_providers::verdict(provider, code, 0);
    if meant.known {
        format!("{code}: {}", meant.meaning)
    } else {
        sentence(code)
    }
}

async fn list(
    ctx: &Context,
    fleet: &Fleet,
    List {
        of: Casino { casino },
        state,
        most,
        json,
    }: List,
) -> Result<()> {
    known(&fleet.store, &casino).await?;
    let mut tx = fleet.store.bind(&casino).await?;
    let lines = tx.outbound_list(state, most).await?;
    tx.commit().await?;
    if json.json {
        return json_rows(&lines);
    }
    let mut table = ctx
        .table(["text", "class", "state", "reason", "queued", "trace"])
        .ids(["text"])
        .wide(["trace"]);
    for line in lines {
        table.add_row([
            line.outbound_id.to_string(),
            line.class.to_string(),
            line.state.to_string(),
            line.reason.unwrap_or_default(),
            minute(line.created_at),
            super::why::trace_id(&line.trace).to_owned(),
        ]);
    }
    out!("{table}");
    Ok(())
}

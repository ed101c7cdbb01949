//! `seven message show|list`: the life of one text we sent, or the newest ones.

use std::path::Path;

use anyhow::{Context, Result};
use clap::Subcommand;
use serde_json::json;
use seven_domain::{CasinoId, OutboundId, OutboundState};
use seven_store::timeline::{AttemptLine, OutboundLine, ReceiptLine};

use super::{fleet, phrases::sentence};
use crate::out;

#[derive(Debug, Subcommand)]
pub enum Message {
    /// One text with every attempt and receipt.
    Show {
        /// The text's id, as `list` and `why` print it.
        id: OutboundId,
        /// The casino that sent it.
        #[arg(long, value_name = "ID")]
        casino: CasinoId,
        /// One JSON document instead of lines.
        #[arg(long)]
        json: bool,
    },
    /// The newest texts, newest first; `--state unknown` lists those nobody can vouch for.
    List {
        /// The casino that sent them.
        #[arg(long, value_name = "ID")]
        casino: CasinoId,
        /// Only texts in this state: queued, sending, sent, delivered, failed, undelivered, unknown, suppressed, expired.
        #[arg(long, value_name = "STATE")]
        state: Option<OutboundState>,
        /// How many at most.
        #[arg(long, default_value_t = 20)]
        most: i64,
        /// One JSON line per text instead of a table.
        #[arg(long)]
        json: bool,
    },
}

pub async fn run(config: Option<&Path>, command: Message) -> Result<()> {
    let fleet = fleet(config).await?;
    match command {
        Message::Show { id, casino, json } => {
            super::known(&fleet.store, &casino).await?;
            let mut tx = fleet.store.bind(&casino).await?;
            let line = tx
                .outbound_line(id)
                .await?
                .with_context(|| format!("{casino} has no text {id}; `seven message list` shows them"))?;
            let (attempts, receipts) = tx.sends(&[id.0]).await?;
            tx.commit().await?;
            if json {
                out!("{}", json!({ "message": line, "attempts": attempts, "receipts": receipts }));
            } else {
                show(&line, &attempts, &receipts);
            }
        }
        Message::List { casino, state, most, json } => {
            super::known(&fleet.store, &casino).await?;
            let mut tx = fleet.store.bind(&casino).await?;
            let lines = tx.outbound_list(state.map(OutboundState::as_str), most).await?;
            tx.commit().await?;
            if json {
                lines.iter().try_for_each(|line| serde_json::to_string(line).map(|text| out!("{text}")))?;
            } else {
                list(lines);
            }
        }
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
    out!("  queued    {}, not before {}", line.created_at, line.not_before);
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
        let detail = attempt.detail.as_deref().map(|text| format!(" ({text})")).unwrap_or_default();
        out!("  attempt   {} {} {}{error}{detail}", attempt.started_at, attempt.provider, attempt.outcome);
    }
    for receipt in receipts {
        out!("  receipt   {} {}", receipt.occurred_at, receipt.status);
    }
    out!("  trace     {}", line.trace.split('-').nth(1).unwrap_or(&line.trace));
}

/// The provider's code with what its table says of it.
fn provider_said(provider: &str, code: &str) -> String {
    let meant = seven_providers::verdict(provider, code, 0);
    if meant.known { format!("{code}: {}", meant.meaning) } else { sentence(code) }
}

fn list(lines: Vec<OutboundLine>) {
    let mut table = super::table(["text", "class", "state", "reason", "queued"]);
    for line in lines {
        table.add_row([
            line.outbound_id.to_string(),
            line.class,
            line.state,
            line.reason.unwrap_or_default(),
            line.created_at.format("%Y-%m-%d %H:%M:%S").to_string(),
        ]);
    }
    out!("{table}");
}

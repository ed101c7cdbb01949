//! `seven cost report`: what each casino used and cost in a month (OBS-43).

use std::path::Path;

use anyhow::Result;
use chrono::Utc;
use clap::Subcommand;
use seven_domain::CasinoId;

use super::{fleet, known};
use crate::{
    cost::{self, Month},
    out,
    settings::Settings,
};

#[derive(Debug, Subcommand)]
pub enum Cost {
    /// Tokens, segments and conversations of a month (by UTC), with the prices of [cost].
    Report {
        /// Such as 2026-11; without it the current month so far.
        #[arg(long, value_name = "MONTH")]
        month: Option<Month>,
        /// This casino only.
        #[arg(long, value_name = "ID")]
        casino: Option<CasinoId>,
        /// One JSON document per casino instead of a table; money in billionths of a dollar.
        #[arg(long)]
        json: bool,
    },
}

pub async fn run(config: Option<&Path>, command: Cost) -> Result<()> {
    let Cost::Report { month, casino, json } = command;
    let fleet = fleet(config).await?;
    if let Some(casino) = &casino {
        known(&fleet, casino).await?;
    }
    let prices = Settings::load(config)?.cost;
    let now = chrono::DateTime::<Utc>::from(std::time::SystemTime::now());
    let month = month.unwrap_or_else(|| Month::of(now));
    let costs = cost::month(&fleet, &prices, month, casino.as_ref().map(CasinoId::as_str)).await?;
    if json {
        costs.iter().try_for_each(|cost| serde_json::to_string(cost).map(|line| out!("{line}")))?;
        return Ok(());
    }
    let mut table = super::table([
        "casino",
        "conversations",
        "turns",
        "tokens in",
        "tokens out",
        "segments in",
        "segments out",
        "model",
        "sms",
        "fixed",
        "total",
        "per conversation",
    ]);
    for each in &costs {
        let used = &each.used;
        table.add_row([
            each.casino.clone(),
            used.conversations.to_string(),
            used.turns.to_string(),
            used.input_tokens.to_string(),
            used.output_tokens.to_string(),
            used.segments_in.to_string(),
            used.segments_out.to_string(),
            each.model.to_string(),
            each.sms.to_string(),
            each.fixed.to_string(),
            each.total.to_string(),
            each.per_conversation.map_or_else(|| "-".to_owned(), |cost| cost.to_string()),
        ]);
    }
    out!("{month}, at the prices of [cost]; a guest's segments by length");
    out!("{table}");
    Ok(())
}

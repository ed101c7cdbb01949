//! `seven cost report|project`: what each casino used and cost in a month (OBS-43), and what a month will cost (OBS-42).

use std::path::Path;

use anyhow::{Context, Result, ensure};
use chrono::Utc;
use clap::{Args, Subcommand};
use seven_cost::{
    self, Month, Usd,
    projection::{Assumed, Projection},
};
use seven_domain::CasinoId;
use seven_runtime::Fleet;
use seven_settings::Settings;
use seven_store::cost::UsedByStep;

use super::{fleet, given, known};
use crate::out;

#[derive(Debug, Subcommand)]
pub enum Cost {
    /// Tokens, segments and conversations of a month (by UTC), with the prices of [cost]; of turns and texts that are still kept.
    Report {
        /// Such as 2026-11; without it the current month so far.
        #[arg(long, value_name = "MONTH")]
        month: Option<Month>,
        /// This casino only.
        #[arg(long, value_name = "ID")]
        casino: Option<CasinoId>,
        /// Show the calls of hosted models by step instead: how many, and tokens and cost of the
        /// average one.
        #[arg(long)]
        by_step: bool,
        /// One JSON document per casino, or per step, instead of a table; money in billionths of a dollar.
        #[arg(long)]
        json: bool,
    },
    /// Project the cost of a month of 30 days: that of the models by the specification's formula,
    /// or the whole at what a casino's conversations have cost this month.
    Project(Project),
}

#[derive(Debug, Args)]
pub struct Project {
    /// Conversations a day.
    #[arg(long, value_name = "NUMBER", value_parser = positive)]
    per_day: f64,
    /// At what this casino's conversations cost this month, texts and fixed costs included; the four figures below do not count then.
    #[arg(long, value_name = "ID")]
    casino: Option<CasinoId>,
    /// Turns of a conversation.
    #[arg(long, value_name = "NUMBER", default_value = "4", value_parser = positive)]
    turns: f64,
    /// Share of turns that need a second draft, 0 to 1.
    #[arg(long, value_name = "SHARE", default_value = "0.15", value_parser = given::share)]
    retries: f64,
    /// Dollars of model calls for a turn.
    #[arg(long, value_name = "USD", default_value = "0.00025")]
    turn: Usd,
    /// Dollars of model calls for a turn with a second draft.
    #[arg(long, value_name = "USD", default_value = "0.00038")]
    retried_turn: Usd,
    /// One JSON document; money in billionths of a dollar.
    #[arg(long)]
    json: bool,
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| *number > 0.0 && *number <= 1e6);
    number.ok_or_else(|| format!("`{text}` is no number of more than 0 and at most a million, such as 42"))
}

pub async fn run(config: Option<&Path>, command: Cost) -> Result<()> {
    match command {
        Cost::Report { month, casino, by_step, json } => {
            let fleet = fleet(config).await?;
            if let Some(casino) = &casino {
                known(&fleet.store, casino).await?;
            }
            let (month, only) = (begun(month)?, casino.as_ref().map(CasinoId::as_str));
            if by_step {
                steps(&fleet, month, only, json).await
            } else {
                report(&fleet, config, month, only, json).await
            }
        }
        Cost::Project(command) => project(config, &command).await,
    }
}

async fn project(config: Option<&Path>, command: &Project) -> Result<()> {
    let month = match &command.casino {
        None => Assumed {
            conversations_per_day: command.per_day,
            turns_per_conversation: command.turns,
            retry_rate: command.retries,
            turn: command.turn,
            retried_turn: command.retried_turn,
            ..Assumed::default()
        }
        .project(),
        Some(casino) => {
            let fleet = fleet(config).await?;
            known(&fleet.store, casino).await?;
            let this = Month::of(fleet.clock.now());
            let costs = seven_cost::month(&fleet, &Settings::load(config)?.cost, this, Some(casino.as_str())).await?;
            let month = costs.first().and_then(|cost| Projection::like(cost, command.per_day));
            month.with_context(|| {
                format!("{casino} has had no conversation in {this}; leave --casino out for the formula")
            })?
        }
    };
    if command.json {
        out!("{}", serde_json::to_string(&month)?);
        return Ok(());
    }
    out!("{:.0} conversations and {:.0} turns in 30 days", month.conversations, month.turns);
    out!("  model             {}", month.model);
    match &command.casino {
        None => out!("  embedding         {}", month.embedding),
        Some(_) => {
            out!("  sms               {}", month.sms);
            out!("  fixed             {}", month.fixed);
        }
    }
    out!("  total             {}", month.total);
    out!("  per conversation  {}", month.per_conversation);
    if command.casino.is_none() {
        out!("Model calls alone; texts and fixed costs, which are most of a bill, come with --casino ID.");
    }
    Ok(())
}

/// The given month, else this one.
fn begun(month: Option<Month>) -> Result<Month> {
    let now = Month::of(chrono::DateTime::<Utc>::from(std::time::SystemTime::now()));
    let month = month.unwrap_or(now);
    ensure!(month <= now, "{month} has not begun; expected a month up to {now}");
    Ok(month)
}

async fn steps(fleet: &Fleet, month: Month, only: Option<&str>, json: bool) -> Result<()> {
    let steps = seven_cost::by_step(fleet, month, only).await?;
    if json {
        steps.iter().try_for_each(|step| serde_json::to_string(step).map(|line| out!("{line}")))?;
        return Ok(());
    }
    if steps.is_empty() {
        out!("{month}: no hosted model was called");
        return Ok(());
    }
    let all: i64 = steps.iter().map(|step| step.nano_usd).sum();
    let mut table = super::table(["step", "calls", "tokens in", "tokens out", "cost", "share of all"]);
    for UsedByStep { step, calls, input_tokens, output_tokens, nano_usd } in &steps {
        let each = |sum: &i64| sum / calls.max(&1);
        let share = 100.0 * *nano_usd as f64 / all.max(1) as f64;
        table.add_row([
            step.clone(),
            calls.to_string(),
            each(input_tokens).to_string(),
            each(output_tokens).to_string(),
            format!("${:.6}", each(nano_usd) as f64 / 1e9),
            format!("{share:.0} %"),
        ]);
    }
    out!("{month}: calls of hosted models by what they were for; tokens and cost are of the average call");
    out!("{table}");
    Ok(())
}

async fn report(fleet: &Fleet, config: Option<&Path>, month: Month, only: Option<&str>, json: bool) -> Result<()> {
    let settings = Settings::load(config)?;
    let costs = seven_cost::month(fleet, &settings.cost, month, only).await?;
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
    for model in settings.model.unpriced() {
        out!("{model} has no price, so its calls count as free: [model.prices]");
    }
    Ok(())
}

//! `seven cost report|project`: usage and cost of each casino in a month, and the projected
//! cost of a month.

use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};
use chrono::Utc;
use clap::{Args, Subcommand};
use seven_cost::{
    self, Month, Usd,
    projection::{Assumed, Projection},
};
use seven_domain::CasinoId;
use seven_runtime::Fleet;
use seven_store::cost::UsedByStep;

use super::{
    args::{Casinos, Json},
    context::{Context, Operate},
    given, json_rows, known,
};
use crate::out;

#[derive(Debug, Subcommand)]
pub enum Cost {
    /// Report the usage and cost of a month (UTC) at the prices of [cost].
    ///
    /// Counts only turns and texts that are still stored; what retention deleted is missing.
    Report(Report),
    /// Project the cost of a month of 30 days.
    ///
    /// Without --casino: the cost of the models alone, by the specification's formula. With
    /// --casino: the whole cost, at what that casino's conversations cost this month.
    Project(Project),
}

#[derive(Debug, Args)]
pub struct Report {
    /// The month, such as 2026-11. Without it: the current month so far.
    #[arg(long, value_name = "MONTH")]
    month: Option<Month>,
    #[command(flatten)]
    of: Casinos,
    /// Show the calls of hosted models by step instead: their number, and tokens and cost of the
    /// average call.
    #[arg(long)]
    by_step: bool,
    #[command(flatten)]
    json: Json,
}

#[derive(Debug, Args)]
pub struct Project {
    /// Number of conversations a day.
    #[arg(long, value_name = "NUMBER", value_parser = positive)]
    per_day: f64,
    /// The casino's id, as `seven casino list` shows it, to use what its conversations cost this
    /// month. --turns, --retries, --turn and --retried-turn are then not used. Without it: the
    /// formula.
    #[arg(long, value_name = "ID")]
    casino: Option<CasinoId>,
    /// Number of turns of a conversation.
    #[arg(long, value_name = "NUMBER", default_value = "4", value_parser = positive)]
    turns: f64,
    /// Share of turns that need a second draft, 0 to 1.
    #[arg(long, value_name = "SHARE", default_value = "0.15", value_parser = given::share)]
    retries: f64,
    /// Cost of the model calls of a turn, in dollars.
    #[arg(long, value_name = "USD", default_value = "0.00025")]
    turn: Usd,
    /// Cost of the model calls of a turn with a second draft, in dollars.
    #[arg(long, value_name = "USD", default_value = "0.00038")]
    retried_turn: Usd,
    #[command(flatten)]
    json: Json,
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text
        .parse::<f64>()
        .ok()
        .filter(|number| *number > 0.0 && *number <= 1e6);
    number.ok_or_else(|| {
        format!("`{text}` is no number of more than 0 and at most a million, such as 42")
    })
}

impl Operate for Cost {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        match self {
            Self::Report(command) if command.by_step => steps(ctx, &command).await?,
            Self::Report(command) => report(ctx, &command).await?,
            Self::Project(command) => project(ctx, &command).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

async fn project(ctx: &Context, command: &Project) -> Result<()> {
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
            let fleet = ctx.fleet().await?;
            known(&fleet.store, casino).await?;
            let this = Month::of(fleet.clock.now());
            let costs =
                seven_cost::month(fleet, &ctx.settings()?.cost, this, Some(casino.as_str()))
                    .await?;
            let month = costs
                .first()
                .and_then(|cost| Projection::like(cost, command.per_day));
            month.with_context(|| {
                format!(
                    "{casino} has had no conversation in {this}; leave --casino out for the formula"
                )
            })?
        }
    };
    if command.json.json {
        out!("{}", serde_json::to_string(&month)?);
        return Ok(());
    }
    out!(
        "{:.0} conversations and {:.0} turns in 30 days",
        month.conversations,
        month.turns
    );
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
        out!(
            "These are model calls alone. Texts and fixed costs are most of a bill; --casino ID \
             adds them."
        );
    }
    Ok(())
}

// === impl Report ===

impl Report {
    /// Returns the month to report on, the current one by default, and the casino to report on.
    async fn subject(&self, fleet: &Fleet) -> Result<(Month, Option<&str>)> {
        if let Some(casino) = &self.of.casino {
            known(&fleet.store, casino).await?;
        }
        let now = Month::of(chrono::DateTime::<Utc>::from(std::time::SystemTime::now()));
        let month = self.month.unwrap_or(now);
        ensure!(
            month <= now,
            "{month} has not begun; expected a month up to {now}"
        );
        Ok((month, self.of.casino.as_ref().map(CasinoId::as_str)))
    }
}

async fn steps(ctx: &Context, command: &Report) -> Result<()> {
    let fleet = ctx.fleet().await?;
    let (month, only) = command.subject(fleet).await?;
    let steps = seven_cost::by_step(fleet, month, only).await?;
    if command.json.json {
        return json_rows(&steps);
    }
    if steps.is_empty() {
        out!("{month}: no hosted model was called");
        return Ok(());
    }
    let all: i64 = steps.iter().map(|step| step.nano_usd).sum();
    let mut table = ctx.table([
        "step",
        "calls",
        "tokens in",
        "tokens out",
        "cost",
        "share of all",
    ]);
    for UsedByStep {
        step,
        calls,
        input_tokens,
        output_tokens,
        nano_usd,
    } in &steps
    {
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
    out!("{month}: calls of hosted models by step; tokens and cost are those of the average call");
    out!("{table}");
    Ok(())
}

async fn report(ctx: &Context, command: &Report) -> Result<()> {
    let fleet = ctx.fleet().await?;
    let (month, only) = command.subject(fleet).await?;
    let settings = ctx.settings()?;
    let counted = seven_cost::month(fleet, &settings.cost, month, only);
    let costs = super::progress::during("Adding up the month", counted).await?;
    if command.json.json {
        return json_rows(&costs);
    }
    let columns = [
        "casino",
        "conversations",
        "model",
        "sms",
        "fixed",
        "total",
        "per conversation",
        "turns",
        "tokens in",
        "tokens out",
        "segments in",
        "segments out",
    ];
    let mut table = ctx.table(columns);
    table = table.wide([
        "per conversation",
        "turns",
        "tokens in",
        "tokens out",
        "segments in",
        "segments out",
    ]);
    for each in &costs {
        let used = &each.used;
        table.add_row([
            each.casino.clone(),
            used.conversations.to_string(),
            each.model.to_string(),
            each.sms.to_string(),
            each.fixed.to_string(),
            each.total.to_string(),
            each.per_conversation
                .map_or_else(|| "-".to_owned(), |cost| cost.to_string()),
            used.turns.to_string(),
            used.input_tokens.to_string(),
            used.output_tokens.to_string(),
            used.segments_in.to_string(),
            used.segments_out.to_string(),
        ]);
    }
    out!("{month}, at the prices of [cost]; guests' segments are estimated by length");
    out!("{table}");
    for model in settings.model.unpriced() {
        out!("{model} has no price in [model.prices], so its calls count as free.");
    }
    Ok(())
}

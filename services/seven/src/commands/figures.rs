//! `seven figures`: the casino's figures as its manager sees them.

use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};
use chrono::NaiveDate;
use clap::Args;
use seven_cost::Cost;
use seven_domain::Language;
use seven_figures::{Period, Report, months};

use super::{
    args::Casino,
    context::{Context, Operate},
    known,
};
use crate::out;

#[derive(Debug, Args)]
pub struct Figures {
    #[command(flatten)]
    of: Casino,
    /// First day, by the casino's clock. Without it: 29 days before the last.
    #[arg(long, value_name = "DAY")]
    from: Option<NaiveDate>,
    /// Last day, by the casino's clock. Without it: today.
    #[arg(long, value_name = "DAY")]
    to: Option<NaiveDate>,
    /// Show a row for each day instead.
    #[arg(long)]
    days: bool,
    /// Print CSV.
    #[arg(long)]
    csv: bool,
}

impl Operate for Figures {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        let fleet = ctx.fleet().await?;
        let casino = &self.of.casino;
        known(&fleet.store, casino).await?;
        let mut tx = fleet.store.bind(casino).await?;
        let row = tx.casino_row().await?;
        let zone = row.context("the casino has no document")?;
        let zone = zone.config.operational.timezone;
        let recent = Period::last(30, fleet.clock.now(), zone);
        let to = self.to.unwrap_or(recent.to);
        let from = self.from.unwrap_or(to - chrono::Days::new(29));
        let period = Period::new(from, to, zone)?;
        ensure!(from <= recent.to, "{from} has not begun at {casino}");
        let prices = ctx.settings()?.cost;
        let report = Report::read(&mut tx, &prices, period).await?;
        let costs = months(&mut tx, &prices, period).await?;
        tx.commit().await?;
        match (self.csv, self.days) {
            (true, true) => out!("{}", report.days_csv().trim_end()),
            (true, false) => out!("{}", report.csv(Language::En).trim_end()),
            (false, true) => days(ctx, &report),
            (false, false) => figures(ctx, &report, &costs),
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn figures(ctx: &Context, report: &Report, costs: &[Cost]) {
    let mut table = ctx.table(["figure", "part", "value"]);
    for of in &report.values {
        table.add_row([
            of.figure.name(Language::En).to_owned(),
            of.part.clone(),
            of.figure.unit().shown(of.value),
        ]);
    }
    out!("{} to {}", report.period.from, report.period.to);
    out!("{table}");
    for month in costs {
        out!(
            "{}: {}, fixed costs of {} included",
            month.month,
            month.total,
            month.fixed
        );
    }
}

fn days(ctx: &Context, report: &Report) {
    let columns = [
        "day",
        "texts in",
        "answered",
        "texts out",
        "cases",
        "opt-outs",
        "cost",
    ];
    let mut table = ctx.table(columns);
    for day in &report.days {
        let counted = &day.counted;
        table.add_row([
            counted.day.to_string(),
            counted.texts_in.to_string(),
            counted.answered.to_string(),
            counted.texts_out.to_string(),
            counted.cases.to_string(),
            counted.opt_outs.to_string(),
            day.cost.to_string(),
        ]);
    }
    out!("{table}");
}

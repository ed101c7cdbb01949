//! `seven delivery`: delivery outcomes per casino and hour; figures beyond their thresholds are
//! marked.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use seven_alerts::{
    delivery::{Figure, Figures, Standing},
    policy,
};
use seven_domain::{CasinoId, Severity};
use seven_scheduler::health::figures_of;
use seven_store::delivery::Hour;

use super::{
    args::{Casinos, Json},
    context::{Context, Operate},
    json_rows, known,
};
use crate::out;

#[derive(Debug, Args)]
pub struct Delivery {
    #[command(flatten)]
    of: Casinos,
    /// Number of hours to show, the current one included.
    #[arg(long, value_name = "N", default_value_t = 24)]
    #[arg(value_parser = clap::value_parser!(i32).range(1..=744))]
    hours: i32,
    #[command(flatten)]
    json: Json,
}

/// One line of the output: the outcomes of a casino in one hour.
#[derive(Debug, Serialize)]
struct Line {
    casino: CasinoId,
    #[serde(flatten)]
    hour: Hour,
    /// Share of delivered texts among those old enough to have a receipt, from 0 to 1.
    delivered_share: Option<f64>,
    /// Figures beyond their thresholds: `delivery_rate: critical`.
    beyond: Vec<(String, Severity)>,
}

impl Line {
    fn new(casino: &CasinoId, hour: Hour) -> Self {
        let figures = figures_of(&hour);
        let beyond =
            policy()
                .figures
                .iter()
                .filter_map(|threshold| match threshold.judge(&figures) {
                    Standing::Beyond(severity) => Some((threshold.alert.clone(), severity)),
                    Standing::TooFew | Standing::Good => None,
                });
        let beyond = beyond.collect();
        Self {
            casino: casino.clone(),
            delivered_share: Figures::value(&figures, Figure::DeliveredShare),
            hour,
            beyond,
        }
    }

    fn is_quiet(&self) -> bool {
        let Hour {
            sent,
            failed,
            unknown,
            suppressed,
            opt_outs,
            ..
        } = &self.hour;
        [sent, failed, unknown, suppressed, opt_outs]
            .into_iter()
            .all(|n| *n == 0)
    }
}

impl Operate for Delivery {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        delivery(ctx, &self).await?;
        Ok(ExitCode::SUCCESS)
    }
}

async fn delivery(ctx: &Context, command: &Delivery) -> Result<()> {
    let fleet = ctx.fleet().await?;
    if let Some(casino) = &command.of.casino {
        known(&fleet.store, casino).await?;
    }
    let mut lines = Vec::new();
    for entry in fleet.store.roster().await? {
        if command
            .of
            .casino
            .as_ref()
            .is_some_and(|one| *one != entry.casino)
        {
            continue;
        }
        let mut tx = fleet.store.bind(&entry.casino).await?;
        let hours = tx
            .delivery_hours(command.hours, fleet.timing.receipt_margin())
            .await?;
        tx.commit().await?;
        lines.extend(
            hours
                .into_iter()
                .map(|hour| Line::new(&entry.casino, hour))
                .filter(|line| !line.is_quiet()),
        );
    }
    if command.json.json {
        return json_rows(&lines);
    }
    if lines.is_empty() {
        out!("No text in the last {} hour(s).", command.hours);
        return Ok(());
    }
    let columns = [
        "casino",
        "hour (UTC)",
        "sent",
        "delivered",
        "failed",
        "opt-outs",
        "beyond",
        "segments",
        "bounced",
        "unknown",
        "receipt p50",
        "receipt p95",
        "suppressed",
    ];
    let mut table = ctx.table(columns);
    table = table.wide([
        "segments",
        "bounced",
        "unknown",
        "receipt p50",
        "receipt p95",
        "suppressed",
    ]);
    for line in &lines {
        table.add_row(cells(line));
    }
    out!("{table}");
    Ok(())
}

fn cells(line: &Line) -> [String; 13] {
    let Line {
        casino,
        hour,
        delivered_share,
        beyond,
    } = line;
    let seconds =
        |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1} s"));
    let beyond: Vec<String> = beyond
        .iter()
        .map(|(alert, severity)| {
            format!(
                "{} {alert}",
                if *severity == Severity::Critical {
                    "!!"
                } else {
                    "!"
                }
            )
        })
        .collect();
    [
        casino.to_string(),
        hour.hour.format("%m-%d %H:00").to_string(),
        hour.sent.to_string(),
        delivered_share.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", share * 100.0)),
        hour.failed.to_string(),
        hour.opt_outs.to_string(),
        beyond.join(", "),
        hour.segments.to_string(),
        hour.bounced.to_string(),
        hour.unknown.to_string(),
        seconds(hour.receipt_p50),
        seconds(hour.receipt_p95),
        hour.suppressed.to_string(),
    ]
}

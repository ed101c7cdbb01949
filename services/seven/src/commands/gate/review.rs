//! `seven gate hits|mark`: the weekly review of what the guardrails did, and a person's judgement on single texts (OBS-5, OBS-29).

use std::path::Path;

use anyhow::{Context, Result, ensure};
use chrono::Days;
use clap::{Args, ValueEnum};
use serde_json::json;
use seven_domain::{AuditEvent, CasinoId};
use seven_store::{audit::Entry, review::Hits};
use seven_telemetry::Raised;
use uuid::Uuid;

use crate::{
    commands::{fleet, given, known},
    out,
};

#[derive(Debug, Args)]
pub struct List {
    #[arg(long, value_name = "ID")]
    casino: CasinoId,
    /// Hits of the last so many days.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u64).range(1..=2_557))]
    days: u64,
    /// One JSON line per pattern instead of a table.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub struct Mark {
    #[arg(long, value_name = "ID")]
    casino: CasinoId,
    /// The guest's text: the id that `seven gate hits`, `seven audit list` and `seven why` print.
    #[arg(long, value_name = "ID", value_parser = given::id)]
    text: Uuid,
    #[arg(long = "as", value_name = "WHAT")]
    judgement: Judgement,
    /// The person who judged.
    #[arg(long, value_name = "NAME", value_parser = given::words)]
    by: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Judgement {
    /// A guardrail hit an honest text.
    FalseAlarm,
    /// A text that a guardrail should have hit and did not: raises a critical alert.
    Missed,
}

impl Judgement {
    fn as_str(self) -> &'static str {
        match self {
            Self::FalseAlarm => "false_alarm",
            Self::Missed => "missed",
        }
    }
}

pub async fn list(config: Option<&Path>, command: &List) -> Result<()> {
    let fleet = fleet(config).await?;
    known(&fleet.store, &command.casino).await?;
    let mut tx = fleet.store.bind(&command.casino).await?;
    let since = fleet.clock.now() - Days::new(command.days);
    let (review, missed) = (tx.guardrail_hits(since).await?, tx.guardrail_misses(since).await?);
    tx.commit().await?;
    if command.json {
        review.iter().try_for_each(|line| serde_json::to_string(line).map(|line| out!("{line}")))?;
        return Ok(());
    }
    let mut table = crate::commands::table(["layer", "pattern", "hits", "guests", "false alarms", "last", "a text"]);
    for line in &review {
        table.add_row(row(line));
    }
    out!("{table}");
    let hits: i64 = review.iter().map(|line| line.hits).sum();
    let wrong: i64 = review.iter().map(|line| line.false_alarms).sum();
    // Of the others nobody said that they were right.
    let right = 100.0 * (hits - wrong) as f64 / hits.max(1) as f64;
    let precision = if wrong > 0 { format!(" (at most {right:.1} % right)") } else { String::new() };
    out!(
        "{hits} hit(s) in {} day(s), {wrong} marked as false alarms{precision}; {missed} text(s) marked as missed.",
        command.days
    );
    let casino = &command.casino;
    out!("Read a text with: seven why --casino {casino} --text ID --reveal");
    out!("Judge it with: seven gate mark --casino {casino} --text ID --as false-alarm --by NAME (or --as missed)");
    Ok(())
}

fn row(line: &Hits) -> [String; 7] {
    [
        line.layer.clone(),
        line.pattern_id.clone(),
        line.hits.to_string(),
        line.guests.to_string(),
        line.false_alarms.to_string(),
        line.last_at.format("%Y-%m-%d %H:%M").to_string(),
        line.last_text.clone(),
    ]
}

pub async fn mark(config: Option<&Path>, command: &Mark) -> Result<()> {
    let Mark { casino, text, judgement, by } = command;
    let fleet = fleet(config).await?;
    known(&fleet.store, casino).await?;
    let mut tx = fleet.store.bind(casino).await?;
    let hit = tx
        .guardrail_hit(*text)
        .await?
        .with_context(|| format!("{casino} has no text {text}; `seven why` shows a guest's texts"))?;
    match judgement {
        Judgement::FalseAlarm => {
            ensure!(!hit.is_empty(), "no guardrail hit text {text}; `seven gate hits` shows those there were");
        }
        Judgement::Missed => {
            ensure!(hit.is_empty(), "text {text} was not missed: {} hit it", hit.join(", "));
        }
    }
    let detail = json!({ "judgement": judgement.as_str(), "layers": hit, "by": by });
    tx.audit(&Entry::of(AuditEvent::GuardrailReviewed, "seven gate mark", &text.to_string(), detail)).await?;
    tx.commit().await?;
    if *judgement == Judgement::Missed {
        let raised = Raised {
            name: "guardrail_missed",
            casino: casino.as_str().to_owned(),
            provider: String::new(),
            code: String::new(),
            text: format!(
                "a guardrail missed text {text}, says {by}; add its pattern to the pack before anything else is deployed"
            ),
            times: 1,
        };
        seven_alerts::file_one(&fleet, &raised).await.context("raising the alert")?;
        out!("Marked as missed, and a critical alert is raised: seven alert list.");
    } else {
        out!("Marked as a false alarm of {}.", hit.join(", "));
    }
    out!(
        "Then soften or sharpen the pattern in the pack's guardrails.toml, with this text as an example of its own words, and try it: seven gate check."
    );
    Ok(())
}

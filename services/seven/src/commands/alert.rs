//! `seven alert list|ack|test`: what a person has to know, who has it in hand, and whether the channels work (SMS-55).

use std::{path::Path, process::ExitCode};

use anyhow::{Result, ensure};
use clap::Subcommand;
use serde::Serialize;
use serde_json::json;
use seven_alerts::{Action, Channels, Notice};
use seven_domain::{Clock, IdSource};
use seven_settings::Settings;
use seven_store::alerts;
use uuid::Uuid;

use super::{fleet, given};
use crate::{out, wiring};

#[derive(Debug, Subcommand)]
pub enum Alert {
    /// Open alerts, the gravest first; `--all` shows those that ended too.
    List {
        #[arg(long)]
        all: bool,
        /// One JSON document per line instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Say that you have an alert in hand: the channels are told, and the case behind it is acknowledged with it.
    Ack {
        /// The alert, as `seven alert list` shows it.
        #[arg(value_parser = given::id)]
        id: Uuid,
        /// Your name, for the record.
        #[arg(long, value_parser = given::words)]
        by: String,
        /// One JSON document instead of a line.
        #[arg(long)]
        json: bool,
    },
    /// Send one test alert, critical and resolved at once, through every channel of the settings and show what each answers.
    Test {
        /// One JSON document per line instead of lines.
        #[arg(long)]
        json: bool,
    },
}

/// A channel's answer to the test alert.
#[derive(Debug, Serialize)]
struct Answer {
    channel: &'static str,
    action: &'static str,
    told: bool,
    answer: String,
}

pub async fn run(config: Option<&Path>, command: Alert) -> Result<ExitCode> {
    match command {
        Alert::List { all, json } => list(config, all, json).await?,
        Alert::Ack { id, by, json } => {
            let done = fleet(config).await?.store.acknowledge_alert(id, &by).await?;
            ensure!(done, "no alert {id} is open and without somebody; `seven alert list` shows them");
            if json {
                out!("{}", json!({ "alert_id": id, "acknowledged_by": by }));
            } else {
                out!("Alert {id} is in hand: {by}.");
            }
        }
        Alert::Test { json } => return test(config, json).await,
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(config: Option<&Path>, all: bool, json: bool) -> Result<()> {
    let rows = fleet(config).await?.store.alerts(all, 200).await?;
    if json {
        rows.iter().try_for_each(|row| serde_json::to_string(row).map(|line| out!("{line}")))?;
        return Ok(());
    }
    if rows.is_empty() {
        out!("No alert is open.");
    }
    rows.iter().for_each(|row| told(row).iter().for_each(|line| out!("{line}")));
    Ok(())
}

fn told(row: &alerts::Alert) -> [String; 2] {
    let state = match (&row.resolved_at, &row.acknowledged_by, row.overdue) {
        (Some(at), ..) => format!("ended {}", at.format("%F %T UTC")),
        (None, Some(by), _) => format!("in hand: {by}"),
        (None, None, true) => "OVERDUE".to_owned(),
        (None, None, false) => "open".to_owned(),
    };
    let whom = if row.casino_id.is_empty() { "the whole fleet" } else { &row.casino_id };
    let mut about = String::new();
    for (label, value) in [("provider", &row.provider), ("code", &row.code)] {
        if !value.is_empty() {
            about = format!("{about}, {label} {value}");
        }
    }
    let again = if row.repeats > 0 { format!(", came {} more times", row.repeats) } else { String::new() };
    let severity = row.severity.to_uppercase();
    let since = row.first_at.format("%F %T UTC");
    [
        format!("{severity} {} of {whom}{about} since {since}{again}; {state}; {}", row.name, row.alert_id),
        format!("  {}", row.summary),
    ]
}

async fn test(config: Option<&Path>, json: bool) -> Result<ExitCode> {
    seven_telemetry::init(seven_telemetry::LogTarget::Stderr, crate::commands::LOG)?;
    let channels = wiring::channels(&Settings::load(config)?)?;
    let answers = ask(&channels).await;
    for Answer { channel, action, told, answer } in &answers {
        if json {
            out!("{}", json!({ "channel": channel, "action": action, "told": told, "answer": answer }));
        } else {
            out!("{channel:<10} {action:<8} {}: {answer}", if *told { "ok" } else { "FAILED" });
        }
    }
    let missing: Vec<&str> = [seven_alerts::WEBHOOK, seven_alerts::PAGERDUTY]
        .into_iter()
        .filter(|name| channels.get(name).is_none())
        .collect();
    if !missing.is_empty() && !json {
        out!("Not in the settings ([alerts]): {}.", missing.join(", "));
    }
    Ok(if answers.iter().all(|answer| answer.told) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Every channel, first the alert, then its end, so that no incident stays open.
async fn ask(channels: &Channels) -> Vec<Answer> {
    let clock = Clock::default();
    let alert_id = IdSource::new(clock.clone()).uuid();
    let mut answers = Vec::new();
    for action in [Action::Trigger, Action::Resolve] {
        let notice = Notice {
            alert_id,
            action,
            name: "test".into(),
            casino: String::new(),
            provider: String::new(),
            code: String::new(),
            severity: seven_alerts::policy().severity("test"),
            summary: "a test of the alert channels by an operator; nothing is wrong".into(),
            repeats: 0,
            since: clock.now(),
        };
        for channel in channels.iter() {
            let (told, answer) = match channel.tell(&notice).await {
                Ok(answer) => (true, answer),
                Err(untold) => (false, untold.to_string()),
            };
            answers.push(Answer { channel: channel.channel(), action: action.as_str(), told, answer });
        }
    }
    answers
}

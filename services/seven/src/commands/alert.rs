//! `seven alert list|ack|test`: alerts that a person must see, the people who handle them, and a
//! test of the channels.

use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::json;
use seven_alerts::{Action, Channels, Notice};
use seven_domain::{Clock, IdSource, Severity};
use seven_store::alerts;

use super::{
    args::{By, Json},
    context::{self, Context, Operate},
    id_prefix::IdPrefix,
    json_rows, utc,
};
use crate::{out, wiring};

/// Maximum number of alerts that are read.
const MOST: i64 = 500;

#[derive(Debug, Subcommand)]
pub enum Alert {
    /// List the open alerts, the most severe first.
    List(List),
    /// Record that you handle an alert; the channels are told, and the alert's case is
    /// acknowledged, too.
    Ack(Ack),
    /// Send a critical test alert and its end through every channel, and show the answers.
    Test(Json),
}

#[derive(Debug, Args)]
pub struct List {
    /// Show closed rows too: alerts that ended.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    json: Json,
}

#[derive(Debug, Args)]
pub struct Ack {
    /// The alert's id, as `seven alert list` shows it; a unique prefix is enough.
    id: IdPrefix,
    #[command(flatten)]
    by: By,
    #[command(flatten)]
    json: Json,
}

/// A channel's answer to the test alert.
#[derive(Debug, Serialize)]
struct Answer {
    channel: &'static str,
    action: &'static str,
    told: bool,
    answer: String,
}

impl Operate for Alert {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        match self {
            Self::List(command) => list(ctx, command).await?,
            Self::Ack(command) => acknowledge(ctx, command).await?,
            Self::Test(json) => return test(ctx, json.json).await,
        }
        Ok(ExitCode::SUCCESS)
    }
}

async fn acknowledge(
    ctx: &Context,
    Ack {
        id,
        by: By { by },
        json,
    }: Ack,
) -> Result<()> {
    let store = &ctx.fleet().await?.store;
    let open = if id.whole().is_some() {
        Vec::new()
    } else {
        store.alerts(false, MOST).await?
    };
    let id = id.among(open.iter().map(|alert| alert.alert_id), "open alerts")?;
    let done = store.acknowledge_alert(id, &by).await?;
    ensure!(
        done,
        "no open alert {id} waits for somebody; `seven alert list` shows them"
    );
    if json.json {
        out!("{}", json!({ "alert_id": id, "acknowledged_by": by }));
    } else {
        out!("Alert {id} is in hand: {by}.");
    }
    Ok(())
}

async fn list(ctx: &Context, List { all, json }: List) -> Result<()> {
    let rows = by_urgency(ctx.fleet().await?.store.alerts(all, MOST).await?);
    if json.json {
        return json_rows(&rows);
    }
    if rows.is_empty() {
        out!("No alert is open.");
    }
    rows.iter()
        .flat_map(told)
        .for_each(|line| out!("{}", ctx.view.line(&line)));
    Ok(())
}

/// Sorts alerts: open ones first, then by severity; within a severity, alerts that nobody handles
/// come first.
pub(super) fn by_urgency(mut alerts: Vec<alerts::Alert>) -> Vec<alerts::Alert> {
    let order = [Severity::Critical, Severity::Warning, Severity::Info];
    let rank = |severity| order.iter().position(|each| *each == severity);
    let key = |alert: &alerts::Alert| {
        (
            alert.resolved_at.is_some(),
            rank(alert.severity),
            alert.acknowledged_by.is_some(),
            !alert.overdue,
        )
    };
    alerts.sort_by_key(key);
    alerts
}

/// Returns three lines about an alert: its name and casino, its state and id, and its summary.
fn told(row: &alerts::Alert) -> [String; 3] {
    let state = match (&row.resolved_at, &row.acknowledged_by, row.overdue) {
        (Some(at), ..) => format!("ended {}, open", utc(*at)),
        (None, Some(by), _) => format!("in hand: {by}, open"),
        (None, None, true) => "OVERDUE".to_owned(),
        (None, None, false) => "open".to_owned(),
    };
    let whom = if row.casino_id.is_empty() {
        "the whole fleet"
    } else {
        &row.casino_id
    };
    let mut about = String::new();
    for (label, value) in [("provider", &row.provider), ("code", &row.code)] {
        if !value.is_empty() {
            about = format!("{about}, {label} {value}");
        }
    }
    let again = if row.repeats > 0 {
        format!(", came {} more times", row.repeats)
    } else {
        String::new()
    };
    let severity = row.severity.as_str().to_uppercase();
    let since = utc(row.first_at);
    [
        format!("{severity} {} of {whom}{about}", row.name),
        format!("  {state} since {since}{again}; {}", row.alert_id),
        format!("  {}", row.summary),
    ]
}

async fn test(ctx: &Context, json: bool) -> Result<ExitCode> {
    context::log()?;
    let channels = wiring::channels(&ctx.settings()?)?;
    let answers = super::progress::during("Asking the channels", ask(&channels)).await;
    for Answer {
        channel,
        action,
        told,
        answer,
    } in &answers
    {
        if json {
            out!(
                "{}",
                json!({ "channel": channel, "action": action, "told": told, "answer": answer })
            );
        } else {
            out!(
                "{channel:<10} {action:<8} {}: {answer}",
                if *told { "ok" } else { "FAILED" }
            );
        }
    }
    let missing: Vec<&str> = [seven_alerts::WEBHOOK, seven_alerts::PAGERDUTY]
        .into_iter()
        .filter(|name| channels.get(name).is_none())
        .collect();
    if !missing.is_empty() && !json {
        out!("Not in the settings ([alerts]): {}.", missing.join(", "));
    }
    Ok(if answers.iter().all(|answer| answer.told) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Sends a test alert and then its end to every channel, so that no incident stays open there.
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
            answers.push(Answer {
                channel: channel.channel(),
                action: action.as_str(),
                told,
                answer,
            });
        }
    }
    answers
}

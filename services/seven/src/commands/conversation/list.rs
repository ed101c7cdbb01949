//! `seven conversation list`: lists conversations; those that need a person come first.

use std::process::ExitCode;

use anyhow::Result;
use chrono::Days;
use clap::Args;
use seven_store::conversations::ListedConversation;

use crate::{
    commands::{
        args::{Casino, Json},
        context::{Context, Operate},
        given::When,
        json_rows, known, minute,
    },
    out,
};

/// Default length of the period whose conversations are shown, in days.
const DAYS: u64 = 1;

#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    of: Casino,
    /// Start of the period: a span before now (30m, 2h, 7d) or a time (RFC 3339). Without it: one
    /// day ago. Paused conversations and those with an open case are always shown.
    #[arg(long, value_name = "WHEN")]
    since: Option<When>,
    /// Number of rows to show, at most.
    #[arg(long, value_name = "N", default_value_t = 50)]
    #[arg(value_parser = clap::value_parser!(i64).range(1..=1_000))]
    most: i64,
    #[command(flatten)]
    json: Json,
}

impl Operate for List {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        let fleet = ctx.fleet().await?;
        let Self {
            of: Casino { casino },
            since,
            most,
            json,
        } = self;
        known(&fleet.store, &casino).await?;
        let now = fleet.clock.now();
        let since = since.map_or(now - Days::new(DAYS), |when| when.at(now));
        let mut tx = fleet.store.bind(&casino).await?;
        let rows = tx.list_conversations(since, most).await?;
        tx.commit().await?;
        if json.json {
            json_rows(&rows)?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut table = ctx.table([
            "conversation",
            "state",
            "why",
            "open",
            "kept",
            "last text",
            "until",
            "guest",
        ]);
        table = table
            .ids(["conversation", "guest"])
            .wide(["until", "guest"]);
        for row in rows {
            let why = why(&row);
            let at = |time: Option<_>| time.map(minute).unwrap_or_default();
            table.add_row([
                row.conversation_id.to_string(),
                row.state,
                why,
                row.open_texts.to_string(),
                row.held_texts.to_string(),
                at(row.last_inbound_at),
                at(row.paused_until),
                row.guest_id.to_string(),
            ]);
        }
        out!("{table}");
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the reason of the conversation's state: its most severe case, or why the host is paused.
fn why(row: &ListedConversation) -> String {
    match (&row.severity, &row.pause_reason) {
        (Some(severity), _) => {
            let more = if row.cases > 1 {
                format!(", {} cases", row.cases)
            } else {
                String::new()
            };
            format!(
                "{severity}{more}{}",
                if row.acknowledged { ", in hand" } else { "" }
            )
        }
        (None, Some(reason)) if row.state == "paused" => reason.clone(),
        _ => String::new(),
    }
}

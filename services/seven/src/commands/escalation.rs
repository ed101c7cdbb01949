//! `seven escalation list|show|ack|resolve`: cases that a person must handle, the most severe
//! first.

use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};
use clap::{Args, Subcommand};
use seven_domain::CasinoId;
use seven_runtime::Fleet;
use seven_staff::settle;
use seven_store::{escalations::Escalation as Row, prefix::Named};

use super::{
    args::{By, Casino, Json},
    context::{Context, Operate},
    id_prefix::IdPrefix,
    json_rows, known, minute,
};
use crate::out;

/// Maximum number of cases that are shown.
const MOST: i64 = 200;

#[derive(Debug, Subcommand)]
pub enum Escalation {
    /// List the open cases, the most severe first.
    List(List),
    /// Show who was told about a case, and when.
    Show(Show),
    /// Record that you handle a case.
    Ack(Case),
    /// Record that a case is settled.
    ///
    /// The case's conversation continues, and the host answers the kept texts. If another case
    /// keeps the conversation paused, nothing is answered yet.
    Resolve(Case),
}

#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    of: Casino,
    /// Show closed rows too: cases that are settled.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    json: Json,
}

#[derive(Debug, Args)]
pub struct Show {
    /// The case's id, as `seven escalation list` shows it; a unique prefix is enough.
    id: IdPrefix,
    #[command(flatten)]
    of: Casino,
    #[command(flatten)]
    json: Json,
}

#[derive(Debug, Args)]
pub struct Case {
    /// The case's id, as `seven escalation list` shows it; a unique prefix is enough.
    id: IdPrefix,
    #[command(flatten)]
    of: Casino,
    #[command(flatten)]
    by: By,
}

impl Operate for Escalation {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        let fleet = ctx.fleet().await?;
        match self {
            Self::List(command) => list(ctx, fleet, command).await?,
            Self::Show(command) => show(ctx, fleet, command).await?,
            Self::Ack(command) => acknowledge(fleet, command).await?,
            Self::Resolve(command) => resolve(fleet, command).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

async fn list(
    ctx: &Context,
    fleet: &Fleet,
    List {
        of: Casino { casino },
        all,
        json,
    }: List,
) -> Result<()> {
    known(&fleet.store, &casino).await?;
    let mut tx = fleet.store.bind(&casino).await?;
    let rows = tx.escalations(all, MOST).await?;
    tx.commit().await?;
    if json.json {
        return json_rows(&rows);
    }
    let columns = [
        "case",
        "severity",
        "reason",
        "about",
        "acknowledge by",
        "state",
        "opened",
        "write by",
        "text",
        "conversation",
    ];
    let mut table = ctx.table(columns).ids(["case", "text", "conversation"]);
    table = table.wide(["opened", "write by", "text", "conversation"]);
    for row in rows {
        let state = state(&row);
        let id = |id: Option<uuid::Uuid>| id.map(|id| id.to_string()).unwrap_or_default();
        table.add_row([
            row.escalation_id.to_string(),
            row.severity.to_string(),
            row.reason,
            about(&row.subject, row.detail.as_ref()),
            row.ack_due_at.map(minute).unwrap_or_default(),
            state,
            minute(row.created_at),
            row.respond_due_at.map(minute).unwrap_or_default(),
            id(row.inbound_id),
            id(row.conversation_id),
        ]);
    }
    out!("{table}");
    Ok(())
}

async fn show(ctx: &Context, fleet: &Fleet, Show { id, of, json }: Show) -> Result<()> {
    let casino = &of.casino;
    known(&fleet.store, casino).await?;
    let mut tx = fleet.store.bind(casino).await?;
    let id = id.find(&mut tx, Named::Escalation).await?;
    let told = tx.told_about(&[id]).await?;
    tx.commit().await?;
    if json.json {
        return json_rows(&told);
    }
    let columns = [
        "contact", "channel", "level", "planned", "told", "tries", "error",
    ];
    let mut table = ctx.table(columns);
    for row in told {
        let state = match (row.delivered_at, row.given_up_at) {
            (Some(at), _) => minute(at),
            (None, Some(_)) => "GIVEN UP".to_owned(),
            (None, None) => "not yet".to_owned(),
        };
        table.add_row([
            row.name,
            row.channel.to_string(),
            row.level.to_string(),
            minute(row.created_at),
            state,
            row.tries.to_string(),
            row.last_error.unwrap_or_default(),
        ]);
    }
    out!("{table}");
    Ok(())
}

/// Describes what a case is about: its content row and, for a booking, the date, time and party
/// size.
fn about(subject: &str, detail: Option<&serde_json::Value>) -> String {
    let field = |name: &str| {
        let value = detail?.get(name)?;
        value
            .as_str()
            .map(str::to_owned)
            .or_else(|| value.as_u64().map(|number| number.to_string()))
    };
    let clock = detail
        .and_then(|detail| detail.get("minute")?.as_u64())
        .map(|minute| format!("{:02}:{:02}", minute / 60, minute % 60));
    let party = field("party").map(|party| format!("for {party}"));
    [Some(subject.to_owned()), field("date"), clock, party]
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn state(row: &Row) -> String {
    match (&row.resolved_by, &row.acknowledged_by, row.overdue) {
        (Some(by), ..) => format!("settled: {by}"),
        (None, Some(by), _) => format!("in hand: {by}"),
        (None, None, true) => "OVERDUE".to_owned(),
        (None, None, false) => "open".to_owned(),
    }
}

async fn acknowledge(
    fleet: &Fleet,
    Case {
        id,
        of: Casino { casino },
        by: By { by },
    }: Case,
) -> Result<()> {
    let mut tx = fleet.store.bind(&casino).await?;
    let id = id.find(&mut tx, Named::Escalation).await?;
    let done = tx.acknowledge(id, &by).await?;
    tx.commit().await?;
    ensure!(done, no_case(&casino, id));
    out!("Case {id} is in hand: {by}.");
    Ok(())
}

async fn resolve(
    fleet: &Fleet,
    Case {
        id,
        of: Casino { casino },
        by: By { by },
    }: Case,
) -> Result<()> {
    known(&fleet.store, &casino).await?;
    let mut tx = fleet.store.bind(&casino).await?;
    let id = id.find(&mut tx, Named::Escalation).await?;
    tx.commit().await?;
    let settled = settle(fleet, &casino, id, &by).await?;
    let settled = settled.with_context(|| no_case(&casino, id))?;
    let on = settled.released.map_or_else(String::new, |texts| {
        format!(" The host goes on and answers {texts} kept text(s).")
    });
    out!("Case {id} is settled: {by}.{on}");
    Ok(())
}

fn no_case(casino: &CasinoId, id: uuid::Uuid) -> String {
    format!("{casino} has no open case {id}; `seven escalation list --casino {casino}` shows them")
}

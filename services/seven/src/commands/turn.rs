//! `seven turn`: shows turns and what led to their replies. Texts are masked unless `--reveal` is
//! given, which is audited. `copy`, `export`, `weeks` and `sample` are in `facts`.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use seven_domain::AuditEvent;
use seven_runtime::Fleet;
use seven_staff::why::{explained, mask};
use seven_store::{audit::Entry, prefix::Named, turns::ShownTurn};

use super::{
    args::{Casino, Json, Reveal},
    context::{Context, Operate},
    facts, hidden,
    id_prefix::IdPrefix,
    json_rows, known, minute,
};
use crate::out;

#[derive(Debug, Subcommand)]
pub enum Turn {
    /// List turns, the newest first.
    List(List),
    /// Show one turn: its route, agents, content rows, checks and outcome.
    Show(Show),
    /// Copy the figures of finished turns to the table for analysis.
    ///
    /// The scheduler does this each night. A second copy of the same turn changes nothing.
    Copy(facts::Copy),
    /// Print the copied figures as JSON lines, one per turn, without guests and texts.
    Export(facts::Export),
    /// Show per week the number of turns, the number answered from content rows, and their
    /// outcomes.
    Weeks(facts::Weeks),
    /// Pick up to twenty conversations of a month for a person to read.
    ///
    /// Up to five of each kind: those of which the judge was least sure, those of guests who are
    /// opted out now, those that taught us most about the guest, and random ones. The same
    /// conversations are picked again as long as the data of the month does not change.
    /// `conversation show` shows each; `gate mark` records what was wrong.
    Sample(facts::Sample),
}

#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    of: Casino,
    /// Number of rows to show, at most.
    #[arg(long, value_name = "N", default_value_t = 20)]
    most: i64,
    #[command(flatten)]
    json: Json,
}

#[derive(Debug, Args)]
pub struct Show {
    /// The turn's id, as `turn list` and `why` print it; a unique prefix is enough.
    id: IdPrefix,
    #[command(flatten)]
    of: Casino,
    #[command(flatten)]
    reveal: Reveal,
    #[command(flatten)]
    json: Json,
}

impl Operate for Turn {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        let fleet = ctx.fleet().await?;
        match self {
            Self::List(command) => list(ctx, fleet, command).await?,
            Self::Show(command) => show_one(fleet, command).await?,
            Self::Copy(command) => return facts::copy(fleet, &command).await,
            Self::Export(command) => facts::export(fleet, &command).await?,
            Self::Weeks(command) => facts::weeks(ctx, fleet, &command).await?,
            Self::Sample(command) => facts::sample(ctx, fleet, &command).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

async fn show_one(
    fleet: &Fleet,
    Show {
        id,
        of: Casino { casino },
        reveal,
        json,
    }: Show,
) -> Result<()> {
    known(&fleet.store, &casino).await?;
    let mut tx = fleet.store.bind(&casino).await?;
    let id = id.find(&mut tx, Named::Turn).await?;
    let told = tx.shown_turn(id).await?;
    let mut told =
        told.with_context(|| format!("{casino} has no turn {id}; `seven turn list` shows them"))?;
    if reveal.reveal {
        let about = id.to_string();
        let entry = Entry::of(
            AuditEvent::PersonalDataRevealed,
            "seven turn",
            &about,
            serde_json::json!({}),
        );
        tx.audit(&entry).await?;
    } else {
        mask(&mut told, hidden);
    }
    tx.commit().await?;
    if json.json {
        out!("{}", serde_json::to_string(&told)?);
        return Ok(());
    }
    show(&told)
}

async fn list(
    ctx: &Context,
    fleet: &Fleet,
    List {
        of: Casino { casino },
        most,
        json,
    }: List,
) -> Result<()> {
    known(&fleet.store, &casino).await?;
    let mut tx = fleet.store.bind(&casino).await?;
    let lines = tx.newest_turns(most).await?;
    tx.commit().await?;
    if json.json {
        return json_rows(&lines);
    }
    let columns = [
        "turn", "agent", "intent", "grounded", "state", "made", "findings", "model",
    ];
    let mut table = ctx.table(columns).ids(["turn"]).wide(["findings", "model"]);
    for line in lines {
        table.add_row([
            line.turn_id.to_string(),
            line.agent,
            line.intent,
            if line.grounded { "yes" } else { "no" }.to_owned(),
            line.state.to_string(),
            minute(line.created_at),
            line.findings.to_string(),
            line.model,
        ]);
    }
    out!("{table}");
    Ok(())
}

fn show(told: &ShownTurn) -> Result<()> {
    let lines = explained(told).context("reading the turn's record")?;
    let Some((first, rest)) = lines.split_first() else {
        return Ok(());
    };
    out!("{}", first.text);
    for line in rest {
        out!("  {:<9} {}", line.name, line.text);
    }
    Ok(())
}

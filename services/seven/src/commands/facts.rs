//! `seven turn copy|export|weeks|sample`: figures of turns for analysis, without guests and texts.

use std::process::ExitCode;

use anyhow::{Result, ensure};
use chrono::{DateTime, Days, NaiveDate, NaiveTime, Utc};
use clap::{Args, ValueEnum};
use seven_cost::Month;
use seven_domain::CasinoId;
use seven_figures::drift::{LEAST_TURNS, drifts};
use seven_runtime::Fleet;
use seven_store::facts::{BATCH, Part, Week};
use uuid::Uuid;

use super::{
    args::{Casino, Casinos, Json},
    context::Context,
    given::When,
    json_rows, known, minute,
};
use crate::out;

/// Number of rows in one page of an export.
const PAGE: i64 = 1_000;

#[derive(Debug, Args)]
pub struct Copy {
    #[command(flatten)]
    of: Casinos,
}

#[derive(Debug, Args)]
pub struct Export {
    #[command(flatten)]
    of: Casino,
    /// Start of the period: a span before now (30m, 2h, 7d) or a time (RFC 3339), or a day (UTC).
    #[arg(long, alias = "from", value_name = "WHEN")]
    since: When,
    /// End of the period: a span before now (30m, 2h, 7d) or a time (RFC 3339), or the day (UTC)
    /// after the last. Without it: now.
    #[arg(long, alias = "to", value_name = "WHEN")]
    until: Option<When>,
}

#[derive(Debug, Args)]
pub struct Weeks {
    #[command(flatten)]
    of: Casino,
    /// Number of weeks, the current one included.
    #[arg(long, value_name = "N", default_value_t = 4)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=520))]
    weeks: u64,
    /// Print a row for each agent, intent, language, model or prompt of a week.
    #[arg(long, alias = "by", value_name = "WHAT")]
    per: Option<Per>,
    #[command(flatten)]
    json: Json,
}

#[derive(Debug, Args)]
pub struct Sample {
    #[command(flatten)]
    of: Casino,
    /// The month, such as 2026-11. Without it: the month before this one.
    #[arg(long, value_name = "MONTH")]
    month: Option<Month>,
    #[command(flatten)]
    json: Json,
}

/// Number of conversations that a sample takes for each reason: least sure, opted out, most learnt,
/// random.
const EACH: i64 = 5;

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Per {
    /// One row per agent.
    Agent,
    /// One row per intent.
    Intent,
    /// One row per language.
    Language,
    /// One row per model.
    Model,
    /// One row for the usual prompt of hosted models, one for the casino's second prompt.
    Prompt,
}

impl From<Per> for Part {
    fn from(per: Per) -> Self {
        match per {
            Per::Agent => Self::Agent,
            Per::Intent => Self::Intent,
            Per::Language => Self::Language,
            Per::Model => Self::Model,
            Per::Prompt => Self::Prompt,
        }
    }
}

/// The result of copying a casino's turns: counts, and the turns that could not be copied.
#[derive(Debug, Default)]
struct Copied {
    looked_at: i64,
    written: i64,
    failed: Vec<Uuid>,
}

pub(super) async fn copy(fleet: &Fleet, command: &Copy) -> Result<ExitCode> {
    let casinos = match &command.of.casino {
        Some(casino) => {
            known(&fleet.store, casino).await?;
            vec![casino.clone()]
        }
        None => fleet
            .store
            .roster()
            .await?
            .into_iter()
            .map(|entry| entry.casino)
            .collect(),
    };
    let mut failed = 0;
    for casino in casinos {
        let done = whole(fleet, &casino).await?;
        let stood =
            done.looked_at - done.written - i64::try_from(done.failed.len()).unwrap_or(i64::MAX);
        out!(
            "{casino}: {} turn(s), {} copied, {stood} stood as they were, {} failed",
            done.looked_at,
            done.written,
            done.failed.len()
        );
        done.failed.iter().for_each(|turn| out!("  failed  {turn}"));
        failed += done.failed.len();
    }
    ensure!(
        failed == 0,
        "{failed} turn(s) could not be copied; the log says why"
    );
    Ok(ExitCode::SUCCESS)
}

/// Copies all finished turns, a batch per transaction. The turns of a failed batch are copied one
/// by one.
async fn whole(fleet: &Fleet, casino: &CasinoId) -> Result<Copied> {
    let (mut done, mut after, mut singly) = (Copied::default(), None, 0);
    loop {
        let most = if singly > 0 { 1 } else { BATCH };
        singly = singly.max(1) - 1;
        let mut tx = fleet.store.bind(casino).await?;
        let error = match tx.copy_facts(after, None, most).await {
            Ok(batch) => {
                tx.commit().await?;
                done.looked_at += batch.looked_at;
                done.written += batch.written;
                after = batch.last;
                if after.is_none() {
                    return Ok(done);
                }
                continue;
            }
            Err(error) => error,
        };
        tx.rollback().await?;
        if most > 1 {
            singly = BATCH;
            continue;
        }
        let mut tx = fleet.store.bind(casino).await?;
        let Some(turn) = tx.turn_behind(after).await? else {
            return Ok(done);
        };
        tx.commit().await?;
        tracing::error!(
            %casino,
            turn_id = %turn,
            error = &error as &dyn std::error::Error,
            "a turn's figures cannot be copied"
        );
        done.looked_at += 1;
        done.failed.push(turn);
        after = Some(turn);
    }
}

pub(super) async fn export(fleet: &Fleet, command: &Export) -> Result<()> {
    let casino = &command.of.casino;
    let now = fleet.clock.now();
    let (from, to) = (
        command.since.at(now),
        command.until.map_or(now, |until| until.at(now)),
    );
    ensure!(
        from < to,
        "--until {to} is not after --since {from}; it is the day after the last"
    );
    known(&fleet.store, casino).await?;
    let mut after: Option<(DateTime<Utc>, Uuid)> = None;
    loop {
        let mut tx = fleet.store.bind(casino).await?;
        let page = tx.facts(from, to, after, PAGE).await?;
        tx.commit().await?;
        for fact in &page {
            let mut line = serde_json::to_value(fact)?;
            line["casino_id"] = casino.as_str().into();
            out!("{line}");
        }
        match page.last() {
            Some(last) if page.len() as i64 == PAGE => after = Some((last.at, last.turn_id)),
            _ => return Ok(()),
        }
    }
}

pub(super) async fn weeks(ctx: &Context, fleet: &Fleet, command: &Weeks) -> Result<()> {
    let casino = &command.of.casino;
    known(&fleet.store, casino).await?;
    let from = fleet.clock.now() - Days::new(7 * (command.weeks - 1));
    let monday = week_of(from.date_naive());
    let mut tx = fleet.store.bind(casino).await?;
    let weeks = tx.fact_weeks(monday, command.per.map(Part::from)).await?;
    let until = tx.facts_until().await?;
    let last = week_of(fleet.clock.now().date_naive()) - Days::new(7);
    let compared = tx.fact_weeks(last - Days::new(28), None).await?;
    tx.commit().await?;
    if command.json.json {
        return json_rows(&weeks);
    }
    let mut table = ctx.table([
        "week of",
        "of",
        "turns",
        "from rows",
        "best score",
        "scored",
        "confidence",
        "not grounded",
        "stand-in",
        "retried",
        "hand-overs",
        "learnt",
    ]);
    table = table.wide(["best score", "scored", "confidence", "stand-in", "learnt"]);
    for week in &weeks {
        table.add_row(row(week));
    }
    out!("{table}");
    let last = last.date_naive();
    let drifts = drifts(&compared, last);
    if drifts.is_empty() {
        out!(
            "The week of {last} is not compared: a week needs {LEAST_TURNS} turns, and one before it."
        );
    } else {
        out!("The week of {last} beside the three before it:");
    }
    for drift in drifts {
        out!("  {drift}");
    }
    match until {
        Some(at) => out!(
            "Turns until {}. The scheduler copies newer ones each night; `seven turn copy` copies \
             them now.",
            at.format("%Y-%m-%d %H:%M")
        ),
        None => {
            out!(
                "No turn was copied yet. The scheduler does it each night; `seven turn copy` does \
                 it now."
            );
        }
    }
    Ok(())
}

pub(super) async fn sample(ctx: &Context, fleet: &Fleet, command: &Sample) -> Result<()> {
    let casino = &command.of.casino;
    known(&fleet.store, casino).await?;
    let this = Month::of(fleet.clock.now());
    let month = command.month.unwrap_or_else(|| this.before());
    let mut tx = fleet.store.bind(casino).await?;
    let sampled = tx.sample(month.span(), EACH, &month.to_string()).await?;
    tx.commit().await?;
    if command.json.json {
        return json_rows(&sampled);
    }
    if sampled.is_empty() {
        out!("Nobody was answered in {month}.");
        return Ok(());
    }
    let mut table = ctx.table([
        "conversation",
        "why",
        "turns",
        "last",
        "confidence",
        "learnt",
    ]);
    for one in &sampled {
        table.add_row([
            one.conversation_id.to_string(),
            one.why.replace('_', " "),
            one.turns.to_string(),
            minute(one.last_at),
            mean(one.confidence),
            one.learnt.to_string(),
        ]);
    }
    out!("{table}");
    out!("Read each with `seven conversation show`; `seven gate mark` records what was wrong.");
    Ok(())
}

fn mean(mean: Option<f64>) -> String {
    mean.map_or_else(|| "-".to_owned(), |mean| format!("{mean:.2}"))
}

fn row(week: &Week) -> [String; 12] {
    let share = |n: i64| {
        if week.turns == 0 {
            "-".to_owned()
        } else {
            format!("{:.1} %", 100.0 * n as f64 / week.turns as f64)
        }
    };
    [
        week.week.to_string(),
        week.part.clone().unwrap_or_else(|| "all".to_owned()),
        week.turns.to_string(),
        share(week.with_rows),
        mean(week.top_score),
        week.scored.to_string(),
        mean(week.confidence),
        share(week.not_grounded),
        share(week.degraded),
        share(week.retried),
        week.handoffs.to_string(),
        week.learnt.to_string(),
    ]
}

/// Returns the start of the week that contains the day.
fn week_of(day: NaiveDate) -> DateTime<Utc> {
    day.week(chrono::Weekday::Mon)
        .first_day()
        .and_time(NaiveTime::MIN)
        .and_utc()
}

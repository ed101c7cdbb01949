//! `seven turn copy|export|weeks`: figures of turns for analysis, without guests and texts (OBS-17, OBS-35, PROD-29).

use std::path::Path;

use anyhow::{Result, ensure};
use chrono::{DateTime, Days, NaiveDate, NaiveTime, Utc};
use clap::{Args, ValueEnum};
use seven_domain::CasinoId;
use seven_runtime::Fleet;
use seven_store::facts::{BATCH, Part, Week};
use uuid::Uuid;

use super::{fleet, given, known};
use crate::out;

/// Rows of one page of an export.
const PAGE: i64 = 1_000;

#[derive(Debug, Args)]
pub struct Copy {
    /// This casino only; every casino when left out.
    #[arg(long, value_name = "ID")]
    casino: Option<CasinoId>,
}

#[derive(Debug, Args)]
pub struct Export {
    #[arg(long, value_name = "ID")]
    casino: CasinoId,
    /// The first day, by UTC, such as 2026-11-01.
    #[arg(long, value_name = "DAY", value_parser = given::day)]
    from: NaiveDate,
    /// The day after the last; until now when left out.
    #[arg(long, value_name = "DAY", value_parser = given::day)]
    to: Option<NaiveDate>,
}

#[derive(Debug, Args)]
pub struct Weeks {
    #[arg(long, value_name = "ID")]
    casino: CasinoId,
    /// How many weeks back, this one included.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=520))]
    weeks: u64,
    /// A line for each agent, intent, language or model of a week.
    #[arg(long, value_name = "WHAT")]
    by: Option<By>,
    /// One JSON line per week instead of a table.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum By {
    Agent,
    Intent,
    Language,
    Model,
}

impl From<By> for Part {
    fn from(by: By) -> Self {
        match by {
            By::Agent => Self::Agent,
            By::Intent => Self::Intent,
            By::Language => Self::Language,
            By::Model => Self::Model,
        }
    }
}

/// Counts of a casino's copy, and the turns that failed.
#[derive(Debug, Default)]
struct Copied {
    looked_at: i64,
    written: i64,
    failed: Vec<Uuid>,
}

pub async fn copy(config: Option<&Path>, command: &Copy) -> Result<()> {
    let fleet = fleet(config).await?;
    let casinos = match &command.casino {
        Some(casino) => {
            known(&fleet.store, casino).await?;
            vec![casino.clone()]
        }
        None => fleet.store.roster().await?.into_iter().map(|entry| entry.casino).collect(),
    };
    let mut failed = 0;
    for casino in casinos {
        let done = whole(&fleet, &casino).await?;
        let stood = done.looked_at - done.written - i64::try_from(done.failed.len()).unwrap_or(i64::MAX);
        out!(
            "{casino}: {} turn(s), {} copied, {stood} stood as they were, {} failed",
            done.looked_at,
            done.written,
            done.failed.len()
        );
        done.failed.iter().for_each(|turn| out!("  failed  {turn}"));
        failed += done.failed.len();
    }
    ensure!(failed == 0, "{failed} turn(s) could not be copied; the log says why");
    Ok(())
}

/// All finished turns, a batch per transaction; a batch that fails is gone through turn by turn.
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
        let Some(turn) = tx.turn_behind(after).await? else { return Ok(done) };
        tx.commit().await?;
        tracing::error!(%casino, turn_id = %turn, error = &error as &dyn std::error::Error, "a turn's figures cannot be copied");
        done.looked_at += 1;
        done.failed.push(turn);
        after = Some(turn);
    }
}

pub async fn export(config: Option<&Path>, command: &Export) -> Result<()> {
    if let Some(to) = command.to {
        ensure!(command.from < to, "--to {to} is not after --from {}; it is the day after the last", command.from);
    }
    let fleet = fleet(config).await?;
    known(&fleet.store, &command.casino).await?;
    let start = |day: NaiveDate| day.and_time(NaiveTime::MIN).and_utc();
    let to = command.to.map_or_else(|| fleet.clock.now(), start);
    let mut after: Option<(DateTime<Utc>, Uuid)> = None;
    loop {
        let mut tx = fleet.store.bind(&command.casino).await?;
        let page = tx.facts(start(command.from), to, after, PAGE).await?;
        tx.commit().await?;
        for fact in &page {
            let mut line = serde_json::to_value(fact)?;
            line["casino_id"] = command.casino.as_str().into();
            out!("{line}");
        }
        match page.last() {
            Some(last) if page.len() as i64 == PAGE => after = Some((last.at, last.turn_id)),
            _ => return Ok(()),
        }
    }
}

pub async fn weeks(config: Option<&Path>, command: &Weeks) -> Result<()> {
    let fleet = fleet(config).await?;
    known(&fleet.store, &command.casino).await?;
    let from = fleet.clock.now() - Days::new(7 * (command.weeks - 1));
    let monday = week_of(from.date_naive());
    let mut tx = fleet.store.bind(&command.casino).await?;
    let (weeks, until) = (tx.fact_weeks(monday, command.by.map(Part::from)).await?, tx.facts_until().await?);
    tx.commit().await?;
    if command.json {
        weeks.iter().try_for_each(|week| serde_json::to_string(week).map(|line| out!("{line}")))?;
        return Ok(());
    }
    let mut table = super::table([
        "week of",
        "of",
        "turns",
        "from rows",
        "best score",
        "scored",
        "not grounded",
        "stand-in",
        "retried",
        "hand-overs",
        "learnt",
    ]);
    for week in &weeks {
        table.add_row(row(week));
    }
    out!("{table}");
    match until {
        Some(at) => out!(
            "Turns until {}; the night copies the newer ones, seven turn copy does it now.",
            at.format("%Y-%m-%d %H:%M")
        ),
        None => out!("No turn has been copied yet; the night does it, seven turn copy does it now."),
    }
    Ok(())
}

fn row(week: &Week) -> [String; 11] {
    let share = |n: i64| {
        if week.turns == 0 { "-".to_owned() } else { format!("{:.1} %", 100.0 * n as f64 / week.turns as f64) }
    };
    [
        week.week.to_string(),
        week.part.clone().unwrap_or_else(|| "all".to_owned()),
        week.turns.to_string(),
        share(week.with_rows),
        week.top_score.map_or_else(|| "-".to_owned(), |score| format!("{score:.2}")),
        week.scored.to_string(),
        share(week.not_grounded),
        share(week.degraded),
        share(week.retried),
        week.handoffs.to_string(),
        week.learnt.to_string(),
    ]
}

/// The beginning of a day's week.
fn week_of(day: NaiveDate) -> DateTime<Utc> {
    day.week(chrono::Weekday::Mon).first_day().and_time(NaiveTime::MIN).and_utc()
}

//! Looks at a casino's past week (RAG-21, RAG-45..47, OBS-48, OBS-49): asks its own questions again,
//! compares its answers with those of the weeks before, and tells people what got worse.

use chrono::{Days, NaiveDate, TimeDelta};
use serde_json::{Value, json};
use seven_content::{
    questions::asked_in_vain,
    run_set,
    week::{ContentWeek, Search},
};
use seven_domain::CasinoId;
use seven_figures::drift::{Drift, State, drifts};
use seven_runtime::{Error, Fleet};
use seven_store::Tx;
use seven_telemetry::Alert;

/// Who runs the questions, as the console shows it; people's runs are no baseline.
const BY: &str = "scheduler";
/// How far back runs and weeks are compared with.
const BASELINE: TimeDelta = TimeDelta::weeks(4);
/// Runs that are read to find those of the baseline; people may have made others.
const MOST_RUNS: i64 = 60;

/// Does the week's work. `monday` is the first day after the week.
pub(crate) async fn check(
    fleet: &Fleet,
    tx: &mut Tx,
    casino: &CasinoId,
    monday: NaiveDate,
) -> Result<Value, Error> {
    let roster = fleet.store.roster().await?;
    if !roster.iter().any(|one| one.active && one.casino == *casino) {
        return Ok(json!({ "served": false }));
    }
    let week = monday - Days::new(7);
    let drifts = drifted(fleet, tx, week).await?;
    let search = ask(fleet, tx, casino).await?;
    let items = tx.listed_items(None).await?;
    let since = fleet.clock.now() - TimeDelta::weeks(1);
    let groups = asked_in_vain(tx, since, &items).await?;
    raise(casino, week, &drifts, search.as_ref());
    let told = ContentWeek::of(week, &groups, search);
    let letters = match &told {
        Some(told) => tx.plan_content_week(week, &json!(told)).await?,
        None => 0,
    };
    let worse = drifts.iter().filter(|drift| drift.state <= State::Worse);
    Ok(json!({ "worse": worse.count(), "content": told, "letters": letters }))
}

/// Compares the week's answers with those of the weeks before.
async fn drifted(fleet: &Fleet, tx: &mut Tx, week: NaiveDate) -> Result<Vec<Drift>, Error> {
    let from = fleet.clock.now() - BASELINE - TimeDelta::weeks(1);
    Ok(drifts(&tx.fact_weeks(from, None).await?, week))
}

/// Asks the casino's own questions, if it has any; returns the run if it found too little.
async fn ask(fleet: &Fleet, tx: &mut Tx, casino: &CasinoId) -> Result<Option<Search>, Error> {
    if tx.set_questions().await?.is_empty() {
        return Ok(None);
    }
    let since = fleet.clock.now() - BASELINE;
    let mut earlier = tx.runs(MOST_RUNS).await?;
    earlier.retain(|run| run.ran_by == BY && run.ran_at >= since);
    let run = run_set(fleet, casino, BY)
        .await
        .map_err(|error| match error {
            seven_content::Error::Store(error) => Error::Store(error),
            error => Error::Other(error.to_string()),
        })?;
    Ok(Search::of(&run, &earlier))
}

/// Tells the fleet's operators; the casino's own people get a letter.
fn raise(casino: &CasinoId, week: NaiveDate, drifts: &[Drift], search: Option<&Search>) {
    let alert = |name, text: &str| {
        Alert {
            name,
            casino: casino.as_str(),
            provider: "",
            code: "",
            text,
        }
        .raise();
    };
    if let Some(search) = search {
        let (recall, missed) = (search.recall * 100.0, search.missed);
        let text = format!(
            "of the casino's own {} questions the search misses items of {missed}, recall is {recall:.0} %; \
             look at its questions in the console",
            search.questions
        );
        alert("retrieval_low", &text);
    }
    for (state, name) in [
        (State::MuchWorse, "answers_much_worse"),
        (State::Worse, "answers_worse"),
    ] {
        let said: Vec<String> = drifts
            .iter()
            .filter(|drift| drift.state == state)
            .map(ToString::to_string)
            .collect();
        if !said.is_empty() {
            let text = format!(
                "answers of the week of {week} are worse than in the weeks before: {}; \
                 `seven turn weeks` shows the weeks",
                said.join(", ")
            );
            alert(name, &text);
        }
    }
}

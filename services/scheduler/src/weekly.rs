//! Reviews a casino's past week. Tests the search with the casino's own questions, compares the
//! answers with earlier weeks, and tells people if something got worse.

use chrono::{DateTime, Days, NaiveDate, TimeDelta, Utc};
use chrono_tz::Tz;
use serde_json::{Value, json};
use seven_content::{
    questions::asked_in_vain,
    run_set,
    week::{ContentWeek, Fault, LEAST_RECALL, Search},
};
use seven_domain::CasinoId;
use seven_figures::{
    Period,
    drift::{Drift, State, drifts},
};
use seven_runtime::{Error, Fleet};
use seven_store::{Tx, content::Run};
use seven_telemetry::Alert;

use crate::letters::SENT_AFTER;

/// The job's name in the table of nightly jobs.
pub(crate) const JOB: &str = "weekly_checks";
/// The name under which the scheduler's runs are stored. Only these runs are compared, not the runs
/// that people started.
const BY: &str = "scheduler";
/// The past week is compared with the runs and weeks of this period before it.
const BASELINE: TimeDelta = TimeDelta::weeks(4);
/// Maximum number of stored runs that are read. People's runs are among them and are left out after
/// reading.
const MOST_RUNS: i64 = 60;

/// A week (Monday to Sunday) of a casino.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Week<'a> {
    pub(crate) casino: &'a CasinoId,
    /// The first day after the week, a Monday.
    pub(crate) ended: NaiveDate,
    pub(crate) zone: Tz,
}

impl Week<'_> {
    fn begun(&self) -> NaiveDate {
        self.ended - Days::new(7)
    }

    fn bounds(&self) -> (DateTime<Utc>, DateTime<Utc>) {
        let period = Period {
            from: self.begun(),
            to: self.ended - Days::new(1),
            zone: self.zone,
        };
        period.bounds()
    }
}

/// Tests the search with the casino's own questions. Does nothing if the casino is not active, has
/// no questions, or the week was reviewed before. The test runs outside a transaction, because it
/// may take seconds.
pub(crate) async fn ask(fleet: &Fleet, week: Week<'_>) -> Result<Option<Run>, Error> {
    let mut tx = fleet.store.bind(week.casino).await?;
    let asks = !tx.nightly_is_done(JOB, week.ended).await?
        && is_served(fleet, week.casino).await?
        && !tx.set_questions().await?.is_empty();
    let space = tx.content_space().await?;
    let missing = match &space {
        Some(space) => tx.questions_without_vector(space).await?.len(),
        None => 0,
    };
    tx.commit().await?;
    if asks && missing > 0 {
        // Without vectors, the search uses words and finds less. That would look like a fault of
        // the casino's content.
        tracing::warn!(
            casino = %week.casino,
            missing,
            "the casino's own questions have no vectors and are not asked this week; \
             `seven knowledge reindex` makes them"
        );
        return Ok(None);
    }
    if !asks {
        return Ok(None);
    }
    let run = run_set(fleet, week.casino, BY).await;
    run.map(Some).map_err(|error| match error {
        seven_content::Error::Store(error) => Error::Store(error),
        error => Error::Other(error.to_string()),
    })
}

/// Reviews the week and plans alerts and letters about what got worse. `run` is the result of
/// [`ask`], which the caller runs first.
pub(crate) async fn check(
    fleet: &Fleet,
    tx: &mut Tx,
    week: Week<'_>,
    run: Option<&Run>,
) -> Result<Value, Error> {
    if !is_served(fleet, week.casino).await? {
        return Ok(json!({ "served": false }));
    }
    let (from, to) = week.bounds();
    let weeks = tx.fact_weeks(from - BASELINE, None).await?;
    let drifts = drifts(&weeks, week.begun());
    let search = match run {
        Some(run) => {
            let mut earlier = tx.runs(MOST_RUNS).await?;
            let since = from - BASELINE;
            earlier.retain(|one| one.ran_by == BY && (since..to).contains(&one.ran_at));
            Search::of(run, &earlier)
        }
        None => None,
    };
    let items = tx.listed_items(None).await?;
    let groups = asked_in_vain(tx, from..to, &items).await?;
    for (name, text) in alerts(week.begun(), &drifts, search.as_ref()) {
        let casino = week.casino.clone();
        tx.once_committed(move || {
            Alert {
                name,
                casino: casino.as_str(),
                provider: "",
                code: "",
                text: &text,
            }
            .raise();
        });
    }
    let told = ContentWeek::of(week.begun(), &groups, search);
    let letters = match &told {
        Some(told) => {
            let at = to + SENT_AFTER;
            tx.plan_content_week(week.begun(), &json!(told), at).await?
        }
        None => 0,
    };
    let worse = drifts.iter().filter(|drift| drift.state <= State::Worse);
    Ok(json!({ "worse": worse.count(), "content": told, "letters": letters }))
}

async fn is_served(fleet: &Fleet, casino: &CasinoId) -> Result<bool, Error> {
    let roster = fleet.store.roster().await?;
    Ok(roster.iter().any(|one| one.active && one.casino == *casino))
}

/// Returns the alerts for the fleet's operators (name and text); the casino's own people get a
/// letter.
fn alerts(
    week: NaiveDate,
    drifts: &[Drift],
    search: Option<&Search>,
) -> Vec<(&'static str, String)> {
    let found = search.map(|search| ("retrieval_low", searched(search)));
    let states = [
        (State::MuchWorse, "answers_much_worse"),
        (State::Worse, "answers_worse"),
    ];
    let worse = states.into_iter().filter_map(|(state, name)| {
        let said: Vec<String> = drifts
            .iter()
            .filter(|drift| drift.state == state)
            .map(ToString::to_string)
            .collect();
        let said = (!said.is_empty()).then(|| said.join(", "))?;
        let text = format!(
            "answers of the week of {week} are worse than in the weeks before: {said}; \
             `seven turn weeks` shows the weeks"
        );
        Some((name, text))
    });
    found.into_iter().chain(worse).collect()
}

fn searched(search: &Search) -> String {
    let (questions, recall) = (search.questions, search.recall * 100.0);
    let before = search.before.unwrap_or_default() * 100.0;
    let what = match search.fault {
        Fault::Low => {
            let least = LEAST_RECALL * 100.0;
            format!("finds {recall:.1} % of the right items, {least:.0} % are due")
        }
        Fault::Fell => format!("finds {recall:.1} % of the right items, {before:.1} % before"),
        Fault::Lower => "finds the right items further down than in the weeks before".to_owned(),
    };
    format!(
        "of the casino's own {questions} questions the search {what}; look at its questions in the \
         console"
    )
}

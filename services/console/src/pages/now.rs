//! Shows a casino's present state: what waits for a person, what is stopped, and the figures of
//! today and yesterday.

use std::{sync::Arc, time::Duration};

use askama::{Template, filters::HtmlSafe};
use axum::{
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use chrono::{DateTime, NaiveTime, TimeDelta, Utc};
use chrono_tz::Tz;
use seven_domain::CasinoId;
use seven_notices::reason_name;
use seven_settings::Worker;
use seven_staff::Right;
use seven_store::{
    day::{Day, Waiting},
    escalations::Escalation,
    providers::Stop,
};

use super::{cases::due, conversations::clock};
use crate::{
    access::Person,
    app::{App, Shared},
    fault::Fault,
    frame::Frame,
    guard::shown,
    lists::{Figures, Standing},
    words::Words,
};

/// Maximum number of cases on the page. The cases that are due earliest come first.
const MOST_CASES: usize = 8;
/// Maximum number of open cases that are read and counted.
const COUNTED: i64 = 1_000;
/// Seconds without a heartbeat after which a worker counts as missing.
const SILENT_SECONDS: f64 = 5.0;
const WORKERS_SINCE: Duration = Duration::from_secs(600);

#[derive(Template)]
#[template(path = "now.html")]
struct NowPage {
    frame: Frame,
    part: NowPart,
}

#[derive(Template)]
#[template(path = "now_part.html")]
struct NowPart {
    w: Words,
    casino: CasinoId,
    waiting: Waiting,
    may_see_dead: bool,
    cases: usize,
    overdue: usize,
    next: Vec<CaseRow>,
    /// The switches that are on, the stopped providers, and the bus if it is away; one line each.
    stopped: Vec<String>,
    /// Names of the workers that have no live process.
    missing: Vec<&'static str>,
    figures: Vec<Figure>,
}

/// Pages may insert this part unescaped, because its own template already escapes its values.
impl HtmlSafe for NowPart {}

struct CaseRow {
    reason: String,
    due: String,
    overdue: bool,
    link: String,
}

struct Figure {
    name: &'static str,
    today: String,
    yesterday: String,
}

pub(crate) async fn show(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    person: Person,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Conversations)?;
    let standing = read(&app, &casino).await?;
    let part = part(&app, &casino, &person, &standing).await?;
    let title = person.words().t("now");
    let frame = Frame::of(&person, Some(&casino), title, "now");
    Ok(shown(&NowPage { frame, part }).into_response())
}

/// Returns the page's content alone, which the page fetches again after a hint.
pub(crate) async fn fresh(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    person: Person,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Conversations)?;
    let shared = &app.read.standing;
    let standing = shared.of(&casino, read(&app, &casino)).await?;
    Ok(shown(&part(&app, &casino, &person, &standing).await?).into_response())
}

/// Reads the page's content, which is the same for everybody who may see it.
async fn read(app: &App, casino: &CasinoId) -> Result<Standing, Fault> {
    let store = &app.fleet.store;
    let mut tx = store.bind(casino).await?;
    let row = tx.casino_row().await?.ok_or(Fault::NotFound)?;
    let waiting = tx.what_waits().await?;
    let mut cases = tx.escalations(false, COUNTED).await?;
    let own = tx.own_switches().await?;
    tx.commit().await?;
    cases.sort_by_key(|case| (due(case).is_none(), due(case), case.created_at));
    let mut switches = store.fleet_switches().await?;
    switches.extend(own);
    let stops = store.provider_stops().await?.into_iter();
    let ours = |stop: &Stop| stop.casino_id.is_empty() || stop.casino_id == casino.as_str();
    Ok(Standing {
        zone: row.config.operational.timezone,
        waiting,
        cases,
        switches,
        stops: stops.filter(ours).collect(),
        missing: missing(app).await?,
    })
}

async fn part(
    app: &App,
    casino: &CasinoId,
    person: &Person,
    standing: &Standing,
) -> Result<NowPart, Fault> {
    let (w, now) = (person.words(), app.fleet.clock.now());
    let (zone, cases) = (standing.zone, &standing.cases);
    let is_overdue = |case: &Escalation| due(case).is_some_and(|at| at < now);
    let overdue = cases.iter().filter(|case| is_overdue(case)).count();
    let open = cases.len();
    let next = cases.iter().take(MOST_CASES).map(|case| CaseRow {
        reason: reason_name(w.language(), &case.reason),
        due: due(case).map_or_else(String::new, |at| clock(at, Some(zone))),
        overdue: is_overdue(case),
        link: case.conversation_id.map_or_else(
            || format!("/c/{casino}/cases"),
            |id| format!("/c/{casino}/conversations/{id}"),
        ),
    });
    let (today, yesterday) = *figures(app, casino, zone).await?;
    Ok(NowPart {
        w,
        casino: casino.clone(),
        waiting: standing.waiting,
        may_see_dead: person.may(casino, Right::DeadLetters),
        cases: open,
        overdue,
        next: next.collect(),
        stopped: stopped(app, w, standing).await,
        missing: standing.missing.clone(),
        figures: rows(today, yesterday),
    })
}

/// Lists the switches that are on, the stopped providers, and the bus if it is away.
async fn stopped(app: &App, w: Words, standing: &Standing) -> Vec<String> {
    let switches = standing.switches.iter();
    let mut lines: Vec<String> = switches
        .map(|switch| {
            let name = w.of_kind("switch", switch.name.as_str());
            let fleet = if switch.casino_id.is_empty() {
                format!(" ({})", w.t("every_casino"))
            } else {
                String::new()
            };
            format!("{name}{fleet}: {}", switch.reason)
        })
        .collect();
    let stops = standing.stops.iter();
    lines.extend(stops.map(|stop| format!("{}: {}", w.t("provider_stopped"), stop.provider)));
    if !app.bus_answers().await {
        lines.push(w.t("bus_away").to_owned());
    }
    lines
}

/// Returns the names of the workers that have no process with a recent heartbeat.
async fn missing(app: &App) -> Result<Vec<&'static str>, Fault> {
    let beats = app.fleet.store.workers(WORKERS_SINCE).await?;
    let lives = |worker: &Worker| {
        beats
            .iter()
            .any(|beat| beat.worker == worker.name() && beat.silent <= SILENT_SECONDS)
    };
    let missing = Worker::ALL.iter().filter(|worker| !lives(worker));
    Ok(missing.map(|worker| worker.name()).collect())
}

/// Returns the figures of today so far, and of yesterday until the same time of day. They are
/// counted at most twice a minute, however many pages are open.
async fn figures(app: &App, casino: &CasinoId, zone: Tz) -> Result<Arc<Figures>, Fault> {
    let count = async {
        let now = app.fleet.clock.now();
        let midnight = midnight(now, zone);
        let yesterday = TimeDelta::days(1);
        let mut tx = app.fleet.store.bind(casino).await?;
        let today = tx.day(midnight, now).await?;
        let before = tx.day(midnight - yesterday, now - yesterday).await?;
        tx.commit().await?;
        Ok((today, before))
    };
    app.read.figures.of(casino, count).await
}

/// Returns the beginning of the present day in the casino's time zone.
fn midnight(now: DateTime<Utc>, zone: Tz) -> DateTime<Utc> {
    let day = now.with_timezone(&zone).date_naive();
    let begin = day.and_time(NaiveTime::MIN).and_local_timezone(zone);
    // If a clock change makes midnight occur twice, the day begins at the earlier one.
    begin
        .earliest()
        .map_or(now - TimeDelta::days(1), |at| at.to_utc())
}

fn rows(today: Day, yesterday: Day) -> Vec<Figure> {
    let row = |name, of: fn(&Day) -> i64| Figure {
        name,
        today: of(&today).to_string(),
        yesterday: of(&yesterday).to_string(),
    };
    let share = |day: &Day| match day.texts_out {
        0 => "–".to_owned(),
        sent => format!("{:.1} %", day.delivered as f64 * 100.0 / sent as f64),
    };
    vec![
        row("texts_in", |day| day.texts_in),
        row("guests_who_wrote", |day| day.conversations),
        row("new_guests", |day| day.new_guests),
        row("texts_out", |day| day.texts_out),
        Figure {
            name: "delivered_share",
            today: share(&today),
            yesterday: share(&yesterday),
        },
        row("cases_opened", |day| day.cases),
        row("opt_outs", |day| day.opt_outs),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_at_the_propertys_midnight() {
        let zone = chrono_tz::America::New_York;
        for (now, begin) in [
            ("2026-11-27T05:00:00Z", "2026-11-27T05:00:00Z"),
            ("2026-11-27T04:59:59Z", "2026-11-26T05:00:00Z"),
            // The clocks go forward on the first of these days and back on the second.
            ("2026-03-08T20:00:00Z", "2026-03-08T05:00:00Z"),
            ("2026-11-01T20:00:00Z", "2026-11-01T04:00:00Z"),
        ] {
            let found = midnight(now.parse().unwrap(), zone);
            assert_eq!(found, begin.parse::<DateTime<Utc>>().unwrap(), "{now}");
        }
    }
}

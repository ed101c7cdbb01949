//! The cases that wait for a person, the most severe first.

use askama::{Template, filters::HtmlSafe};
use axum::{
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use chrono::{DateTime, Utc};
use serde::Deserialize;
use seven_domain::CasinoId;
use seven_notices::reason_name;
use seven_staff::Right;
use seven_store::{contacts::Told, escalations::Escalation};
use uuid::Uuid;

use super::conversations::{clock, name_of};
use crate::{
    access::{Person, Posted},
    app::Shared,
    fault::Fault,
    frame::Frame,
    guard::{go_to, shown},
    lists::CaseList,
    words::Words,
};

/// Maximum number of cases in the list.
const MOST: i64 = 200;

#[derive(Template)]
#[template(path = "cases.html")]
struct CasesPage {
    frame: Frame,
    part: CasesPart,
}

#[derive(Template)]
#[template(path = "cases_list.html")]
struct CasesPart {
    w: Words,
    casino: CasinoId,
    forms: String,
    rows: Vec<Row>,
    may_handle: bool,
}

/// Pages may insert this part unescaped, because its own template already escapes its values.
impl HtmlSafe for CasesPart {}

struct Row {
    id: String,
    severity: String,
    reason: String,
    about: String,
    opened: String,
    due: String,
    overdue: bool,
    in_hand: String,
    conversation: String,
    /// The contacts that were told about the case, and when.
    told: Vec<String>,
    /// How often the case was passed on because nobody acknowledged it.
    level: i32,
}

#[derive(Template)]
#[template(path = "count.html")]
struct CountPart {
    w: Words,
    waiting: usize,
    /// The id of the newest case that nobody has acknowledged (ids grow with time); empty if there
    /// is none.
    newest: String,
}

#[derive(Deserialize)]
pub(crate) struct Handled {
    #[serde(default)]
    what: String,
}

pub(crate) async fn show(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    person: Person,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Conversations)?;
    let part = part(&app, &casino, &person, &read(&app, &casino).await?);
    let title = person.words().t("cases").to_owned();
    let frame = Frame::of(&person, Some(&casino), &title, "cases");
    Ok(shown(&CasesPage { frame, part }).into_response())
}

/// Returns the list alone, which the page fetches again after a hint.
pub(crate) async fn list(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    person: Person,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Conversations)?;
    let list = app.read.cases.of(&casino, read(&app, &casino)).await?;
    Ok(shown(&part(&app, &casino, &person, &list)).into_response())
}

/// Returns the number of cases that nobody has acknowledged, and the newest of them. Every page
/// shows the number in its title.
pub(crate) async fn count(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    person: Person,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Conversations)?;
    let list = app.read.cases.of(&casino, read(&app, &casino)).await?;
    let waiting = || {
        list.cases
            .iter()
            .filter(|case| case.acknowledged_at.is_none())
    };
    let newest = waiting().map(|case| case.escalation_id).max();
    let page = CountPart {
        w: person.words(),
        waiting: waiting().count(),
        newest: newest.map(|id| id.to_string()).unwrap_or_default(),
    };
    Ok(shown(&page).into_response())
}

/// Reads the list, which is the same for everybody who may see it.
async fn read(app: &Shared, casino: &CasinoId) -> Result<CaseList, Fault> {
    let mut tx = app.fleet.store.bind(casino).await?;
    let cases = tx.escalations(false, MOST).await?;
    let zone = tx
        .casino_row()
        .await?
        .map(|row| row.config.operational.timezone);
    let ids: Vec<Uuid> = cases.iter().map(|case| case.escalation_id).collect();
    let told = tx.told_about(&ids).await?;
    let names = tx.staff_names().await?;
    tx.commit().await?;
    Ok(CaseList {
        cases,
        zone,
        told,
        names,
    })
}

fn part(app: &Shared, casino: &CasinoId, person: &Person, list: &CaseList) -> CasesPart {
    let w = person.words();
    let now = app.fleet.clock.now();
    let zone = list.zone;
    let rows = list.cases.iter().map(|case| Row {
        id: case.escalation_id.to_string(),
        severity: case.severity.to_string(),
        reason: reason_name(w.language(), &case.reason),
        about: case.subject.clone(),
        opened: clock(case.created_at, zone),
        due: due(case).map(|at| clock(at, zone)).unwrap_or_default(),
        overdue: due(case).is_some_and(|at| at < now),
        in_hand: case
            .acknowledged_by
            .as_ref()
            .map(|by| name_of(&list.names, by))
            .unwrap_or_default(),
        conversation: case
            .conversation_id
            .map(|id| id.to_string())
            .unwrap_or_default(),
        told: list
            .told
            .iter()
            .filter(|one| one.escalation_id == case.escalation_id)
            .map(|one| said(w, one, zone))
            .collect(),
        level: case.level,
    });
    CasesPart {
        w,
        casino: casino.clone(),
        forms: person.token.for_forms(),
        rows: rows.collect(),
        may_handle: person.may(casino, Right::Converse),
    }
}

/// Writes which contact was told, by which channel, and when, or that the notice has not arrived.
fn said(w: Words, one: &Told, zone: Option<chrono_tz::Tz>) -> String {
    let state = match (one.delivered_at, one.given_up_at) {
        (Some(at), _) => clock(at, zone),
        (None, Some(_)) => w.t("not_reached").to_owned(),
        (None, None) => w.t("not_yet").to_owned(),
    };
    format!(
        "{} ({}) {state}",
        one.name,
        w.of_kind("channel", one.channel.as_str())
    )
}

/// Returns the next time by which somebody must act: acknowledge the case, then write to the guest.
pub(super) fn due(case: &Escalation) -> Option<DateTime<Utc>> {
    match case.acknowledged_at {
        None => case.ack_due_at.or(case.respond_due_at),
        Some(_) => case.respond_due_at,
    }
}

/// Acknowledges or settles a case. A case that somebody else has handled meanwhile stays as it is.
pub(crate) async fn handle(
    State(app): State<Shared>,
    Path((casino, case)): Path<(CasinoId, Uuid)>,
    Posted { person, form }: Posted<Handled>,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Converse)?;
    let by = person.actor();
    match form.what.as_str() {
        "acknowledge" => {
            let mut tx = app.fleet.store.bind(&casino).await?;
            tx.acknowledge(case, &by).await?;
            tx.commit().await?;
        }
        "resolve" => {
            seven_staff::settle(&app.fleet, &casino, case, &by).await?;
        }
        _ => return Err(Fault::NotFound),
    }
    app.hints.changed(&casino);
    Ok(go_to(&format!("/c/{casino}/cases")))
}

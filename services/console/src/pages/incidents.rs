//! Shows the incidents that the fleet found and contained: when each was found, which measures were
//! taken at once, and how a person settled it.

use askama::Template;
use axum::{
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use seven_domain::{CasinoId, IncidentState};
use seven_staff::{
    Right,
    incidents::{NotChanged, Outcome, report, settle},
};
use uuid::Uuid;

use super::conversations::{clock, name_of};
use crate::{
    access::{Person, Posted},
    app::Shared,
    fault::Fault,
    frame::Frame,
    guard::{go_to, shown},
};

/// Maximum number of incidents in the list.
const MOST: i64 = 100;
const MOST_SAID: usize = 1_000;

#[derive(Template)]
#[template(path = "incidents.html")]
struct IncidentsPage {
    frame: Frame,
    casino: CasinoId,
    rows: Vec<Row>,
    may_settle: bool,
    problem: Option<&'static str>,
}

struct Row {
    id: String,
    kind: String,
    severity: String,
    state: String,
    is_open: bool,
    wants_report: bool,
    found: String,
    actions: Vec<String>,
    texts: usize,
    conversation: String,
    /// The person who settled the incident, and when; empty while it is open.
    settled: String,
    outcome: String,
    false_alarm: bool,
    report: String,
}

#[derive(Deserialize)]
pub(crate) struct Changed {
    /// The action: `settle`, `false_alarm` or `report`.
    #[serde(default)]
    what: String,
    #[serde(default)]
    said: String,
}

pub(crate) async fn show(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    person: Person,
) -> Result<Response, Fault> {
    page(&app, &casino, &person, None).await
}

async fn page(
    app: &Shared,
    casino: &CasinoId,
    person: &Person,
    problem: Option<&'static str>,
) -> Result<Response, Fault> {
    person.needs(casino, Right::Conversations)?;
    let mut tx = app.fleet.store.bind(casino).await?;
    let zone = tx
        .casino_row()
        .await?
        .map(|row| row.config.operational.timezone);
    let incidents = tx.found_incidents(true, MOST).await?;
    let names = tx.staff_names().await?;
    tx.commit().await?;
    let w = person.words();
    let rows = incidents.into_iter().map(|one| Row {
        id: one.incident_id.to_string(),
        kind: w.of_kind("incident", one.kind.as_str()),
        severity: w.of_kind("grade", one.severity.as_str()),
        state: w.of_kind("incident_state", one.state.as_str()),
        is_open: one.state.is_open(),
        wants_report: one.state == IncidentState::Resolved,
        found: clock(one.detected_at, zone),
        actions: one
            .actions
            .iter()
            .map(|action| w.of_kind("contained", action))
            .collect(),
        texts: one.evidence.len(),
        conversation: one
            .conversation_id
            .map(|id| id.to_string())
            .unwrap_or_default(),
        settled: one
            .resolved_by
            .zip(one.resolved_at)
            .map(|(by, at)| format!("{}, {}", name_of(&names, &by), clock(at, zone)))
            .unwrap_or_default(),
        outcome: one.outcome.unwrap_or_default(),
        false_alarm: one.false_alarm,
        report: one.report.unwrap_or_default(),
    });
    let status = match problem {
        Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
        None => StatusCode::OK,
    };
    let page = IncidentsPage {
        frame: Frame::of(person, Some(casino), w.t("incidents"), "incidents"),
        casino: casino.clone(),
        rows: rows.collect(),
        may_settle: person.may(casino, Right::Converse),
        problem: problem.map(|key| w.t(key)),
    };
    Ok((status, shown(&page)).into_response())
}

/// Settles an incident or records its report. An incident that somebody else settled meanwhile
/// stays as it is.
pub(crate) async fn change(
    State(app): State<Shared>,
    Path((casino, incident)): Path<(CasinoId, Uuid)>,
    Posted { person, form }: Posted<Changed>,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Converse)?;
    let said: String = form.said.trim().chars().take(MOST_SAID).collect();
    if said.is_empty() {
        return page(&app, &casino, &person, Some("outcome_missing")).await;
    }
    let by = person.actor();
    let outcome = |false_alarm| Outcome {
        said: &said,
        false_alarm,
    };
    let changed = match form.what.as_str() {
        "settle" => settle(&app.fleet, &casino, incident, &by, outcome(false)).await,
        "false_alarm" => settle(&app.fleet, &casino, incident, &by, outcome(true)).await,
        "report" => report(&app.fleet, &casino, incident, &by, &said).await,
        _ => return Err(Fault::NotFound),
    };
    match changed {
        Ok(()) | Err(NotChanged::State(..)) => {}
        Err(NotChanged::Unknown) => return Err(Fault::NotFound),
        Err(NotChanged::Store(error)) => return Err(error.into()),
    }
    app.hints.changed(&casino);
    Ok(go_to(&format!("/c/{casino}/incidents")))
}

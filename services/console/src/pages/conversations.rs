//! The list of a casino's conversations, the most urgent first.

use std::collections::HashMap;

use askama::{Template, filters::HtmlSafe};
use axum::{
    extract::{Path, Query, State},
    response::{IntoResponse, Response},
};
use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;
use seven_domain::CasinoId;
use seven_staff::Right;
use seven_store::conversations::ListedConversation;

use crate::{access::Person, app::Shared, fault::Fault, frame::Frame, guard::shown, words::Words};

/// Days over which the list looks back, besides what is paused or has a case.
const DAYS: i64 = 7;
/// Most conversations in the list.
const MOST: i64 = 200;

pub(super) const FILTERS: [&str; 4] = ["open", "waiting", "paused", "mine"];

#[derive(Template)]
#[template(path = "conversations.html")]
struct ListPage {
    frame: Frame,
    filter: String,
    part: ListPart,
}

#[derive(Template)]
#[template(path = "conversations_list.html")]
struct ListPart {
    w: Words,
    casino: CasinoId,
    rows: Vec<Row>,
    filter: String,
    bus: bool,
}

/// A part of a page: its template has escaped what needs it.
impl HtmlSafe for ListPart {}

/// A conversation as the list shows it.
struct Row {
    id: String,
    guest: String,
    state: String,
    state_words: String,
    severity: String,
    held: i64,
    taken_by: String,
    last: String,
}

#[derive(Deserialize)]
pub(crate) struct Filter {
    #[serde(default)]
    show: String,
}

pub(crate) async fn show(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Query(filter): Query<Filter>,
    person: Person,
) -> Result<Response, Fault> {
    let part = part(&app, &casino, &filter, &person).await?;
    let title = person.words().t("conversations").to_owned();
    let frame = Frame::of(&person, Some(&casino), &title, "conversations");
    let filter = part.filter.clone();
    Ok(shown(&ListPage {
        frame,
        filter,
        part,
    })
    .into_response())
}

/// The list alone, which the page fetches again after a hint.
pub(crate) async fn list(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Query(filter): Query<Filter>,
    person: Person,
) -> Result<Response, Fault> {
    Ok(shown(&part(&app, &casino, &filter, &person).await?).into_response())
}

async fn part(
    app: &Shared,
    casino: &CasinoId,
    filter: &Filter,
    person: &Person,
) -> Result<ListPart, Fault> {
    person.needs(casino, Right::Conversations)?;
    let since = app.fleet.clock.now() - TimeDelta::days(DAYS);
    let mut tx = app.fleet.store.bind(casino).await?;
    let rows = tx.list_conversations(since, MOST).await?;
    let zone = tx
        .casino_row()
        .await?
        .map(|row| row.config.operational.timezone);
    let names = tx.staff_names().await?;
    tx.commit().await?;
    let (w, mine) = (person.words(), person.actor());
    let wanted = FILTERS.into_iter().find(|known| *known == filter.show);
    let wanted = wanted.unwrap_or("open");
    let rows = rows
        .into_iter()
        .filter(|row| is_wanted(row, wanted, &mine))
        .map(|row| Row {
            id: row.conversation_id.to_string(),
            guest: row.last_four.unwrap_or_default(),
            state_words: w.of_kind("state", &row.state),
            state: row.state,
            severity: row.severity.map(|s| s.to_string()).unwrap_or_default(),
            held: row.held_texts,
            taken_by: row
                .taken_by
                .map(|by| name_of(&names, &by))
                .unwrap_or_default(),
            last: row
                .last_inbound_at
                .map(|at| clock(at, zone))
                .unwrap_or_default(),
        })
        .collect();
    Ok(ListPart {
        w,
        casino: casino.clone(),
        rows,
        filter: wanted.to_owned(),
        bus: app.fleet.bus.ready().await,
    })
}

fn is_wanted(row: &ListedConversation, filter: &str, mine: &str) -> bool {
    match filter {
        "waiting" => row.cases > 0 && !row.acknowledged || row.held_texts > 0,
        "paused" => row.paused,
        "mine" => row.taken_by.as_deref() == Some(mine),
        _ => true,
    }
}

/// Returns the name of who did something: an operator's, or what a command was given.
pub(super) fn name_of(names: &HashMap<String, String>, by: &str) -> String {
    names.get(by).map_or(by, String::as_str).to_owned()
}

/// Writes a time as the property's clocks have it.
pub(super) fn clock(at: DateTime<Utc>, zone: Option<chrono_tz::Tz>) -> String {
    let zone = zone.unwrap_or(chrono_tz::UTC);
    at.with_timezone(&zone).format("%Y-%m-%d %H:%M").to_string()
}

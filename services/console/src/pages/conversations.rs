//! The list of a casino's conversations, the most urgent first.

use std::{collections::HashMap, sync::OnceLock};

use askama::{Template, filters::HtmlSafe};
use axum::{
    body::Bytes,
    extract::{Path, Query, State},
    response::{Html, IntoResponse, Response},
};
use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;
use seven_domain::{CasinoId, Language};
use seven_staff::Right;
use seven_store::conversations::ListedConversation;

use crate::{
    access::Person, app::Shared, fault::Fault, frame::Frame, guard::shown, lists::ConversationList,
    words::Words,
};

/// Days over which the list looks back, besides what is paused or has a case.
const DAYS: i64 = 7;
/// Most conversations in the list.
const MOST: i64 = 200;

pub(super) const FILTERS: [&str; 4] = ["open", "waiting", "paused", MINE];
/// The filter of which everybody sees something else.
const MINE: &str = "mine";

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
    person.needs(&casino, Right::Conversations)?;
    let list = read(&app, &casino).await?;
    let bus = app.fleet.bus.ready().await;
    let part = part(&casino, wanted(&filter), &person, &list, bus);
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
    person.needs(&casino, Right::Conversations)?;
    let shared = &app.read.conversations;
    let list = shared.of(&casino, read(&app, &casino)).await?;
    let bus = app.fleet.bus.ready().await;
    let filter = wanted(&filter);
    let render = || Bytes::from(shown(&part(&casino, filter, &person, &list, bus)).0);
    // The list that everybody sees alike is also rendered once.
    let page = match list.shown.get(&(filter, person.words().language())) {
        Some(shown) if bus => shown.get_or_init(render).clone(),
        _ => render(),
    };
    Ok(Html(page).into_response())
}

/// Reads the list, which is the same for everybody who may see it.
async fn read(app: &Shared, casino: &CasinoId) -> Result<ConversationList, Fault> {
    let since = app.fleet.clock.now() - TimeDelta::days(DAYS);
    let mut tx = app.fleet.store.bind(casino).await?;
    let rows = tx.list_conversations(since, MOST).await?;
    let row = tx.casino_row().await?;
    let zone = row.map(|row| row.config.operational.timezone);
    let names = tx.staff_names().await?;
    tx.commit().await?;
    let filters = FILTERS.into_iter().filter(|filter| *filter != MINE);
    let languages = [Language::En, Language::Es];
    let all = filters.flat_map(|filter| languages.map(|language| (filter, language)));
    Ok(ConversationList {
        rows,
        zone,
        names,
        shown: all.map(|key| (key, OnceLock::new())).collect(),
    })
}

/// Returns the filter that was asked for; the first one for a word that is none.
fn wanted(filter: &Filter) -> &'static str {
    let known = FILTERS.into_iter().find(|known| *known == filter.show);
    known.unwrap_or(FILTERS[0])
}

fn part(
    casino: &CasinoId,
    filter: &'static str,
    person: &Person,
    list: &ConversationList,
    bus: bool,
) -> ListPart {
    let (w, mine) = (person.words(), person.actor());
    let rows = list
        .rows
        .iter()
        .filter(|row| is_wanted(row, filter, &mine))
        .map(|row| Row {
            id: row.conversation_id.to_string(),
            guest: w.guest(row.last_four.as_deref()),
            state_words: w.of_kind("state", &row.state),
            state: row.state.clone(),
            severity: row.severity.map(|s| s.to_string()).unwrap_or_default(),
            held: row.held_texts,
            taken_by: row
                .taken_by
                .as_ref()
                .map(|by| name_of(&list.names, by))
                .unwrap_or_default(),
            last: row
                .last_inbound_at
                .map(|at| clock(at, list.zone))
                .unwrap_or_default(),
        })
        .collect();
    ListPart {
        w,
        casino: casino.clone(),
        rows,
        filter: filter.to_owned(),
        bus,
    }
}

fn is_wanted(row: &ListedConversation, filter: &str, mine: &str) -> bool {
    match filter {
        "waiting" => row.cases > 0 && !row.acknowledged || row.held_texts > 0,
        "paused" => row.paused,
        MINE => row.taken_by.as_deref() == Some(mine),
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

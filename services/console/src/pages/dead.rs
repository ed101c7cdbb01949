//! Shows the dead letters (D17): how many there are of each kind, and the newest of them. Takes
//! orders to replay or discard one letter or all of a kind. The scheduler carries the orders out;
//! the page shows their progress.

use askama::{Template, filters::HtmlSafe};
use axum::{
    extract::{Path, Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use seven_dead_letters::payload::plain;
use seven_domain::{CasinoId, Channel, DeadState, Stage};
use seven_staff::{Right, dead};
use seven_store::{
    controls::Order,
    dead::{Filter, Listed, Ordered},
};
use uuid::Uuid;

use super::conversations::clock;
use crate::{
    access::{Person, Posted},
    app::{App, Shared},
    fault::Fault,
    frame::Frame,
    guard::{go_to, shown},
    words::Words,
};

/// Maximum number of letters in the list.
const MOST: i64 = 100;
pub(super) const MOST_REASON: usize = 300;

#[derive(Template)]
#[template(path = "dead.html")]
struct DeadPage {
    frame: Frame,
    part: DeadPart,
    problem: &'static str,
}

/// The part of the page that changes while the scheduler carries orders out.
#[derive(Template)]
#[template(path = "dead_list.html")]
struct DeadPart {
    w: Words,
    casino: CasinoId,
    forms: String,
    may_order: bool,
    /// Number of orders that wait to be carried out.
    waiting: i64,
    kinds: Vec<Kind>,
    rows: Vec<Row>,
    /// Whether the list includes letters that were already replayed or discarded.
    all: bool,
}

/// Pages may insert this part unescaped, because its own template already escapes its values.
impl HtmlSafe for DeadPart {}

/// The open letters of one stage and reason.
struct Kind {
    key: String,
    stage: String,
    stage_key: Stage,
    reason: String,
    sentence: String,
    count: i64,
}

struct Row {
    id: Uuid,
    stage: String,
    /// The guest's channel; empty if it is unknown.
    channel: String,
    reason: String,
    error: String,
    tries: i32,
    last: String,
    state: String,
    is_open: bool,
    /// The order that waits; empty if none does. `refused` says why the last order was refused; it
    /// is empty if none was.
    ordered: String,
    refused: String,
}

#[derive(Deserialize)]
pub(crate) struct Chosen {
    #[serde(default)]
    all: String,
}

#[derive(Deserialize)]
pub(crate) struct Posting {
    /// `replay` or `discard`.
    #[serde(default)]
    order: String,
    /// The letter's id; if it is empty, the order concerns all letters with this `stage` and
    /// `kind`.
    #[serde(default)]
    letter: String,
    #[serde(default)]
    stage: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    reason: String,
}

pub(crate) async fn show(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Query(chosen): Query<Chosen>,
    person: Person,
) -> Result<Response, Fault> {
    page(&app, &casino, &person, !chosen.all.is_empty(), "").await
}

/// Returns the changing part alone, which the page fetches while orders wait.
pub(crate) async fn list(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Query(chosen): Query<Chosen>,
    person: Person,
) -> Result<Response, Fault> {
    let part = part(&app, &casino, &person, !chosen.all.is_empty()).await?;
    Ok(shown(&part).into_response())
}

async fn page(
    app: &App,
    casino: &CasinoId,
    person: &Person,
    all: bool,
    problem: &'static str,
) -> Result<Response, Fault> {
    let part = part(app, casino, person, all).await?;
    let w = person.words();
    let status = if problem.is_empty() {
        StatusCode::OK
    } else {
        StatusCode::UNPROCESSABLE_ENTITY
    };
    let page = DeadPage {
        frame: Frame::of(person, Some(casino), w.t("dead_letters"), "dead_letters"),
        part,
        problem: if problem.is_empty() { "" } else { w.t(problem) },
    };
    Ok((status, shown(&page)).into_response())
}

async fn part(app: &App, casino: &CasinoId, person: &Person, all: bool) -> Result<DeadPart, Fault> {
    person.needs(casino, Right::DeadLetters)?;
    let w = person.words();
    let filter = Filter {
        state: (!all).then_some(DeadState::Open),
        ..Filter::default()
    };
    let mut tx = app.fleet.store.bind(casino).await?;
    let zone = tx.casino_row().await?.ok_or(Fault::NotFound)?;
    let zone = Some(zone.config.operational.timezone);
    let mut kinds = tx.dead_kinds().await?;
    let letters = tx.dead_letters(&filter, None, MOST).await?;
    let waiting = tx.dead_orders_waiting().await?;
    tx.commit().await?;
    kinds.sort_by_key(|(stage, reason, count)| (-count, stage.as_str(), reason.clone()));
    let kind = |(stage, reason, count): (Stage, String, i64)| Kind {
        key: format!("{stage}-{reason}"),
        stage: w.of_kind("stage", stage.as_str()),
        stage_key: stage,
        sentence: w.of_kind("dead_cause", &reason),
        reason,
        count,
    };
    let row = |one: Listed| Row {
        id: one.dead_id,
        stage: w.of_kind("stage", one.stage.as_str()),
        channel: channel(w, one.channel),
        reason: w.of_kind("dead_cause", &one.reason),
        error: plain(&one.last_error),
        tries: one.attempts,
        last: clock(one.last_at, zone),
        state: w.of_kind("dead_state", one.state.as_str()),
        is_open: one.state == DeadState::Open,
        ordered: one
            .asked
            .map(|order| w.of_kind("dead_ordered", order.as_str()))
            .unwrap_or_default(),
        refused: one
            .refused
            .map(|code| w.of_kind("dead_refused", &code))
            .unwrap_or_default(),
    };
    Ok(DeadPart {
        w,
        casino: casino.clone(),
        forms: person.token.for_forms(),
        may_order: person.may(casino, Right::Switches),
        waiting,
        kinds: kinds.into_iter().map(kind).collect(),
        rows: letters.into_iter().map(row).collect(),
        all,
    })
}

/// Returns the name of the guest's channel; empty if the channel is unknown.
pub(super) fn channel(w: Words, channel: Option<Channel>) -> String {
    channel
        .map(|channel| w.of_kind("dead_by", channel.as_str()))
        .unwrap_or_default()
}

/// Stores an order for one letter, or for all letters of a kind.
pub(crate) async fn order(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Posted { person, form }: Posted<Posting>,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Switches)?;
    let what = form.order.parse().map_err(|_| Fault::NotFound)?;
    let letters = match form.letter.parse::<Uuid>() {
        Ok(id) => Ordered::One(id.into()),
        Err(_) if !form.letter.is_empty() => return Err(Fault::NotFound),
        Err(_) => Ordered::Kind {
            stage: form.stage.parse().map_err(|_| Fault::NotFound)?,
            reason: form.kind,
        },
    };
    let reason: String = form.reason.trim().chars().take(MOST_REASON).collect();
    if reason.is_empty() {
        return page(&app, &casino, &person, false, "reason_missing").await;
    }
    let order = Order {
        by: &person.actor(),
        reason: &reason,
    };
    let ordered = dead::order(&app.fleet, &casino, &letters, what, order).await?;
    if ordered == 0 {
        return page(&app, &casino, &person, false, "dead_moved").await;
    }
    app.hints.changed(&casino);
    Ok(go_to(&match letters {
        Ordered::One(id) => format!("/c/{casino}/dead/{id}"),
        Ordered::Kind { .. } => format!("/c/{casino}/dead"),
    }))
}

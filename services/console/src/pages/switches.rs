//! The switches of a casino (D14): shows which are on, since when and why, and turns them on and
//! off. To turn on a switch that stops answers to guests, a person must type the casino's name. The
//! page also shows the flags.

use askama::Template;
use axum::{
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use seven_domain::CasinoId;
use seven_staff::{Right, switches::reopen};
use seven_store::controls::{Order, Standing, Switch};

use super::{
    conversations::{clock, name_of},
    flags,
};
use crate::{
    access::{Person, Posted},
    app::Shared,
    fault::Fault,
    frame::Frame,
    guard::{go_to, shown},
};

pub(super) const MOST_REASON: usize = 300;

#[derive(Template)]
#[template(path = "switches.html")]
struct SwitchesPage {
    frame: Frame,
    casino: CasinoId,
    /// The casino's name, which a person must type to turn a dangerous switch on.
    name: String,
    rows: Vec<Row>,
    flags: Vec<flags::Row>,
    may_switch: bool,
    problems: Vec<&'static str>,
}

struct Row {
    key: &'static str,
    name: String,
    hint: String,
    /// The person who turned the switch on, when and why; empty if it is off at this casino.
    on: String,
    /// Like `on`, but for the switch that applies to all casinos. Only an operator of the fleet can
    /// turn that switch off.
    on_everywhere: String,
    is_dangerous: bool,
}

#[derive(Deserialize)]
pub(crate) struct Turned {
    #[serde(default)]
    switch: String,
    /// Whether to turn the switch `on` or `off`.
    #[serde(default)]
    turn: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    name: String,
}

/// Returns whether the switch stops answers to guests who write.
fn is_dangerous(switch: Switch) -> bool {
    matches!(switch, Switch::Kill | Switch::Outbound)
}

pub(crate) async fn show(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    person: Person,
) -> Result<Response, Fault> {
    page(&app, &casino, &person, Vec::new()).await
}

pub(super) async fn page(
    app: &Shared,
    casino: &CasinoId,
    person: &Person,
    problems: Vec<&'static str>,
) -> Result<Response, Fault> {
    if !person.may(casino, Right::Conversations) {
        person.needs(casino, Right::Switches)?;
    }
    let w = person.words();
    let mut tx = app.fleet.store.bind(casino).await?;
    let row = tx.casino_row().await?.ok_or(Fault::NotFound)?;
    let own = tx.own_switches().await?;
    let own_flags = tx.own_flags().await?;
    let names = tx.staff_names().await?;
    tx.commit().await?;
    let everywhere = app.fleet.store.fleet_switches().await?;
    let zone = row.config.operational.timezone;
    let told = |standing: &[Standing], switch: Switch| {
        let found = standing.iter().find(|one| one.name == switch);
        found.map_or_else(String::new, |one| {
            let (by, at) = (name_of(&names, &one.actor), clock(one.since, Some(zone)));
            format!("{by}, {at}: {}", one.reason)
        })
    };
    let rows = Switch::ALL.iter().map(|&switch| Row {
        key: switch.as_str(),
        name: w.of_kind("switch", switch.as_str()),
        hint: w.of_kind("switch_hint", switch.as_str()),
        on: told(&own, switch),
        on_everywhere: told(&everywhere, switch),
        is_dangerous: is_dangerous(switch),
    });
    let fleet_flags = app.fleet.store.fleet_flags().await?;
    let flags = flags::rows(w, &own_flags, &fleet_flags, zone, |flag| {
        let by = name_of(&names, &flag.actor);
        format!(
            "{by}, {}: {}",
            clock(flag.updated_at, Some(zone)),
            flag.reason
        )
    });
    let status = if problems.is_empty() {
        StatusCode::OK
    } else {
        StatusCode::UNPROCESSABLE_ENTITY
    };
    let page = SwitchesPage {
        frame: Frame::of(person, Some(casino), w.t("switches"), "switches"),
        casino: casino.clone(),
        name: row.config.prompts.casino_name_display.clone(),
        rows: rows.collect(),
        flags,
        may_switch: person.may(casino, Right::Switches),
        problems: problems.into_iter().map(|key| w.t(key)).collect(),
    };
    Ok((status, shown(&page)).into_response())
}

/// Turns a switch on or off. The pre-send check reads the stored switch before each send; the
/// scheduler tells the workers about the change within a second.
pub(crate) async fn turn(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Posted { person, form }: Posted<Turned>,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Switches)?;
    let switch: Switch = form.switch.parse().map_err(|_| Fault::NotFound)?;
    let mut tx = app.fleet.store.bind(&casino).await?;
    let row = tx.casino_row().await?.ok_or(Fault::NotFound)?;
    tx.commit().await?;
    let on = match form.turn.as_str() {
        "on" => true,
        "off" => false,
        _ => return Err(Fault::NotFound),
    };
    let reason: String = form.reason.trim().chars().take(MOST_REASON).collect();
    let mut problems = Vec::new();
    if reason.is_empty() {
        problems.push("reason_missing");
    }
    let name = &row.config.prompts.casino_name_display;
    if on && is_dangerous(switch) && form.name.trim() != name {
        problems.push("name_differs");
    }
    if !problems.is_empty() {
        return page(&app, &casino, &person, problems).await;
    }
    let order = Order {
        by: &person.actor(),
        reason: &reason,
    };
    let store = &app.fleet.store;
    store.switch(Some(&casino), &[switch], on, order).await?;
    if !on {
        reopen(&app.fleet, &casino).await.map_err(|error| {
            tracing::error!(%casino, error = &error as &dyn std::error::Error, "what waited for a switch was not released");
            Fault::Trouble
        })?;
    }
    app.hints.changed(&casino);
    Ok(go_to(&format!("/c/{casino}/switches")))
}

//! Shows one dead letter: its errors, its payload without personal data, and its history. The page
//! also offers the orders that the letter's state allows.

use askama::Template;
use axum::{
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use seven_dead_letters::payload::{plain, shown as payload_of};
use seven_domain::{CasinoId, DeadState};
use seven_staff::Right;
use seven_store::dead::Handled;
use uuid::Uuid;

use super::{
    conversations::{clock, name_of},
    dead::channel,
};
use crate::{access::Person, app::Shared, fault::Fault, frame::Frame, guard::shown};

#[derive(Template)]
#[template(path = "dead_letter.html")]
struct DeadLetterPage {
    frame: Frame,
    casino: CasinoId,
    id: Uuid,
    may_order: bool,
    stage: String,
    channel: String,
    state: String,
    reason: String,
    tries: i32,
    replays: i32,
    first: (String, String),
    last: (String, String),
    trace: String,
    /// Name and value of each field of the payload.
    fields: Vec<(String, String)>,
    /// Each earlier action on the letter, with its time and the person who took it.
    history: Vec<String>,
    ordered: String,
    refused: String,
}

pub(crate) async fn show(
    State(app): State<Shared>,
    Path((casino, id)): Path<(CasinoId, Uuid)>,
    person: Person,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::DeadLetters)?;
    let w = person.words();
    let mut tx = app.fleet.store.bind(&casino).await?;
    let zone = tx.casino_row().await?.ok_or(Fault::NotFound)?;
    let zone = Some(zone.config.operational.timezone);
    let letter = tx.dead_letter(id.into()).await?.ok_or(Fault::NotFound)?;
    let history = tx.dead_history(id.into()).await?;
    let names = tx.staff_names().await?;
    tx.commit().await?;
    let payload = payload_of(letter.stage, &letter.payload, false);
    let fields = payload.as_object().into_iter().flatten();
    let fields = fields.map(|(name, value)| {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        (name.clone(), value)
    });
    let done = |one: Handled| {
        let did = one.detail["did"].as_str().unwrap_or_default();
        let why = one.detail["reason"].as_str();
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        let (by, at) = (name_of(&names, &one.actor), clock(one.at, zone));
        format!("{at}, {by}: {}{why}", w.of_kind("dead_did", did))
    };
    let page = DeadLetterPage {
        frame: Frame::of(&person, Some(&casino), w.t("dead_letter"), "dead_letters"),
        id,
        may_order: person.may(&casino, Right::Switches)
            && letter.state != DeadState::Discarded
            && letter.asked.is_none(),
        stage: w.of_kind("stage", letter.stage.as_str()),
        channel: channel(w, letter.channel),
        state: w.of_kind("dead_state", letter.state.as_str()),
        reason: w.of_kind("dead_cause", &letter.reason),
        tries: letter.attempts,
        replays: letter.replays,
        first: (clock(letter.first_at, zone), plain(&letter.first_error)),
        last: (clock(letter.last_at, zone), plain(&letter.last_error)),
        trace: letter
            .trace
            .split('-')
            .nth(1)
            .unwrap_or_default()
            .to_owned(),
        fields: fields.collect(),
        history: history.into_iter().map(done).collect(),
        ordered: letter
            .asked
            .map(|order| w.of_kind("dead_ordered", order.as_str()))
            .unwrap_or_default(),
        refused: letter
            .refused
            .map(|code| w.of_kind("dead_refused", &code))
            .unwrap_or_default(),
        casino,
    };
    Ok(shown(&page).into_response())
}

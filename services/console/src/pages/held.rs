//! Shows the replies that wait for a person, each with the guest's text that it answers. Also takes
//! the person's decision about a reply.

use askama::{Template, filters::HtmlSafe};
use axum::{
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use seven_domain::{CasinoId, HeldDecision, TurnId};
use seven_staff::{
    Right,
    held::{Undecided, decide},
};
use uuid::Uuid;

use super::{
    conversations::clock,
    thread::{Place, back_to, exists, visible},
};
use crate::{
    access::{Person, Posted},
    app::Shared,
    fault::Fault,
    frame::Frame,
    guard::{go_to, shown},
    words::Words,
};

const MOST: i64 = 100;

#[derive(Template)]
#[template(path = "held.html")]
struct HeldPage {
    frame: Frame,
    part: HeldPart,
    problem: String,
}

#[derive(Template)]
#[template(path = "held_list.html")]
struct HeldPart {
    w: Words,
    casino: CasinoId,
    forms: String,
    rows: Vec<Row>,
}

/// Pages may insert this part unescaped, because its own template already escapes its values.
impl HtmlSafe for HeldPart {}

struct Row {
    id: String,
    conversation: String,
    guest: String,
    since: String,
    /// When the reply becomes too old to be sent.
    until: String,
    asked: String,
    /// The host's draft, or the person's own words if their edit was refused.
    draft: String,
    discloses: bool,
}

#[derive(Deserialize)]
pub(crate) struct Decided {
    /// The person's decision: `released`, `edited` or `discarded`.
    #[serde(default)]
    decision: String,
    #[serde(default)]
    words: String,
}

#[derive(Deserialize)]
pub(crate) struct Reviewed {
    /// Whether to turn the review of the host's replies `on` or `off`.
    #[serde(default)]
    turn: String,
}

pub(crate) async fn show(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    person: Person,
) -> Result<Response, Fault> {
    page(&app, &casino, &person, None).await
}

/// Returns the list alone, which the page fetches again after a hint.
pub(crate) async fn list(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    person: Person,
) -> Result<Response, Fault> {
    Ok(shown(&part(&app, &casino, &person, None).await?).into_response())
}

/// An edit that was refused: the turn's id, the person's words, and the reason.
type Refused = (Uuid, String, String);

async fn page(
    app: &Shared,
    casino: &CasinoId,
    person: &Person,
    refused: Option<Refused>,
) -> Result<Response, Fault> {
    let status = match refused {
        Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
        None => StatusCode::OK,
    };
    let problem = refused.as_ref().map_or("", |(_, _, why)| why).to_owned();
    let page = HeldPage {
        frame: Frame::of(person, Some(casino), person.words().t("held"), "held"),
        part: part(app, casino, person, refused).await?,
        problem,
    };
    Ok((status, shown(&page)).into_response())
}

async fn part(
    app: &Shared,
    casino: &CasinoId,
    person: &Person,
    refused: Option<Refused>,
) -> Result<HeldPart, Fault> {
    person.needs(casino, Right::Converse)?;
    let mut tx = app.fleet.store.bind(casino).await?;
    let zone = tx
        .casino_row()
        .await?
        .map(|row| row.config.operational.timezone);
    let held = tx.held_replies(MOST).await?;
    tx.commit().await?;
    let edited = |turn: Uuid| {
        let refused = refused.as_ref().filter(|(id, ..)| *id == turn);
        refused.map(|(_, words, _)| words.clone())
    };
    let rows = held.into_iter().map(|one| Row {
        id: one.turn_id.to_string(),
        conversation: one.conversation_id.to_string(),
        guest: person.words().guest(one.last_four.as_deref()),
        since: clock(one.held_at, zone),
        until: clock(one.useful_until, zone),
        asked: visible(&one.asked),
        draft: edited(one.turn_id).unwrap_or_else(|| visible(&one.draft)),
        discloses: one.disclosure_kind.is_some(),
    });
    Ok(HeldPart {
        w: person.words(),
        casino: casino.clone(),
        forms: person.token.for_forms(),
        rows: rows.collect(),
    })
}

/// Releases, edits or discards a reply. A reply that no longer waits stays as it is, and the page
/// says so.
pub(crate) async fn change(
    State(app): State<Shared>,
    Path((casino, turn)): Path<(CasinoId, Uuid)>,
    Posted { person, form }: Posted<Decided>,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Converse)?;
    let decision: HeldDecision = form.decision.parse().map_err(|_| Fault::NotFound)?;
    let by = person.actor();
    let decided = decide(
        &app.fleet,
        &casino,
        TurnId(turn),
        decision,
        &form.words,
        &by,
    );
    let w = person.words();
    let why = match decided.await {
        Ok(()) => {
            app.hints.changed(&casino);
            return Ok(go_to(&format!("/c/{casino}/held")));
        }
        Err(Undecided::Gone) => w.t("held_gone").to_owned(),
        Err(Undecided::Earlier) => w.t("held_earlier").to_owned(),
        Err(Undecided::Empty) => w.t("nothing_to_say").to_owned(),
        Err(Undecided::TooLong { .. }) => w.t("too_long").to_owned(),
        Err(Undecided::Link) => w.t("held_link").to_owned(),
        Err(Undecided::Offer(said)) => format!("{} {said}", w.t("held_offer")),
        Err(Undecided::Store(error)) => return Err(error.into()),
        Err(Undecided::Pack(error)) => {
            tracing::error!(%casino, error = &error as &dyn std::error::Error, "a held reply could not be decided: its pack is missing");
            return Err(Fault::Trouble);
        }
    };
    page(&app, &casino, &person, Some((turn, form.words, why))).await
}

/// Sets whether the host's replies in one conversation wait for a person.
pub(crate) async fn review(
    State(app): State<Shared>,
    Path(place): Path<Place>,
    Posted { person, form }: Posted<Reviewed>,
) -> Result<Response, Fault> {
    let mut tx = exists(&app, &place, &person, Right::Converse).await?;
    let on = form.turn == "on";
    seven_staff::held::set_reviewed(&mut tx, place.1, on, &person.actor()).await?;
    tx.commit().await?;
    Ok(back_to(&app, &place))
}

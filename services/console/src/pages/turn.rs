//! Shows the turn behind one reply, with the same lines as `seven turn show`: route, agent, rows,
//! tools, checks and cost.

use askama::Template;
use axum::{
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use seven_domain::{CasinoId, ConversationId};
use seven_staff::{
    Right,
    why::{explained, mask},
};
use uuid::Uuid;

use super::thread::{is_readable, visible};
use crate::{access::Person, app::Shared, fault::Fault, frame::Frame, guard::shown};

#[derive(Template)]
#[template(path = "turn.html")]
struct TurnPage {
    frame: Frame,
    back: String,
    lines: Vec<(String, String)>,
}

pub(crate) async fn show(
    State(app): State<Shared>,
    Path((casino, conversation, turn)): Path<(CasinoId, ConversationId, Uuid)>,
    person: Person,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Conversations)?;
    let mut tx = app.fleet.store.bind(&casino).await?;
    let told = tx.shown_turn(turn).await?;
    // A turn has the id of the oldest text that it answers.
    let is_here = tx.conversation_of(turn).await? == Some(conversation);
    let readable = is_readable(&mut tx, &casino, conversation, &person).await?;
    tx.commit().await?;
    let mut told = told.filter(|_| is_here).ok_or(Fault::NotFound)?;
    let w = person.words();
    if !readable {
        mask(&mut told, |text| {
            format!("({} {})", text.chars().count(), w.t("characters"))
        });
    }
    let lines = explained(&told).map_err(|error| {
        tracing::error!(%casino, %error, "a turn's record cannot be read");
        Fault::Trouble
    })?;
    let lines = lines
        .into_iter()
        .map(|line| (w.of_kind("line", line.name), visible(&line.text)));
    let page = TurnPage {
        frame: Frame::of(&person, Some(&casino), w.t("turn"), "conversations"),
        back: format!("/c/{casino}/conversations/{conversation}"),
        lines: lines.collect(),
    };
    Ok(shown(&page).into_response())
}

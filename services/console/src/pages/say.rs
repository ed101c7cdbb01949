//! Sends a person's text to a guest, and measures the text's length while the person types.

use askama::Template;
use axum::{
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use seven_domain::{CasinoId, ConversationId};
use seven_staff::{Refused, Right, Write};

use super::thread::{back_to, exists, page};
use crate::{access::Posted, app::Shared, fault::Fault, guard::shown, words::Words};

#[derive(Deserialize)]
pub(crate) struct Said {
    #[serde(default)]
    text: String,
    /// The thread's mark when the person last saw the thread.
    #[serde(default)]
    read: String,
}

#[derive(Template)]
#[template(path = "measure.html")]
struct Length {
    w: Words,
    segments: usize,
    characters: usize,
}

pub(crate) async fn say(
    State(app): State<Shared>,
    Path(place): Path<(CasinoId, ConversationId)>,
    Posted { person, form }: Posted<Said>,
) -> Result<Response, Fault> {
    exists(&app, &place, &person, Right::Converse)
        .await?
        .commit()
        .await?;
    let by = person.actor();
    let write = Write {
        casino: &place.0,
        conversation: place.1,
        by: &by,
        text: &form.text,
        // A form without a valid mark counts as if the person had read no text.
        read: Some(form.read.parse().unwrap_or(-1)),
    };
    let (problem, status) = match seven_staff::say(&app.fleet, &write).await {
        Ok(_) => return Ok(back_to(&app, &place)),
        Err(Refused::Gone) => return Err(Fault::NotFound),
        Err(Refused::Store(error)) => return Err(error.into()),
        Err(Refused::Pack(error)) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "a person's text was not sent"
            );
            return Err(Fault::Trouble);
        }
        Err(Refused::Empty) => ("nothing_to_say", StatusCode::UNPROCESSABLE_ENTITY),
        Err(Refused::TooLong { .. }) => ("too_long", StatusCode::UNPROCESSABLE_ENTITY),
        Err(Refused::NotTaken) => ("not_taken", StatusCode::CONFLICT),
        Err(Refused::TakenBy(_)) => ("taken_meanwhile", StatusCode::CONFLICT),
        Err(Refused::MovedOn) => ("moved_on", StatusCode::CONFLICT),
    };
    page(&app, &place, &person, (form.text, problem, status)).await
}

pub(crate) async fn measure(
    Path(casino): Path<CasinoId>,
    Posted { person, form }: Posted<Said>,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Converse)?;
    let text = form.text.trim();
    let measure = seven_sms::measure(text);
    let length = Length {
        w: person.words(),
        segments: if text.is_empty() { 0 } else { measure.segments },
        characters: text.chars().count(),
    };
    Ok(shown(&length).into_response())
}

//! `/api/v1/chat/...`: the calls of the widget. A session begins on one of the casino's pages. The
//! session's token identifies the conversation.

use std::time::Duration;

use axum::{
    Json,
    body::Body,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use serde_json::{Value, json};
use seven_domain::CasinoId;
use seven_sse::Dialect;
use seven_telemetry::metrics;
use tokio::time::Instant;
use uuid::Uuid;

use crate::{
    app::Shared,
    call::{Caller, Guest, admit, casino_of},
    frames::Place,
    message::Message,
    problem::Problem,
    session::Session,
    stream::{self, Reader, Until},
};

/// Maximum number of lines in the history.
const MOST_LINES: i64 = 100;

#[derive(Debug, Deserialize)]
struct Init {
    tenant_id: CasinoId,
}

/// Begins a session (WID-1) without storing anything, so that a visitor who never writes leaves no
/// row.
pub(crate) async fn init(
    State(app): State<Shared>,
    caller: Caller,
    body: Body,
) -> Result<Json<Value>, Problem> {
    let Init { tenant_id: casino } = caller.json(&app, body).await?;
    let config = casino_of(&app, &casino).await?;
    caller.check_origin(&app, &config, true)?;
    let visitor = Uuid::new_v4();
    // The call is counted under a random id. Otherwise Redis, which counts calls, would store the
    // visitor's id.
    let call = Uuid::new_v4().to_string();
    caller.count(&app, &casino, &call).await?;
    let session = Session {
        visitor,
        casino,
        ticket: visitor,
    };
    let token = app.keys.issue(&session, app.fleet.clock.now());
    let token = token.ok_or(Problem::Internal)?;
    metrics()
        .web
        .sessions
        .with_label_values(&[session.casino.as_str()])
        .inc();
    Ok(Json(json!({
        "token": token,
        "ticket_id": session.ticket,
        "casino": config.prompts.casino_name_display,
        "persona": config.branding.persona_name,
        "phone": config.operational.contact_phone,
    })))
}

#[derive(Debug, Deserialize)]
struct Told {
    message: String,
    /// The id that the client gave the message; a second call with this id stores no second
    /// message.
    #[serde(alias = "client_id")]
    message_id: Option<Uuid>,
}

/// Takes a message. With `Accept: text/event-stream`, the response streams the answer. Otherwise
/// the session's open stream gets the answer.
pub(crate) async fn say(
    State(app): State<Shared>,
    guest: Guest,
    caller: Caller,
    body: Body,
) -> Result<Response, Problem> {
    let told: Told = caller.json(&app, body).await?;
    admit(&app, &guest, &caller).await?;
    let last = caller.last_event()?;
    let message = Message::new(&told.message, told.message_id)?;
    let key = message.key(&guest.session);
    caller.count(&app, &guest.session.casino, &key).await?;
    message.keep(&app, &guest.session).await?;
    if !caller.accepts("text/event-stream") {
        let taken = Json(json!({ "message_id": message.id }));
        return Ok((StatusCode::ACCEPTED, taken).into_response());
    }
    let until = Until::Answered {
        message: key,
        at: Instant::now() + Duration::from_secs(app.web.answer_seconds),
    };
    let place = last.map_or(Place::ANSWER, Place::after);
    let reader = reader(guest, &caller);
    Ok(stream::open(
        &app,
        reader,
        Dialect::Widget,
        place,
        until,
        None,
    ))
}

/// Opens the session's stream: all messages after `Last-Event-ID`, until the client leaves.
pub(crate) async fn listen(
    State(app): State<Shared>,
    guest: Guest,
    caller: Caller,
) -> Result<Response, Problem> {
    admit(&app, &guest, &caller).await?;
    let place = Place::after(caller.last_event()?.unwrap_or_default());
    let reader = reader(guest, &caller);
    Ok(stream::open(
        &app,
        reader,
        Dialect::Widget,
        place,
        Until::Left,
        None,
    ))
}

/// Returns the newest lines of the conversation, and the place from which a stream continues.
pub(crate) async fn history(
    State(app): State<Shared>,
    guest: Guest,
    caller: Caller,
) -> Result<Json<Value>, Problem> {
    admit(&app, &guest, &caller).await?;
    let mut tx = app.fleet.store.bind(&guest.session.casino).await?;
    let lines = tx.web_history(&guest.hash, MOST_LINES).await?;
    let ticket = tx.web_ticket(&guest.hash).await?;
    tx.commit().await?;
    let last = lines
        .iter()
        .filter(|line| line.seq.is_some())
        .max_by_key(|line| line.seq);
    let place = last.and_then(|line| Some(Place::behind(line.seq?, &line.body)));
    let line = |line: &seven_store::web::WebLine| {
        json!({
            "seq": line.seq,
            "author": line.author,
            "content": line.body,
            "sources": line.sources.0,
            "at": line.at,
        })
    };
    Ok(Json(json!({
        "messages": lines.iter().map(line).collect::<Vec<_>>(),
        "last_event_id": place,
        "ticket": ticket.map(|(number, state)| json!({ "number": number, "state": state })),
    })))
}

#[derive(Debug, Deserialize)]
struct Shown {
    /// Sequence number of the newest message that the page has shown.
    seq: i64,
}

/// Records that the page has shown all messages up to a sequence number (D33).
pub(crate) async fn ack(
    State(app): State<Shared>,
    guest: Guest,
    caller: Caller,
    body: Body,
) -> Result<Json<Value>, Problem> {
    let Shown { seq } = caller.json(&app, body).await?;
    admit(&app, &guest, &caller).await?;
    let mut tx = app.fleet.store.bind(&guest.session.casino).await?;
    let shown = tx.web_shown(&guest.hash, seq).await?;
    tx.commit().await?;
    Ok(Json(json!({ "delivered": shown })))
}

fn reader(guest: Guest, caller: &Caller) -> Reader {
    Reader {
        casino: guest.session.casino,
        guest: guest.hash,
        language: caller.language(),
    }
}

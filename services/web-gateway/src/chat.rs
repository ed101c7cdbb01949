//! `POST /chat`, for the concierge's page and for programs. Each thread is a separate guest, and
//! anybody who knows the thread's id can continue it.

use std::time::Duration;

use axum::{
    Json,
    body::Body,
    extract::State,
    response::{IntoResponse, Response},
};
use secrecy::ExposeSecret;
use serde::Deserialize;
use serde_json::json;
use seven_domain::CasinoId;
use seven_sse::{Dialect, Event};
use seven_store::web::WebMessage;
use subtle::ConstantTimeEq;
use tokio::time::Instant;
use uuid::Uuid;

use crate::{
    app::{App, Shared},
    call::{Caller, casino_of, hash_of, named},
    frames::{Place, route_of},
    message::Message,
    problem::Problem,
    session::Session,
    stream::{self, Answer, Reader, Until},
    words::Words,
};

/// The UUID namespace in which thread ids become visitor ids. It is `/chat`'s own, so no thread id
/// can lead to a widget's conversation.
const THREADS: Uuid = Uuid::from_u128(0x8f6d_1d5e_6c1b_4b55_9a53_0e5c_7d9c_2f41);

#[derive(Debug, Deserialize)]
struct Told {
    message: String,
    /// The conversation to continue; a new one if it is missing.
    #[serde(alias = "session_id")]
    thread_id: Option<Uuid>,
    /// The id that the client gave the message; a second call with this id stores no second
    /// message.
    message_id: Option<Uuid>,
    /// The casino; if it is missing, the one in the gateway's settings.
    casino: Option<CasinoId>,
}

pub(crate) async fn chat(
    State(app): State<Shared>,
    caller: Caller,
    body: Body,
) -> Result<Response, Problem> {
    check_key(&app, &caller)?;
    let told: Told = caller.json(&app, body).await?;
    let casino = named(&app, told.casino)?;
    let config = casino_of(&app, &casino).await?;
    caller.check_origin(&app, &config, false)?;
    let last = caller.last_event()?;
    let message = Message::new(&told.message, told.message_id)?;
    let thread = told.thread_id.unwrap_or_else(Uuid::new_v4);
    let visitor = Uuid::new_v5(&THREADS, thread.as_bytes());
    let session = Session {
        visitor,
        casino,
        ticket: visitor,
    };
    let key = message.key(&session);
    caller.count(&app, &session.casino, &key).await?;
    message.keep(&app, &session).await?;
    let reader = Reader {
        guest: hash_of(&app, &session),
        casino: session.casino,
        language: caller.language(),
    };
    let at = Instant::now() + Duration::from_secs(app.web.answer_seconds);
    let thread_text = thread.to_string();
    if caller.accepts("text/event-stream") {
        let first = Event::Metadata {
            thread: &thread_text,
        };
        let place = last.map_or(Place::ANSWER, Place::after);
        let dialect = Dialect::Concierge;
        let until = Until::Answered { message: key, at };
        return Ok(stream::open(
            &app,
            reader,
            dialect,
            place,
            until,
            Some(first),
        ));
    }
    let (answer, messages) = stream::collect(&app, &reader, &key, at).await;
    let words = Words::of(reader.language);
    Ok(whole(&thread_text, answer, &messages, words).into_response())
}

/// Returns the answer as one JSON object (SUP-25).
fn whole(
    thread: &str,
    answer: Answer,
    messages: &[WebMessage],
    words: &Words,
) -> Json<serde_json::Value> {
    let bodies: Vec<&str> = messages
        .iter()
        .map(|message| message.body.as_str())
        .collect();
    let reply = match answer {
        _ if !bodies.is_empty() => bodies.join("\n"),
        Answer::Waiting => words.waiting.clone(),
        Answer::Coming => words.slow.clone(),
        Answer::None | Answer::Complete => words.not_answered.clone(),
    };
    let mut sources: Vec<&String> = messages.iter().flat_map(|one| &one.sources).collect();
    sources.sort_unstable();
    sources.dedup();
    let last = messages.last();
    Json(json!({
        "thread_id": thread,
        "session_id": thread,
        "reply": reply,
        "complete": answer == Answer::Complete,
        "route": last.map(route_of),
        "last_agent": last.map(|message| &message.agent),
        "sources": (!sources.is_empty()).then_some(sources),
        "used_tools": null,
        "state_excerpt": {
            "last_agent": last.map(|message| &message.agent),
            "history_length": last.map_or(0, |message| message.seq),
        },
    }))
}

/// Checks the API key of programs, if the gateway has one configured (WEB-5).
fn check_key(app: &App, caller: &Caller) -> Result<(), Problem> {
    let Some(key) = &app.web.api_key else {
        return Ok(());
    };
    let given = caller.headers.get("x-api-key");
    let given = given.map_or(&b""[..], |given| given.as_bytes());
    if bool::from(key.expose_secret().as_bytes().ct_eq(given)) {
        Ok(())
    } else {
        Err(Problem::WrongApiKey)
    }
}

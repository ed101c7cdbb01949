//! `POST /admin/tickets/{ticket}/resolve`: a program answers a ticket in a person's name. The
//! caller sends its key, or the person's session, as a bearer token. No browser adds such a token
//! by itself, so another site cannot make this call in a person's name.

use axum::{
    Json, Router,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header::AUTHORIZATION},
    response::{IntoResponse, Response},
    routing::post,
};
use serde::Deserialize;
use serde_json::json;
use seven_domain::CasinoId;
use seven_staff::{Right, Token, keys, tickets};
use uuid::Uuid;

use crate::{
    access::{Person, person},
    app::Shared,
    fault::Fault,
};

/// The header by which a repeated call is recognised, so that it answers the ticket only once.
const KEY: &str = "idempotency-key";

#[derive(Debug, Deserialize)]
struct Told {
    casino: CasinoId,
    answer: String,
}

pub(crate) fn routes() -> Router<Shared> {
    Router::new().route("/admin/tickets/{ticket}/resolve", post(resolve))
}

async fn resolve(
    State(app): State<Shared>,
    Path(ticket): Path<Uuid>,
    headers: HeaderMap,
    Json(told): Json<Told>,
) -> Response {
    let person = match caller(&app, &headers).await {
        Ok(person) => person,
        // A page would redirect to the login; a program gets an error.
        Err(Fault::LoggedOut) => {
            return problem(
                StatusCode::UNAUTHORIZED,
                "the call needs a key or a person's session as a bearer token",
            );
        }
        Err(fault) => return problem(fault.status(), "try again"),
    };
    if !person.may(&told.casino, Right::Converse) {
        return problem(StatusCode::NOT_FOUND, "no such ticket");
    }
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let answer = tickets::Answer {
        casino: &told.casino,
        ticket,
        by: &person.actor(),
        words: &told.answer,
        key: text(KEY),
    };
    match tickets::resolve(&app.fleet, &answer).await {
        Ok(resolved) => Json(json!({
            "ticket_id": ticket,
            "number": resolved.number,
            "state": "resolved",
            "repeated": resolved.repeated,
        }))
        .into_response(),
        Err(tickets::Refused::Unknown) => problem(StatusCode::NOT_FOUND, "no such ticket"),
        Err(error @ tickets::Refused::NotWaiting) => {
            problem(StatusCode::CONFLICT, &error.to_string())
        }
        Err(tickets::Refused::Words(error)) => {
            problem(StatusCode::UNPROCESSABLE_ENTITY, &error.to_string())
        }
        Err(tickets::Refused::Store(error)) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "a ticket was not resolved"
            );
            problem(
                StatusCode::SERVICE_UNAVAILABLE,
                "nothing was stored; try again",
            )
        }
    }
}

async fn caller(app: &Shared, headers: &HeaderMap) -> Result<Person, Fault> {
    let bearer = headers
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    let token = bearer
        .and_then(|value| value.strip_prefix("Bearer "))
        .and_then(Token::read);
    let token = token.ok_or(Fault::LoggedOut)?;
    match keys::session(&app.fleet.store, &token).await? {
        Some(session) => Ok(Person::of(token, session)),
        None => person(app, token, true).await,
    }
}

fn problem(status: StatusCode, detail: &str) -> Response {
    let body = json!({ "status": status.as_u16(), "detail": detail });
    (status, Json(body)).into_response()
}

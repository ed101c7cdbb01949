//! Endpoints under `/sim` with which tests and the handset page control the simulator.

use std::{collections::HashMap, convert::Infallible, sync::Arc};

use axum::{
    Json, Router,
    body::Bytes,
    extract::{Query, State},
    http::StatusCode,
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
    routing::{get, post},
};
use futures::{Stream, StreamExt as _, stream};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;

use crate::{
    core::Core,
    error::Error,
    inbound::{self, Text},
    ledger::Snapshot,
    rules::{Plan, RuleBook},
    webhook::{self, Signing},
};

pub(crate) fn router() -> Router<Arc<Core>> {
    Router::new()
        .route("/sim/inbound", post(text))
        .route("/sim/raw", post(raw))
        .route(
            "/sim/rules",
            get(show_rules).put(put_rules).delete(delete_rules),
        )
        .route("/sim/ledger", get(show_ledger).delete(clear_ledger))
        .route("/sim/events", get(events))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Wait {
    wait: bool,
}

/// Accepts a guest's text, and answers 202 with the ids at once. With `?wait=true`, answers 200
/// with the outcome after the delivery has ended.
async fn text(
    State(core): State<Arc<Core>>,
    Query(Wait { wait }): Query<Wait>,
    Json(text): Json<Text>,
) -> Result<Response, Error> {
    let accepted = inbound::accept(&core, text)?;
    if !wait {
        return Ok((StatusCode::ACCEPTED, Json(accepted.texted)).into_response());
    }
    // An error means that the simulator is stopping; the ledger then shows the delivery as pending.
    let _settled = accepted.settled.await;
    let delivery = core.ledger.delivery(accepted.delivery);
    let (state, attempts) = delivery
        .map(|delivery| (delivery.state, delivery.attempts))
        .unzip();
    let inbound::Texted {
        event_id,
        message_id,
    } = accepted.texted;
    Ok(Json(json!({
        "event_id": event_id,
        "message_id": message_id,
        "state": state,
        "attempts": attempts,
    }))
    .into_response())
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RawParams {
    timestamp: Option<i64>,
    signature: Option<String>,
}

/// Calls the webhook once with these bytes, unchanged. `?timestamp=` and `?signature=` replace the
/// true values. An empty signature omits the header.
async fn raw(
    State(core): State<Arc<Core>>,
    Query(params): Query<RawParams>,
    body: Bytes,
) -> Json<Value> {
    let signing = Signing {
        timestamp: params.timestamp,
        signature: params.signature,
    };
    let attempt = webhook::call(&core, &core.settings.webhook_url, 1, body.to_vec(), signing).await;
    Json(json!(attempt))
}

async fn show_rules(State(core): State<Arc<Core>>) -> Json<RuleBook> {
    Json(core.rules())
}

async fn put_rules(
    State(core): State<Arc<Core>>,
    Json(body): Json<Value>,
) -> Result<Json<RuleBook>, Error> {
    core.set_rules(Plan::from_json(body)?)?;
    Ok(Json(core.rules()))
}

async fn delete_rules(State(core): State<Arc<Core>>) -> Result<StatusCode, Error> {
    core.set_rules(Plan::default())?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the whole ledger. With `?guest=`, returns only the records of that phone number.
async fn show_ledger(
    State(core): State<Arc<Core>>,
    Query(params): Query<HashMap<String, String>>,
) -> Json<Snapshot> {
    Json(params.get("guest").map_or_else(
        || core.ledger.snapshot(),
        |guest| core.ledger.of_guest(guest),
    ))
}

async fn clear_ledger(State(core): State<Arc<Core>>) -> StatusCode {
    core.ledger.clear();
    StatusCode::NO_CONTENT
}

/// Streams server-sent events: `entry` for each new entry. `lagged` means that the client missed
/// entries and has to read the ledger again.
async fn events(
    State(core): State<Arc<Core>>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let heard = stream::unfold(core.ledger.subscribe(), |mut news| async move {
        let event = match news.recv().await {
            Ok(item) => Event::default()
                .event("entry")
                .json_data(&item)
                .unwrap_or_else(|_| Event::default().event("lagged")),
            Err(RecvError::Lagged(missed)) => {
                Event::default().event("lagged").data(missed.to_string())
            }
            Err(RecvError::Closed) => return None,
        };
        Some((Ok(event), news))
    });
    Sse::new(heard.take_until(core.stop.clone().cancelled_owned())).keep_alive(KeepAlive::default())
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let status = match self {
            Self::Request { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Bind { .. }
            | Self::WebhookUrl { .. }
            | Self::Client { .. }
            | Self::LedgerFile { .. } => StatusCode::INTERNAL_SERVER_ERROR,
        };
        (status, Json(json!({"error": self.to_string()}))).into_response()
    }
}

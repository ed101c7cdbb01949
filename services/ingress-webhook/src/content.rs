//! The webhook for content, through which a casino's spreadsheet or program saves an item. The
//! webhook answers 2xx only when the revision is stored.

use std::{sync::Arc, time::Duration};

use axum::{
    Extension, Json, Router,
    body::Body,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    middleware,
    response::{IntoResponse, Response},
    routing::post,
};
use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use seven_content::{
    Edit, Outcome, Terms, Work, as_json, item_of_row, save,
    webhook::{Refusal, SIGNATURE_HEADER, TIMESTAMP_HEADER, age, key, verify},
};
use seven_domain::{CasinoId, ContentSource, RevisionState};
use seven_http::Peer;
use seven_runtime::{Fleet, Proxies};
use seven_telemetry::metrics;
use tokio::{sync::Semaphore, time::Instant};

use crate::limits::{Places, in_time};

/// Target time for storing an edit, in milliseconds; a slower edit is logged.
const TARGET_MILLIS: u128 = 5_000;
/// Maximum length in characters. It applies separately to an edit's id, its editor's address and
/// its category.
const MOST_CHARS: usize = 254;

/// The body of a call: one edit as its source sends it.
#[derive(Debug, Deserialize)]
struct Told {
    casino_id: CasinoId,
    #[serde(default)]
    category: String,
    /// The row: keys are column names.
    #[serde(default)]
    item: Map<String, Value>,
    /// `create`, `update` or `delete`; `None` means `update`. A delete only switches the item off.
    #[serde(default)]
    change_type: Option<String>,
    /// Identifies the edit; it stays the same when the edit is sent again.
    #[serde(default)]
    edit_id: String,
    #[serde(default)]
    editor_email: String,
    #[serde(default)]
    source: Option<ContentSource>,
    /// The newest revision that the editor saw; `None` if the caller does not say.
    #[serde(default)]
    revision: Option<i32>,
    #[serde(default)]
    publish_at: Option<DateTime<Utc>>,
    #[serde(default)]
    take_down_at: Option<DateTime<Utc>>,
    /// The time of the edit by the spreadsheet's clock. It is only used to measure delays, so an
    /// edit with an unreadable time is not refused.
    #[serde(default)]
    timestamp: Value,
    /// Whether a person asked to send the item again although nothing changed.
    #[serde(default)]
    force_resync: bool,
}

/// The parts of the fleet that the webhook needs.
#[derive(Debug)]
struct App {
    fleet: Fleet,
    proxies: Proxies,
    places: Places,
    /// Permits to store an edit. They are few, because edits share the database's connections with
    /// guests' texts.
    desk: Semaphore,
}

/// Maximum number of edits that are stored at the same time.
const MOST_EDITS: usize = 2;

pub(crate) fn routes(fleet: Fleet, proxies: Proxies, places: Places) -> Router {
    let app = App {
        fleet,
        proxies,
        places: places.clone(),
        desk: Semaphore::new(MOST_EDITS),
    };
    Router::new()
        .route("/webhooks/content/{casino}", post(receive))
        .route_layer(middleware::from_fn_with_state(places, in_time))
        .with_state(Arc::new(app))
}

/// Saves one signed edit.
async fn receive(
    State(app): State<Arc<App>>,
    Path(casino): Path<String>,
    peer: Extension<Peer>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let began = Instant::now();
    let client = app.proxies.client(peer.0.0, &headers);
    let body = match app.places.read(client, &headers, body).await {
        Ok(body) => body,
        Err(answer) => return answer.into_response(),
    };
    let Ok(_desk) = app.desk.acquire().await else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let (casino, signed_at) = match signed(&app, &casino, &headers, &body).await {
        Ok(found) => found,
        Err(refused) => return refused,
    };
    let told = match told(&body, &casino) {
        Ok(told) => told,
        Err(problem) => return count("unreadable", 400, json!({ "error": problem })),
    };
    let called_at = app.fleet.clock.now();
    let saved = store(&app, &casino, &told, signed_at).await;
    let took = began.elapsed();
    match saved {
        Ok(outcome) => {
            if matches!(outcome, Outcome::Saved { .. }) {
                measure(&told.timestamp, called_at, took);
            }
            answer(&casino, &told, outcome, took.as_millis())
        }
        Err(error) => {
            tracing::error!(%casino, error = &error as &dyn std::error::Error, "an edit of content was not stored");
            let error = "The edit was not stored; send it again";
            count("not_stored", 503, json!({ "error": error }))
        }
    }
}

/// Measures the time from the edit to the call, and from the call to the stored change. The first
/// time is skipped if the spreadsheet's clock is ahead.
fn measure(edited_at: &Value, called_at: DateTime<Utc>, stored: Duration) {
    let step = &metrics().content.step;
    let edited_at = edited_at.as_str().and_then(|at| at.parse().ok());
    let delay = edited_at.and_then(|at: DateTime<Utc>| (called_at - at).to_std().ok());
    if let Some(delay) = delay {
        step.with_label_values(&["sheet"])
            .observe(delay.as_secs_f64());
    }
    step.with_label_values(&["stored"])
        .observe(stored.as_secs_f64());
}

/// Checks the signature. A call for an unknown casino gets the same answer as one with a wrong
/// signature.
async fn signed(
    app: &App,
    casino: &str,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<(CasinoId, DateTime<Utc>), Response> {
    let refused = |refusal: Refusal| {
        // Calls without a signature are counted separately. Anybody can make such calls, so they do
        // not show that a real editor's edits are refused.
        let outcome = match refusal {
            Refusal::Missing => "unsigned",
            _ => "refused",
        };
        count(outcome, 401, json!({ "error": refusal.to_string() }))
    };
    let unknown = || {
        let error = Refusal::Signature.to_string();
        count("unsigned", 401, json!({ "error": error }))
    };
    let casino: CasinoId = casino.parse().map_err(|_| unknown())?;
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let signature = (text(TIMESTAMP_HEADER), text(SIGNATURE_HEADER));
    // First checks that there is a signature and that it is recent. If not, the database need not
    // be asked.
    let now = app.fleet.clock.now();
    age(signature, now).map_err(refused)?;
    let version = match version(app, &casino).await {
        Ok(version) => version.ok_or_else(unknown)?,
        Err(_) => {
            let problem = "The edit was not stored; send it again".to_owned();
            return Err(count("not_stored", 503, json!({ "error": problem })));
        }
    };
    let key = key(&app.fleet.keys, &casino, version);
    let at = verify(&key, signature, body, now);
    at.map(|at| (casino, at)).map_err(refused)
}

/// Returns the version of the casino's key; `None` for an unknown casino.
async fn version(app: &App, casino: &CasinoId) -> Result<Option<u32>, seven_store::Error> {
    let mut tx = app.fleet.store.bind(casino).await?;
    let row = tx.casino_row().await?;
    tx.commit().await?;
    Ok(row.map(|row| row.config.operational.content_key_version))
}

/// Parses and checks the body of a call; the error is a sentence for the caller.
fn told(body: &[u8], casino: &CasinoId) -> Result<Told, String> {
    let told: Told = serde_json::from_slice(body).map_err(|error| format!("The body: {error}"))?;
    let blank = |text: &str| text.trim().is_empty() || text.chars().count() > MOST_CHARS;
    let kind = told.change_type.as_deref().unwrap_or("update");
    let category = told.item.get("category").and_then(Value::as_str);
    for (wrong, problem) in [
        (
            told.casino_id != *casino,
            "casino_id is not the casino of the address",
        ),
        (
            blank(&told.category) && category.is_none_or(blank),
            "category is missing",
        ),
        (
            blank(&told.edit_id),
            "edit_id is missing: one text per edit, 254 characters at most",
        ),
        (
            blank(&told.editor_email),
            "editor_email is missing: who edited",
        ),
        (
            !["create", "update", "delete"].contains(&kind),
            "change_type is none of create, update, delete",
        ),
        (
            told.source
                .is_some_and(|s| !matches!(s, ContentSource::Sheet | ContentSource::Api)),
            "source is none of sheet, api",
        ),
    ] {
        if wrong {
            return Err(problem.to_owned());
        }
    }
    Ok(told)
}

async fn store(
    app: &App,
    casino: &CasinoId,
    told: &Told,
    signed_at: DateTime<Utc>,
) -> Result<Outcome, seven_content::Error> {
    let mut work = Work::begin(&app.fleet, casino).await?;
    let id = match told.item.get("id") {
        Some(Value::String(id)) => id.trim().to_owned(),
        Some(Value::Number(id)) => id.to_string(),
        _ => String::new(),
    };
    let before = work.tx().published_items(Some(&[id])).await?.pop();
    let before = before.map(|item| item.item);
    let mut value = item_of_row(
        &told.category,
        &told.item,
        before.as_ref(),
        work.schema(&told.category),
    );
    if told.change_type.as_deref() == Some("delete") {
        value = before.unwrap_or(value);
        value["active"] = Value::Bool(false);
    }
    let terms = Terms {
        source: told.source.unwrap_or(ContentSource::Sheet),
        editor: &told.editor_email,
        draft: false,
        approved_by: None,
        keep_refused: true,
        keep_waiting: false,
    };
    let edit = Edit {
        value,
        seen: told.revision,
        edit: Some((told.edit_id.clone(), signed_at)),
        publish_at: told.publish_at,
        take_down_at: told.take_down_at,
        no_end: false,
    };
    let mut outcomes = save(&mut work, &terms, &[edit]).await?;
    work.commit().await?;
    Ok(outcomes.remove(0))
}

/// Builds the response: the outcome of the edit, and every problem with its fix.
fn answer(casino: &CasinoId, told: &Told, outcome: Outcome, millis: u128) -> Response {
    let within = millis < TARGET_MILLIS;
    let (result, status, errors, mut body) = match outcome {
        Outcome::Saved {
            item_id,
            revision,
            state,
            findings,
            ..
        } => {
            let result = match state {
                RevisionState::Published => "published",
                RevisionState::Scheduled => "scheduled",
                _ => "review",
            };
            let body = json!({ "status": result, "item_id": item_id, "revision": revision, "warnings": as_json(&findings) });
            (result, 200, 0, body)
        }
        Outcome::Unchanged { item_id, revision } => {
            let body = json!({ "status": "unchanged", "item_id": item_id, "revision": revision });
            ("unchanged", 200, 0, body)
        }
        Outcome::Repeated {
            item_id,
            revision,
            replayed: false,
        } => {
            let body = json!({ "status": "repeated", "item_id": item_id, "revision": revision });
            ("repeated", 200, 0, body)
        }
        Outcome::Repeated { .. } => {
            let error = "This very call was taken before; sign a retry again";
            ("replayed", 409, 1, json!({ "error": error }))
        }
        Outcome::Moved { item_id, newest } => {
            let error = "Somebody else changed the item; load it again";
            (
                "moved",
                409,
                1,
                json!({ "error": error, "item_id": item_id, "revision": newest }),
            )
        }
        Outcome::Refused { item_id, findings } => {
            let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
            let body = json!({ "error": "Validation failed", "item_id": item_id, "details": lines, "fields": as_json(&findings) });
            ("invalid", 400, findings.len(), body)
        }
    };
    body["latency_ms"] = json!(u64::try_from(millis).unwrap_or(u64::MAX));
    body["within_target"] = within.into();
    // The id of a refused row is not logged, because the caller may have put anything there.
    let known = errors == 0;
    let item = body["item_id"]
        .as_str()
        .filter(|_| known)
        .unwrap_or_default();
    tracing::info!(
        %casino, item, result, errors, millis, resync = told.force_resync, "content edit told"
    );
    if !within {
        tracing::warn!(%casino, item, millis, "an edit of content took long to store");
    }
    count(result, status, body)
}

fn count(result: &'static str, status: u16, body: Value) -> Response {
    metrics()
        .content
        .edits
        .with_label_values(&["webhook", result])
        .inc();
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, Json(body)).into_response()
}

//! Serves the fleet's explanation of a reply, if the simulator was started with a function that
//! returns explanations.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Query, State},
    http::StatusCode,
    routing::get,
};
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use crate::core::Core;

pub(crate) fn router() -> Router<Arc<Core>> {
    Router::new().route("/sim/path", get(path))
}

#[derive(Debug, Deserialize)]
struct Asked {
    attempt: Uuid,
}

async fn path(
    State(core): State<Arc<Core>>,
    Query(Asked { attempt }): Query<Asked>,
) -> Result<Json<Value>, StatusCode> {
    let explain = core
        .settings
        .explain
        .as_ref()
        .ok_or(StatusCode::NOT_FOUND)?;
    (explain.0)(attempt)
        .await
        .map(Json)
        .ok_or(StatusCode::NOT_FOUND)
}

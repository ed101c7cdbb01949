//! Serves the handset page, which simulates a guest's phone in the browser, and the data that the
//! page needs.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::State,
    http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS},
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::{Value, json};

use crate::core::Core;

const PAGE: &str = include_str!("page.html");
/// Content security policy. The page contains everything it needs, so nothing else may be loaded,
/// whatever a text contains.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; \
     img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// Phone numbers of the guests that the page can play; nobody owns these numbers.
const GUESTS: [&str; 3] = ["+18605550142", "+12035550117", "+14135550163"];

pub(crate) fn router() -> Router<Arc<Core>> {
    Router::new()
        .route("/", get(page))
        .route("/sim/config", get(config))
}

async fn page() -> Response {
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CACHE_CONTROL, "no-store"),
    ];
    (headers, PAGE).into_response()
}

async fn config(State(core): State<Arc<Core>>) -> Json<Value> {
    Json(json!({
        "casino_number": core.settings.casino_number, "casino_name": core.settings.casino_name,
        "guests": GUESTS,
        "public_key": core.signer.public_key_b64(), "webhook_url": core.settings.webhook_url,
    }))
}

//! The simulator as Twilio: the message and account resources of the 2010-04-01 API.

use std::sync::Arc;

use axum::{
    Json, Router,
    body::Bytes,
    extract::{ConnectInfo, FromRequestParts, Path, State},
    http::{header::AUTHORIZATION, request::Parts},
    response::Response,
    routing::{get, post},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use url::form_urlencoded;

use crate::{
    core::Core,
    dialect::Dialect,
    line::Cut,
    outbound::{self, SendRequest},
    twilio_error::TwilioError,
};

// === the API ===

pub(crate) fn router() -> Router<Arc<Core>> {
    Router::new()
        .route("/2010-04-01/Accounts/{account}", get(account))
        .route(
            "/2010-04-01/Accounts/{account}/Messages.json",
            post(send_message),
        )
        .route(
            "/2010-04-01/Accounts/{account}/Messages/{message}",
            get(one_message),
        )
}

async fn account(_: Authorised, State(core): State<Arc<Core>>) -> Result<Json<Value>, TwilioError> {
    let status = match core.account_error(Dialect::Twilio) {
        Some(code) if code == "20003" => return Err(TwilioError::new("20003", "Authenticate")),
        Some(_) => "suspended",
        None => "active",
    };
    Ok(Json(
        json!({"sid": core.settings.twilio.account_sid, "status": status, "type": "Full"}),
    ))
}

async fn send_message(
    _: Authorised,
    State(core): State<Arc<Core>>,
    ConnectInfo(line): ConnectInfo<Cut>,
    body: Bytes,
) -> Response {
    let mut request = SendRequest::default();
    for (name, value) in form_urlencoded::parse(&body).into_owned() {
        match name.as_str() {
            "To" => request.to = Some(value),
            "From" => request.from = Some(value),
            "MessagingServiceSid" => request.messaging_profile_id = Some(value),
            "Body" => request.text = Some(value),
            "StatusCallback" => request.webhook_url = Some(value),
            _ => {}
        }
    }
    outbound::take(&core, &line, Dialect::Twilio, request).await
}

async fn one_message(
    _: Authorised,
    State(core): State<Arc<Core>>,
    Path((_, file)): Path<(String, String)>,
) -> Result<Json<Value>, TwilioError> {
    let sid = file.strip_suffix(".json").unwrap_or(&file);
    let sent = core
        .ledger
        .outbound(sid)
        .filter(|sent| sent.provider == Dialect::Twilio.name());
    sent.map(|sent| Json(crate::twilio_webhook::message(&core, &sent)))
        .ok_or_else(|| TwilioError::new("20404", "No message has this SID."))
}

// === authorisation ===

/// An extractor that admits a request with the account's SID and token.
struct Authorised;

impl FromRequestParts<Arc<Core>> for Authorised {
    type Rejection = TwilioError;

    async fn from_request_parts(parts: &mut Parts, core: &Arc<Core>) -> Result<Self, TwilioError> {
        let twilio = &core.settings.twilio;
        let presented = parts
            .headers
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok());
        let right = format!(
            "Basic {}",
            STANDARD.encode(format!("{}:{}", twilio.account_sid, twilio.auth_token))
        );
        if presented == Some(right.as_str()) && parts.uri.path().contains(&twilio.account_sid) {
            return Ok(Self);
        }
        Err(TwilioError::new("20003", "Authenticate"))
    }
}

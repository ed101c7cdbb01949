//! The responses to calls that cannot be served, as problem details (RFC 9457).

use std::time::Duration;

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::json;
use seven_http::{BODY_LIMIT_BYTES, BodyFault};

use crate::session::Denied;

/// Time after which a client should retry a call that could not be stored.
const AGAIN: Duration = Duration::from_secs(2);

/// Why a call is not served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Problem {
    /// The body is not JSON of the right shape, or a field breaks a rule; the text says which.
    Invalid(String),
    Unauthorized(Denied),
    /// The call has no token.
    NoToken,
    WrongApiKey,
    /// The page's origin is not one of the casino's.
    ForeignOrigin,
    /// No active casino has this name.
    NoCasino,
    NotFound,
    TooMany {
        retry_after: Duration,
    },
    Body(BodyFault),
    /// The bus or the database does not answer, so nothing was stored.
    NotStored,
    Internal,
}

impl Problem {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Invalid(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Unauthorized(Denied::NotACustomer) | Self::ForeignOrigin => StatusCode::FORBIDDEN,
            Self::Unauthorized(_) | Self::NoToken | Self::WrongApiKey => StatusCode::UNAUTHORIZED,
            Self::NoCasino | Self::NotFound => StatusCode::NOT_FOUND,
            Self::TooMany { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::Body(BodyFault::TooLarge) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Body(BodyFault::TooSlow | BodyFault::Displaced) => StatusCode::REQUEST_TIMEOUT,
            Self::NotStored => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Returns the problem's code for metrics and clients.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "invalid",
            Self::Unauthorized(Denied::Expired) => "session_ended",
            Self::Unauthorized(_) => "token_refused",
            Self::NoToken => "token_missing",
            Self::WrongApiKey => "api_key_refused",
            Self::ForeignOrigin => "origin_refused",
            Self::NoCasino => "casino_unknown",
            Self::NotFound => "not_found",
            Self::TooMany { .. } => "too_many",
            Self::Body(BodyFault::TooLarge) => "too_large",
            Self::Body(BodyFault::TooSlow) => "too_slow",
            Self::Body(BodyFault::Displaced) => "displaced",
            Self::NotStored => "not_stored",
            Self::Internal => "internal",
        }
    }

    fn detail(&self) -> String {
        match self {
            Self::Invalid(problem) => problem.clone(),
            Self::Unauthorized(Denied::Expired) => Denied::Expired.to_string(),
            // The sentence is the same for every reason: it must not reveal why a token fails.
            Self::Unauthorized(_) => "the token opens no session".to_owned(),
            Self::NoToken => "the call needs `Authorization: Bearer TOKEN`".to_owned(),
            Self::WrongApiKey => "the call needs the gateway's key in `X-API-Key`".to_owned(),
            Self::ForeignOrigin => "the chat does not open on this website".to_owned(),
            Self::NoCasino => "no casino has this name".to_owned(),
            Self::NotFound => "there is nothing at this address".to_owned(),
            Self::TooMany { retry_after } => {
                format!("too many calls; try again in {} s", retry_after.as_secs())
            }
            Self::Body(BodyFault::TooLarge) => {
                format!("the body has more than {BODY_LIMIT_BYTES} bytes")
            }
            Self::Body(fault) => fault.to_string(),
            Self::NotStored => "the message was not stored; send it again".to_owned(),
            Self::Internal => "the call failed on our side; try again".to_owned(),
        }
    }
}

impl From<BodyFault> for Problem {
    fn from(fault: BodyFault) -> Self {
        Self::Body(fault)
    }
}

impl From<Denied> for Problem {
    fn from(denied: Denied) -> Self {
        Self::Unauthorized(denied)
    }
}

impl From<seven_store::Error> for Problem {
    fn from(error: seven_store::Error) -> Self {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "a call could not be served"
        );
        if error.is_unavailable() {
            Self::NotStored
        } else {
            Self::Internal
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.status();
        let body = json!({
            "type": format!("urn:hey-seven:problem:{}", self.code()),
            "title": status.canonical_reason().unwrap_or_default(),
            "status": status.as_u16(),
            "code": self.code(),
            "detail": self.detail(),
        });
        let mut response = (status, Json(body)).into_response();
        let headers = response.headers_mut();
        let kind = HeaderValue::from_static("application/problem+json");
        headers.insert(header::CONTENT_TYPE, kind);
        let again = match &self {
            Self::TooMany { retry_after } => Some(*retry_after),
            Self::NotStored => Some(AGAIN),
            _ => None,
        };
        if let Some(again) = again {
            headers.insert(
                header::RETRY_AFTER,
                HeaderValue::from(again.as_secs().max(1)),
            );
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(self);
        response
    }
}

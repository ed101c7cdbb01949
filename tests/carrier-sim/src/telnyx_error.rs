//! Telnyx's error answers: `{errors:[{code, title, detail}]}` with the HTTP status of the code.

use axum::{
    Json,
    http::{HeaderValue, StatusCode},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

/// One error, as the sender sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TelnyxError {
    pub(crate) code: String,
    pub(crate) detail: String,
}

// === impl TelnyxError ===

impl TelnyxError {
    pub(crate) fn new(code: &str, detail: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            detail: detail.into(),
        }
    }

    /// Returns the HTTP status that Telnyx sends with the code; 400 for codes that are not listed
    /// here.
    pub(crate) fn http_status(&self) -> StatusCode {
        match self.code.as_str() {
            "10009" => StatusCode::UNAUTHORIZED,
            "20002" | "20006" | "20008" | "20012" | "20013" | "20014" | "20100" => {
                StatusCode::FORBIDDEN
            }
            "10011" | "40333" => StatusCode::TOO_MANY_REQUESTS,
            "10007" => StatusCode::INTERNAL_SERVER_ERROR,
            "10008" => StatusCode::GATEWAY_TIMEOUT,
            "10037" => StatusCode::SERVICE_UNAVAILABLE,
            "10015" | "10016" | "10027" | "10033" => StatusCode::UNPROCESSABLE_ENTITY,
            "40303" => StatusCode::NOT_FOUND,
            _ => StatusCode::BAD_REQUEST,
        }
    }

    pub(crate) fn item(&self) -> Value {
        json!({"code": self.code, "title": title(&self.code), "detail": self.detail})
    }
}

impl IntoResponse for TelnyxError {
    fn into_response(self) -> Response {
        let status = self.http_status();
        let mut response = (status, Json(json!({"errors": [self.item()]}))).into_response();
        if self.code == "10011" {
            let headers = response.headers_mut();
            headers.insert("x-ratelimit-limit", HeaderValue::from_static("50"));
            headers.insert("x-ratelimit-remaining", HeaderValue::from_static("0"));
            headers.insert("x-ratelimit-reset", HeaderValue::from_static("1"));
        }
        response
    }
}

/// Returns a short title in our own words; senders should rely on the code.
fn title(code: &str) -> &'static str {
    match code {
        "10007" => "Unexpected error",
        "10009" => "Authentication failed",
        "10011" => "Too many requests",
        "10015" => "Malformed request",
        "10023" => "Invalid JSON",
        "10027" => "Unprocessable entity",
        "40001" => "Not routable",
        "40002" | "40003" | "40015" => "Blocked as spam",
        "40008" => "Undeliverable",
        "40300" => "Blocked due to STOP message",
        "40302" => "Message too large",
        "40303" => "Message not found",
        "40305" => "Invalid 'from' address",
        "40310" => "Invalid 'to' address",
        "40316" => "No content provided",
        "40317" => "Invalid MMS content",
        "40318" => "Message queue full",
        "40333" => "Daily spend limit reached",
        _ => "Message error",
    }
}

//! Twilio's error answers: `{code, message, more_info, status}` with the HTTP status of the code.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::json;

use crate::telnyx_error::TelnyxError;

/// One error, as the sender sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TwilioError {
    pub(crate) code: String,
    pub(crate) message: String,
}

// === impl TwilioError ===

impl TwilioError {
    pub(crate) fn new(code: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            message: message.into(),
        }
    }

    pub(crate) fn http_status(&self) -> StatusCode {
        match self.code.as_str() {
            "20003" => StatusCode::UNAUTHORIZED,
            "20005" | "20008" | "30002" | "90010" => StatusCode::FORBIDDEN,
            "20404" => StatusCode::NOT_FOUND,
            "20429" | "63038" => StatusCode::TOO_MANY_REQUESTS,
            "20500" => StatusCode::INTERNAL_SERVER_ERROR,
            "20503" => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::BAD_REQUEST,
        }
    }
}

/// Translates a Telnyx error to Twilio's code. The checks that both providers share return Telnyx
/// errors.
impl From<TelnyxError> for TwilioError {
    fn from(error: TelnyxError) -> Self {
        let code = match error.code.as_str() {
            "40310" => "21211",
            "40305" => "21603",
            "40316" => "21619",
            "40317" => "21620",
            "40302" => "21617",
            "10027" => "21609",
            "40300" => "21610",
            _ => "20001",
        };
        Self::new(code, error.detail)
    }
}

impl IntoResponse for TwilioError {
    fn into_response(self) -> Response {
        let status = self.http_status();
        let body = json!({
            "code": self.code.parse::<u32>().unwrap_or_default(),
            "message": self.message,
            "more_info": format!("https://www.twilio.com/docs/errors/{}", self.code),
            "status": status.as_u16(),
        });
        (status, Json(body)).into_response()
    }
}

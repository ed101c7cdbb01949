//! The answers of the webhook: status, JSON body, and the reason under which the metrics count each
//! answer.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::json;
use seven_providers::telnyx::signature::Refusal;
use seven_telemetry::{metrics, trace};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    Accepted,
    /// The text was handled already (SMS-6).
    Duplicate {
        message_id: String,
    },
    /// The fleet does not use this event type.
    Ignored {
        event_type: String,
    },
    /// The event is authentic but unusable; its raw body is kept in `dead.ingress.*`.
    DeadLettered {
        reason: &'static str,
    },
    Refused(Refusal),
    TooLarge,
    /// The event, or the suppression of its STOP, could not be stored; the provider calls again.
    NotStored,
    /// The caller did not send its body in time.
    TooSlow,
    /// The caller had not yet sent its body when too many other calls were waiting for theirs.
    Displaced,
    /// No permit became free, or no store answered, within the call's time limit; the provider
    /// calls again.
    NotDone,
}

impl Answer {
    fn parts(&self) -> (StatusCode, &'static str, serde_json::Value) {
        match self {
            Self::Accepted => (StatusCode::OK, "accepted", json!({ "status": "accepted" })),
            Self::Duplicate { message_id } => (
                StatusCode::OK,
                "duplicate",
                json!({ "status": "duplicate", "message_id": message_id }),
            ),
            Self::Ignored { event_type } => (
                StatusCode::OK,
                "ignored",
                json!({ "status": "ignored", "event_type": event_type }),
            ),
            Self::DeadLettered { reason } => (
                StatusCode::OK,
                reason,
                json!({ "status": "dead_lettered", "reason": reason }),
            ),
            Self::Refused(refusal) => {
                let (status, reason) = match refusal {
                    Refusal::MissingHeaders => (StatusCode::UNAUTHORIZED, "missing_headers"),
                    Refusal::InvalidTimestamp => (StatusCode::BAD_REQUEST, "invalid_timestamp"),
                    Refusal::Expired => (StatusCode::BAD_REQUEST, "expired"),
                    Refusal::InvalidSignature => (StatusCode::UNAUTHORIZED, "invalid_signature"),
                };
                (status, reason, json!({ "error": refusal.to_string() }))
            }
            Self::TooLarge => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "too_large",
                json!({ "error": "Body larger than 65536 bytes" }),
            ),
            Self::NotStored => (
                StatusCode::SERVICE_UNAVAILABLE,
                "not_stored",
                json!({ "error": "Event not stored, send it again" }),
            ),
            Self::TooSlow => (
                StatusCode::REQUEST_TIMEOUT,
                "too_slow",
                json!({ "error": "Body not received in time" }),
            ),
            Self::Displaced => (
                StatusCode::REQUEST_TIMEOUT,
                "displaced",
                json!({ "error": "Body not received while others waited" }),
            ),
            Self::NotDone => (
                StatusCode::SERVICE_UNAVAILABLE,
                "not_done",
                json!({ "error": "Not done in time, send it again" }),
            ),
        }
    }
}

impl Answer {
    /// Writes status and outcome of the call to its span.
    pub(crate) fn tell_span(&self) {
        if !trace::on() {
            return;
        }
        let (status, reason, _) = self.parts();
        trace::set("http.response.status_code", i64::from(status.as_u16()));
        match self {
            Self::Refused(_) | Self::TooLarge | Self::TooSlow | Self::Displaced => trace::discard(),
            Self::NotStored | Self::NotDone => trace::fail(reason),
            Self::Accepted
            | Self::Duplicate { .. }
            | Self::Ignored { .. }
            | Self::DeadLettered { .. } => {}
        }
        trace::ended(reason, false);
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let (status, reason, body) = self.parts();
        metrics()
            .webhooks
            .with_label_values(&[status.as_str(), reason])
            .inc();
        let mut response = (status, Json(body)).into_response();
        // Attaches the answer to the response: the call's span, which is written outside the
        // handler, reports the answer.
        response.extensions_mut().insert(self);
        response
    }
}

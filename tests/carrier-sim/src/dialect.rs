//! Names, codes and error answers that differ between Telnyx and Twilio.

use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};
use seven_domain::IdSource;

use crate::{telnyx_error::TelnyxError, twilio_error::TwilioError};

pub(crate) fn injected(code: &str) -> TelnyxError {
    TelnyxError::new(code, "Injected by a rule of the simulator.")
}

/// The provider whose API a request used. The result is reported through this provider's webhooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Telnyx,
    Twilio,
}

/// An error answer in the format of one provider.
#[derive(Debug)]
pub(crate) enum Problem {
    Telnyx(TelnyxError),
    Twilio(TwilioError),
}

impl Dialect {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Telnyx => "telnyx",
            Self::Twilio => "twilio",
        }
    }

    pub(crate) fn injected(self, code: &str) -> Problem {
        let error = injected(code);
        match self {
            Self::Telnyx => Problem::Telnyx(error),
            Self::Twilio => Problem::Twilio(TwilioError::new(code, error.detail)),
        }
    }

    /// Converts an error to this provider's format. The checks that both providers share use
    /// Telnyx's codes.
    pub(crate) fn said(self, error: TelnyxError) -> Problem {
        match self {
            Self::Telnyx => Problem::Telnyx(error),
            Self::Twilio => Problem::Twilio(error.into()),
        }
    }

    pub(crate) fn too_many(self) -> &'static str {
        match self {
            Self::Telnyx => "10011",
            Self::Twilio => "20429",
        }
    }

    pub(crate) fn server_error(self) -> &'static str {
        match self {
            Self::Telnyx => "10007",
            Self::Twilio => "20500",
        }
    }

    pub(crate) fn message_id(self, ids: &IdSource) -> String {
        let id = ids.uuid();
        match self {
            Self::Telnyx => id.to_string(),
            Self::Twilio => format!("SM{}", id.simple()),
        }
    }
}

impl Problem {
    pub(crate) fn http_status(&self) -> StatusCode {
        match self {
            Self::Telnyx(error) => error.http_status(),
            Self::Twilio(error) => error.http_status(),
        }
    }

    pub(crate) fn code(&self) -> &str {
        match self {
            Self::Telnyx(error) => &error.code,
            Self::Twilio(error) => &error.code,
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        match self {
            Self::Telnyx(error) => error.into_response(),
            Self::Twilio(error) => error.into_response(),
        }
    }
}

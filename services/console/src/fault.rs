//! Why a page is not shown. [`crate::guard`] turns a fault into a page in the caller's language.

use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// There is no such page, or the person may not know of it. The answer is the same in both
    /// cases, so that nobody finds out which ids exist.
    NotFound,
    /// The form does not come from a page of this session.
    Forbidden,
    /// Nobody is logged in.
    LoggedOut,
    /// The database does not answer.
    Trouble,
}

impl Fault {
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::LoggedOut => StatusCode::SEE_OTHER,
            Self::Trouble => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// Returns the key of the sentence that the error page shows.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Forbidden => "forbidden",
            Self::LoggedOut => "log_in",
            Self::Trouble => "trouble",
        }
    }
}

impl From<seven_store::Error> for Fault {
    fn from(error: seven_store::Error) -> Self {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "the database did not answer a page"
        );
        Self::Trouble
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

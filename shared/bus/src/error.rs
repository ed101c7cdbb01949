//! Errors of the bus. None of them is the fault of the message, so the caller may wait and try
//! again.

use async_nats::ConnectErrorKind;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("connecting to NATS")]
    Connect(#[source] async_nats::ConnectError),
    #[error("NATS server {found} is too old; 2.12.3 or newer is needed")]
    TooOld { found: String },
    #[error("publishing to {subject}")]
    Publish {
        subject: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("publishing to {subject}: no acknowledgement in time")]
    AckTimeout { subject: String },
    #[error("setting up {what}")]
    Setup {
        what: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// Returns whether no retry can succeed, because the settings are wrong or the server is too
    /// old; false for an outage.
    pub fn is_final(&self) -> bool {
        match self {
            Self::TooOld { .. } => true,
            Self::Connect(error) => {
                matches!(
                    error.kind(),
                    ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation
                )
            }
            _ => false,
        }
    }

    pub(crate) fn setup(what: impl Into<String>) -> impl FnOnce(async_nats::Error) -> Self {
        let what = what.into();
        move |source| Self::Setup { what, source }
    }
}

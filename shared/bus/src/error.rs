//! Errors of the bus. All of them are worth a wait, since the message is not at fault.

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
    /// Returns whether no server will ever accept the connection: the settings are wrong, and it is
    /// not an outage.
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

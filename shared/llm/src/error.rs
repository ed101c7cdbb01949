//! Errors of a model, and advice on whether a retry can help.

use std::time::Duration;

/// Advice to the caller on whether and when to retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    Never,
    After(Duration),
    /// Retry after the caller's own backoff.
    Backoff,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("reading the host pack")]
    Pack(#[source] Box<toml::de::Error>),
    #[error("reading the host pack: {0}")]
    PackContent(String),
    #[error("asking {model}: no answer within {waited:?}")]
    Timeout { model: String, waited: Duration },
    #[error("asking {model}: rate limited")]
    RateLimited {
        model: String,
        after: Option<Duration>,
    },
    #[error("asking {model}: unavailable")]
    Unavailable {
        model: String,
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    #[error("asking {model}: request refused: {reason}")]
    Refused { model: String, reason: String },
    #[error("asking {model}: unreadable reply: {reason}")]
    Unreadable { model: String, reason: String },
}

impl Error {
    pub fn retry(&self) -> Retry {
        match self {
            Self::Pack(_) | Self::PackContent(_) | Self::Refused { .. } => Retry::Never,
            Self::RateLimited {
                after: Some(wait), ..
            } => Retry::After(*wait),
            Self::Timeout { .. }
            | Self::RateLimited { after: None, .. }
            | Self::Unavailable { .. }
            | Self::Unreadable { .. } => Retry::Backoff,
        }
    }
}

//! Errors of a hosted model. They hold positions, codes and sizes, never text of a guest or a
//! model.

use std::time::Duration;

use super::Usage;
use crate::Retry;

/// The reason why a call gave no usable reply.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("asking {model}: rate limited")]
    RateLimited {
        model: String,
        after: Option<Duration>,
    },
    /// A daily or paid quota is used up; waiting within the turn does not help.
    #[error("asking {model}: the quota is used up")]
    QuotaSpent { model: String },
    #[error("asking {model}: unavailable (HTTP {status})")]
    Unavailable { model: String, status: u16 },
    /// The provider was not reached, or the connection broke before the whole answer arrived.
    #[error("asking {model}: the connection failed")]
    Connection {
        model: String,
        #[source]
        source: reqwest::Error,
    },
    #[error("asking {model}: no answer within {waited:?}")]
    Timeout { model: String, waited: Duration },
    /// The provider rejected our request or our key. `code` is the provider's error code, reduced
    /// to characters that are safe to log.
    #[error("asking {model}: refused (HTTP {status}, {code})")]
    Refused {
        model: String,
        status: u16,
        code: String,
    },
    /// The provider's content filter stopped the prompt or the answer.
    #[error("asking {model}: blocked by the provider ({reason})")]
    Blocked {
        model: String,
        reason: String,
        usage: Usage,
    },
    /// An answer arrived and was billed, but cannot be used.
    #[error("asking {model}: {defect}")]
    Answer {
        model: String,
        defect: Defect,
        usage: Usage,
    },
    /// The call was not made, because our own rate limiter would permit it only after the deadline.
    #[error("asking {model}: over our own rate limit for another {wait:?}")]
    Throttled { model: String, wait: Duration },
    /// The breaker is open, so the caller must answer without this model. `source` is set if this
    /// very call opened the breaker.
    #[error("asking {model}: the breaker is open")]
    Open {
        model: String,
        retry_in: Duration,
        #[source]
        source: Option<Box<Error>>,
    },
    /// The client cannot be built; occurs only at start.
    #[error("setting up {model}: {reason}")]
    Setup { model: String, reason: &'static str },
}

/// The reason why an answer cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Defect {
    #[error("the answer's JSON ends too early")]
    Truncated,
    #[error("the token limit cut the answer")]
    TokenLimit,
    #[error("the answer is not of the expected form: {0}")]
    Unreadable(&'static str),
    #[error("the answer is empty")]
    Empty,
    /// `tool` is the name of an offered tool; `None` if the model named any other tool.
    #[error(
        "the arguments of tool call {nth} ({}) are not a JSON object",
        tool.as_deref().unwrap_or("a tool we did not offer")
    )]
    ToolArguments { nth: usize, tool: Option<String> },
    #[error("the text is not JSON though a schema was asked for")]
    NotJson,
    #[error("{got} vectors of the length asked for came for {asked} texts")]
    Vectors { asked: usize, got: usize },
    /// `at` is a path of names from the schema, never from the answer.
    #[error("the answer violates its schema at {at}: {rule}")]
    Schema { at: String, rule: &'static str },
}

/// The party at fault for a failed call; decides whether the failure counts against the breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The provider is down, or no call can succeed, such as with a bad key. Counts against the
    /// breaker.
    Provider,
    /// The answer cannot be used. Counts against the breaker.
    Answer,
    /// Only this request or its content is at fault. Does not count against the breaker.
    Request,
    /// Our own breaker or rate limiter stopped the call. Does not count against the breaker.
    Guard,
}

// === impl Error ===

impl Error {
    /// Returns whether a retry can help, and after which wait.
    pub fn retry(&self) -> Retry {
        match self {
            Self::RateLimited {
                after: Some(wait), ..
            }
            | Self::Throttled { wait, .. }
            | Self::Open { retry_in: wait, .. } => Retry::After(*wait),
            Self::RateLimited { after: None, .. }
            | Self::Unavailable { .. }
            | Self::Connection { .. }
            | Self::Timeout { .. }
            | Self::Answer { .. } => Retry::Backoff,
            Self::QuotaSpent { .. }
            | Self::Refused { .. }
            | Self::Blocked { .. }
            | Self::Setup { .. } => Retry::Never,
        }
    }

    /// Returns true if `Guarded` repeats the call itself. After a timeout no time is left for that.
    /// After an unusable answer the turn itself asks again, with feedback.
    pub fn repeats_in_call(&self) -> bool {
        matches!(
            self,
            Self::RateLimited { .. } | Self::Unavailable { .. } | Self::Connection { .. }
        )
    }

    pub fn fault(&self) -> Fault {
        match self {
            Self::RateLimited { .. }
            | Self::QuotaSpent { .. }
            | Self::Unavailable { .. }
            | Self::Connection { .. }
            | Self::Timeout { .. } => Fault::Provider,
            Self::Refused {
                status: 401 | 403 | 404,
                ..
            } => Fault::Provider,
            Self::Refused { code, .. } if code == "API_KEY_INVALID" => Fault::Provider,
            Self::Answer { .. } => Fault::Answer,
            // A guest whose texts are blocked must not open the breaker for everybody else.
            Self::Refused { .. } | Self::Blocked { .. } | Self::Setup { .. } => Fault::Request,
            Self::Throttled { .. } | Self::Open { .. } => Fault::Guard,
        }
    }

    /// Returns the tokens that were billed although the call failed.
    pub fn usage(&self) -> Usage {
        match self {
            Self::Blocked { usage, .. } | Self::Answer { usage, .. } => *usage,
            Self::Open {
                source: Some(source),
                ..
            } => source.usage(),
            _ => Usage::default(),
        }
    }

    /// Replaces the error's usage by `all`, the tokens of all attempts of its call.
    #[must_use]
    pub(crate) fn billed(mut self, all: Usage) -> Self {
        if let Self::Blocked { usage, .. } | Self::Answer { usage, .. } = &mut self {
            *usage = all;
        }
        self
    }

    /// Returns the error's metric label, one of a fixed set.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::RateLimited { .. } => "rate_limited",
            Self::QuotaSpent { .. } => "quota_spent",
            Self::Unavailable { .. } => "unavailable",
            Self::Connection { .. } => "connection",
            Self::Timeout { .. } => "timeout",
            Self::Refused { .. } => "refused",
            Self::Blocked { .. } => "blocked",
            Self::Answer { .. } => "answer",
            Self::Throttled { .. } => "throttled",
            Self::Open { .. } => "open",
            Self::Setup { .. } => "setup",
        }
    }
}

//! Errors of a hosted model. They carry places, codes and sizes, never what anybody wrote.

use std::time::Duration;

use super::Usage;
use crate::Retry;

/// A call that gave no usable reply.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("asking {model}: rate limited")]
    RateLimited { model: String, after: Option<Duration> },
    /// A daily or paid quota is used up: no wait within a turn helps.
    #[error("asking {model}: the quota is used up")]
    QuotaSpent { model: String },
    #[error("asking {model}: unavailable (HTTP {status})")]
    Unavailable { model: String, status: u16 },
    /// Not reached, or cut before the whole answer was here.
    #[error("asking {model}: the connection failed")]
    Connection {
        model: String,
        #[source]
        source: reqwest::Error,
    },
    #[error("asking {model}: no answer within {waited:?}")]
    Timeout { model: String, waited: Duration },
    /// Our request or our key is not accepted. `code` is the provider's, made of letters and digits.
    #[error("asking {model}: refused (HTTP {status}, {code})")]
    Refused { model: String, status: u16, code: String },
    /// The provider's content filter stopped the prompt or the answer.
    #[error("asking {model}: blocked by the provider ({reason})")]
    Blocked { model: String, reason: String, usage: Usage },
    /// An answer came, was billed, and cannot be used.
    #[error("asking {model}: {defect}")]
    Answer { model: String, defect: Defect, usage: Usage },
    /// Our own limiter has no place before the deadline.
    #[error("asking {model}: over our own rate limit for another {wait:?}")]
    Throttled { model: String, wait: Duration },
    /// The breaker is open: answer without this model. `source` is set when this very call opened it.
    #[error("asking {model}: the breaker is open")]
    Open {
        model: String,
        retry_in: Duration,
        #[source]
        source: Option<Box<Error>>,
    },
    /// A client that cannot be built; only at start.
    #[error("setting up {model}: {reason}")]
    Setup { model: String, reason: &'static str },
}

/// The defect of an answer.
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
    /// `tool` is a name we offered, or none of them.
    #[error("the arguments of tool call {nth} ({}) are not a JSON object", tool.as_deref().unwrap_or("a tool we did not offer"))]
    ToolArguments { nth: usize, tool: Option<String> },
    #[error("the text is not JSON though a schema was asked for")]
    NotJson,
    #[error("{got} vectors of the length asked for came for {asked} texts")]
    Vectors { asked: usize, got: usize },
    /// `at` is a path of the schema's own names.
    #[error("the answer violates its schema at {at}: {rule}")]
    Schema { at: String, rule: &'static str },
}

/// The party at fault: decides which failures count against the breaker (AGENT-62) and which calls
/// are repeated (PROD-13, PROD-14).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The provider is unwell, or no call can succeed (a bad key): counts.
    Provider,
    /// The answer is of no use: counts.
    Answer,
    /// This one request, or what it was about: does not count.
    Request,
    /// Our own guard said no: no call was made.
    Guard,
}

// === impl Error ===

impl Error {
    /// Whether asking again can help, now or later.
    pub fn retry(&self) -> Retry {
        match self {
            Self::RateLimited { after: Some(wait), .. }
            | Self::Throttled { wait, .. }
            | Self::Open { retry_in: wait, .. } => Retry::After(*wait),
            Self::RateLimited { after: None, .. }
            | Self::Unavailable { .. }
            | Self::Connection { .. }
            | Self::Timeout { .. }
            | Self::Answer { .. } => Retry::Backoff,
            Self::QuotaSpent { .. } | Self::Refused { .. } | Self::Blocked { .. } | Self::Setup { .. } => Retry::Never,
        }
    }

    /// PROD-13: what is repeated within the call. A lost connection is what gRPC calls unavailable; a time-out has used up its time;
    /// a bad answer belongs to the turn's validator, which asks once more with feedback (AGENT-61).
    pub fn repeats_in_call(&self) -> bool {
        matches!(self, Self::RateLimited { .. } | Self::Unavailable { .. } | Self::Connection { .. })
    }

    pub fn fault(&self) -> Fault {
        match self {
            Self::RateLimited { .. }
            | Self::QuotaSpent { .. }
            | Self::Unavailable { .. }
            | Self::Connection { .. }
            | Self::Timeout { .. } => Fault::Provider,
            Self::Refused { status: 401 | 403 | 404, .. } => Fault::Provider,
            Self::Refused { code, .. } if code == "API_KEY_INVALID" => Fault::Provider,
            Self::Answer { .. } => Fault::Answer,
            // A guest whose texts are blocked must not take the model from everybody else.
            Self::Refused { .. } | Self::Blocked { .. } | Self::Setup { .. } => Fault::Request,
            Self::Throttled { .. } | Self::Open { .. } => Fault::Guard,
        }
    }

    /// Tokens that were billed all the same.
    pub fn usage(&self) -> Usage {
        match self {
            Self::Blocked { usage, .. } | Self::Answer { usage, .. } => *usage,
            Self::Open { source: Some(source), .. } => source.usage(),
            _ => Usage::default(),
        }
    }

    /// A bounded label for metrics.
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

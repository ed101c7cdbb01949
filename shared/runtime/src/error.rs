//! Maps errors to outcomes. If a dependency is unreachable, the message waits. Any other error
//! counts as a failed try (D16).

use std::{error::Error as StdError, time::Duration};

use seven_bus::Outcome;
use seven_domain::{CasinoId, Invalid};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] seven_store::Error),
    #[error(transparent)]
    Bus(#[from] seven_bus::Error),
    #[error("reading an event")]
    Event(#[from] Invalid),
    #[error(transparent)]
    Pack(#[from] seven_packs::Unknown),
    /// A round over many casinos failed for some of them. `failed` is their number, `first` the
    /// first of them, and `source` the error of that one.
    #[error("{failed} casino(s), {first} the first of them")]
    Casinos {
        failed: usize,
        first: CasinoId,
        source: Box<Self>,
    },
    #[error("{0}")]
    Other(String),
}

// === impl Error ===

impl Error {
    /// Returns whether a store or the bus is unreachable, which is not the message's fault.
    pub fn is_away(&self) -> bool {
        match self {
            Self::Store(error) => error.is_unavailable(),
            Self::Bus(error) => matches!(
                error,
                seven_bus::Error::Connect(_) | seven_bus::Error::AckTimeout { .. }
            ),
            _ => false,
        }
    }
}

/// Number of failed tries after which a message becomes a dead letter.
const MOST_TRIES: u32 = 5;

/// Returns the outcome for an error. `tries` is the number of tries so far, including the one that
/// failed. If the message has a row, `tries` comes from the row.
pub fn outcome_of(error: &Error, tries: u32) -> Outcome {
    match error {
        Error::Store(e) if e.is_unavailable() => Outcome::Unavailable {
            what: "postgres".into(),
        },
        Error::Store(e) if e.is_contended() => Outcome::Wait {
            after: Duration::from_millis(50),
            why: "contended",
        },
        Error::Bus(_) => Outcome::Unavailable {
            what: "nats".into(),
        },
        Error::Event(_) => Outcome::Park {
            reason: "unreadable".into(),
            error: chain(error),
            attempts: tries,
        },
        Error::Store(_) | Error::Pack(_) | Error::Casinos { .. } | Error::Other(_)
            if tries >= MOST_TRIES =>
        {
            Outcome::Park {
                reason: "failed".into(),
                error: chain(error),
                attempts: tries,
            }
        }
        Error::Store(_) | Error::Pack(_) | Error::Casinos { .. } | Error::Other(_) => {
            Outcome::Retry {
                after: Duration::from_secs(u64::from(tries.max(1))),
                why: chain(error),
            }
        }
    }
}

/// Returns the error and its causes on one line.
fn chain(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let step = next.to_string();
        if !text.ends_with(&step) {
            text = format!("{text}: {step}");
        }
        cause = next.source();
    }
    text
}

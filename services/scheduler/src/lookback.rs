//! Determines how far back a check that compares recent rows must look.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Each round also looks at rows from this long before the start of the last round: a transaction
/// may write a row before that start and commit after it. Postgres ends a transaction that idles
/// for longer.
const OVERLAP: Duration = Duration::from_secs(60);

/// When the last successful round began; the next round looks back to that time. If no round
/// succeeded, or the last one was long ago, the next round looks back as far as the check's limit.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lookback(Arc<Mutex<Option<Instant>>>);

// === impl Lookback ===

impl Lookback {
    /// Returns how far a round that begins at `now` looks back, at most `longest`.
    pub(crate) fn span(&self, now: Instant, longest: Duration) -> Duration {
        let last = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.map_or(longest, |last| longest.min(now - last + OVERLAP))
    }

    /// Notes that the round that began at `began` succeeded.
    pub(crate) fn done(&self, began: Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(began);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SEC-94, SEC-95
    fn a_round_looks_back_to_the_last_one_that_succeeded() {
        let (lookback, began) = (Lookback::default(), Instant::now());
        let at = |seconds| began + Duration::from_secs(seconds);
        let span = |seconds| {
            lookback
                .span(at(seconds), Duration::from_secs(300))
                .as_secs()
        };
        assert_eq!(span(0), 300, "the first round of a process");
        lookback.done(at(0));
        assert_eq!(span(15), 75);
        assert_eq!(span(90), 150, "five rounds failed");
        assert_eq!(span(10_000), 300, "another scheduler did them meanwhile");
    }
}

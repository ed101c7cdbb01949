//! Counts the failures of each message in this process (D16). The server's count of deliveries is
//! not used, because it includes waits.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// Failed messages by their sequence in the stage's stream. An entry expires after a while, because
/// another process may have finished the message.
#[derive(Debug, Default)]
pub(super) struct Tries(Mutex<HashMap<u64, Failed>>);

#[derive(Debug, Clone, Copy)]
struct Failed {
    times: u32,
    last: Instant,
}

/// How long failures are remembered; longer than any pause between two tries.
const FAILURE_MEMORY: Duration = Duration::from_secs(600);
/// Expired entries are removed only when there are at least this many entries.
const FEW: usize = 1_000;

impl Tries {
    /// Returns the number of this message's next try, from 1.
    pub(super) fn next(&self, sequence: u64) -> u32 {
        let failed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        failed
            .get(&sequence)
            .map_or(0, |failed| failed.times)
            .saturating_add(1)
    }

    pub(super) fn failed(&self, sequence: u64) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if all.len() >= FEW {
            all.retain(|_, failed| now.duration_since(failed.last) < FAILURE_MEMORY);
        }
        let entry = all.entry(sequence).or_insert(Failed {
            times: 0,
            last: now,
        });
        *entry = Failed {
            times: entry.times.saturating_add(1),
            last: now,
        };
    }

    /// Forgets a message that needs no further try.
    pub(super) fn forget(&self, sequence: u64) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&sequence);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn failures_count_and_success_forgets_them() {
        let tries = Tries::default();
        assert_eq!(tries.next(7), 1);
        for try_no in 2..=4 {
            tries.failed(7);
            assert_eq!((tries.next(7), tries.next(8)), (try_no, 1));
        }
        tries.forget(7);
        assert_eq!(tries.next(7), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn what_went_on_elsewhere_is_forgotten() {
        let tries = Tries::default();
        (0..1_000).for_each(|sequence| tries.failed(sequence));
        tokio::time::advance(FAILURE_MEMORY).await;
        tries.failed(5_000);
        assert_eq!((tries.next(3), tries.next(5_000)), (1, 2));
    }
}

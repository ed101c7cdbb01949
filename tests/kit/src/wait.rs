//! Waiting for processes with blocking calls: the callers run this outside the async threads.

use std::{
    thread::park_timeout,
    time::{Duration, Instant},
};

/// Asks `ready` until it has an answer or the time is up (`None`). Starts eager and grows calmer, so that a server that
/// is up in 20 ms is seen at once and one that takes seconds costs little.
pub(crate) fn poll<T>(limit: Duration, mut ready: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + limit;
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(answer) = ready() {
            return Some(answer);
        }
        if Instant::now() >= deadline {
            return None;
        }
        // park_timeout may wake early, which only means that we ask once more.
        park_timeout(pause);
        pause = (pause * 2).min(Duration::from_millis(25));
    }
}

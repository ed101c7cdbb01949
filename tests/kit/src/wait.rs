//! Waits for processes with blocking calls, so `poll` must not be called on an async thread.

use std::{
    thread::park_timeout,
    time::{Duration, Instant},
};

/// Calls `ready` until `ready` returns a value. Returns `None` if this takes longer than `limit`.
/// The pauses between calls grow from 1 to 25 ms, so that a slow server costs little CPU.
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
        // park_timeout may wake early, which only causes one more call.
        park_timeout(pause);
        pause = (pause * 2).min(Duration::from_millis(25));
    }
}

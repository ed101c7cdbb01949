//! Locks of ours.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Nothing behind our locks is left half-changed by a panic, so a poisoned one is as good as new.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Counting the messages in progress in this process.

use std::sync::atomic::AtomicUsize;

use tokio::sync::Notify;

/// Number of messages of one casino and queue that are in progress in this process.
#[derive(Debug, Default)]
pub(super) struct InWork {
    pub(super) count: AtomicUsize,
    pub(super) ended: Notify,
}

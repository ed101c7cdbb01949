//! Messages of one casino in work here.

use std::sync::atomic::AtomicUsize;

use tokio::sync::Notify;

/// Messages of one casino and lane in work here.
#[derive(Debug, Default)]
pub(super) struct InWork {
    pub(super) count: AtomicUsize,
    pub(super) ended: Notify,
}

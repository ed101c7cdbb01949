//! Inbound limits, and the result of counting against them.

use std::time::Duration;

use seven_domain::CasinoId;

/// A limit of `most` texts per `window` for `key`.
#[derive(Debug, Clone)]
pub struct Limit {
    pub key: String,
    /// Counted over all casinos together instead of per casino.
    pub fleet: bool,
    pub most: u32,
    pub window: Duration,
}

impl Limit {
    pub(crate) fn scope<'a>(&self, casino: &'a CasinoId) -> &'a str {
        if self.fleet { "all" } else { casino.as_str() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitVerdict {
    Within,
    /// Index of the first limit that was exceeded, and whether this is the first time in its
    /// window.
    Over {
        limit: usize,
        first: bool,
    },
}

//! Limits of what comes in, and what counting said.

use std::time::Duration;

use seven_domain::CasinoId;

/// `most` per `window` for `key`.
#[derive(Debug, Clone)]
pub struct Limit {
    pub key: String,
    /// Counted over all casinos instead of the one at hand.
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
    /// Index of the first limit that was exceeded, and whether this is the first time in its window.
    Over {
        limit: usize,
        first: bool,
    },
}

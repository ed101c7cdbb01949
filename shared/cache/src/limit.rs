//! Inbound limits, and the result of counting a text against them.

use std::time::Duration;

use seven_domain::CasinoId;

/// A limit of `most` texts per `window` for `key`.
#[derive(Debug, Clone)]
pub struct Limit {
    pub key: String,
    /// If true, texts of all casinos count together; otherwise the limit applies per casino.
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
    /// A limit was exceeded. `limit` is the index of the first such limit. `first` is true if this
    /// text is the first in the limit's window to exceed it.
    Over {
        limit: usize,
        first: bool,
    },
}

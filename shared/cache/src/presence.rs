//! The people who view a page of the console right now. Only for display: without Redis nobody is
//! shown.

use std::{sync::LazyLock, time::Duration};

use redis::Script;
use seven_domain::CasinoId;

use crate::Cache;

/// KEYS: the page's set. ARGV: the viewer, milliseconds after which a viewer counts as gone.
/// Returns whether the viewer is new, then all viewers.
static LOOKS: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local t = redis.call('TIME')
         local now = t[1] * 1000 + math.floor(t[2] / 1000)
         redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[2]))
         local came = redis.call('ZADD', KEYS[1], now, ARGV[1])
         redis.call('PEXPIRE', KEYS[1], ARGV[2])
         return {came, redis.call('ZRANGE', KEYS[1], 0, -1)}",
    )
});

/// The people who view a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Presence {
    /// Whether the viewer who was just recorded is new on this page.
    pub came: bool,
    /// All viewers, including the one who was just recorded.
    pub all: Vec<String>,
}

impl Cache {
    /// Records that `who` views a page, and returns all viewers. A viewer counts as gone if they
    /// were not recorded again within `gone_after`.
    pub async fn look(
        &self,
        casino: &CasinoId,
        page: &str,
        who: &str,
        gone_after: Duration,
    ) -> Presence {
        let mut script = LOOKS.prepare_invoke();
        script
            .key(self.key("looks", casino.as_str(), page))
            .arg(who)
            .arg(u64::try_from(gone_after.as_millis()).unwrap_or(u64::MAX));
        let found: Option<(bool, Vec<String>)> = self.invoke("presence", &script).await;
        found.map_or_else(Presence::default, |(came, all)| Presence { came, all })
    }
}

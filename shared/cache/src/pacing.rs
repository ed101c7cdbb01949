//! Pacing in segments: GCRA shared through Redis, behind a trait; a local governor while Redis is away (PROD-4).

use std::{sync::LazyLock, time::Duration};

use redis::Script;

use crate::Cache;

/// May these units go now?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    Now,
    Wait(Duration),
}

/// A shared pace for `key`: `per_second` units, bursts of one second.
pub trait Pacer: Send + Sync {
    fn take(&self, key: &str, per_second: u32, units: u32) -> impl Future<Output = Pace> + Send;
}

/// Generic cell rate algorithm on the server's clock, in microseconds. Takes the units or says how long to wait; a refused
/// request takes nothing.
static GCRA: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local t = redis.call('TIME')
         local now = t[1] * 1000000 + t[2]
         local emission = 1000000 / tonumber(ARGV[1])
         local cost = emission * tonumber(ARGV[2])
         local tolerance = math.max(1000000, cost)
         local tat = math.max(now, tonumber(redis.call('GET', KEYS[1]) or '0'))
         local wait = tat + cost - tolerance - now
         if wait > 0 then return math.ceil(wait / 1000) end
         redis.call('SET', KEYS[1], string.format('%.0f', tat + cost), 'PX', math.ceil((tat + cost - now) / 1000) + 1000)
         return 0",
    )
});

impl Pacer for Cache {
    async fn take(&self, key: &str, per_second: u32, units: u32) -> Pace {
        let (per_second, units) = (per_second.max(1), units.max(1));
        let mut call = GCRA.key(self.key("pace", "all", key));
        match self.invoke::<u64>("pacing", call.arg(per_second).arg(units)).await {
            Some(0) => Pace::Now,
            Some(millis) => Pace::Wait(Duration::from_millis(millis)),
            None => self.local().take(key, per_second, units),
        }
    }
}

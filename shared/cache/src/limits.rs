//! Inbound limits: sliding windows, checked and recorded in one script.

use std::sync::LazyLock;

use redis::Script;
use seven_domain::CasinoId;

use crate::{
    Cache,
    limit::{Limit, LimitVerdict},
};

/// KEYS: a set per limit, then a notice key per limit. A notice key names the text whose sender
/// gets a notice. ARGV: member, then (most, window ms) per limit. If a limit is exceeded, nothing
/// is counted. Returns {number of the exceeded limit from 1, or 0; 1 if the sender gets a notice}.
static SLIDING: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local t = redis.call('TIME')
         local now = t[1] * 1000 + math.floor(t[2] / 1000)
         local n = #KEYS / 2
         for i = 1, n do
           local window = tonumber(ARGV[2 * i + 1])
           redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', now - window)
           if not redis.call('ZSCORE', KEYS[i], ARGV[1]) and redis.call('ZCARD', KEYS[i]) >= tonumber(ARGV[2 * i]) then
             local told = redis.call('SET', KEYS[n + i], ARGV[1], 'NX', 'PX', window)
             local mine = told or redis.call('GET', KEYS[n + i]) == ARGV[1]
             return {i, mine and 1 or 0}
           end
         end
         for i = 1, n do
           redis.call('ZADD', KEYS[i], now, ARGV[1])
           redis.call('PEXPIRE', KEYS[i], tonumber(ARGV[2 * i + 1]) + 1000)
         end
         return {0, 0}",
    )
});

impl Cache {
    /// Counts one text against all limits. `member` identifies the text, so that counting it again
    /// changes nothing.
    pub async fn count_text(
        &self,
        casino: &CasinoId,
        member: &str,
        limits: &[Limit],
    ) -> LimitVerdict {
        let mut call = SLIDING.prepare_invoke();
        for limit in limits {
            call.key(self.key("limit", limit.scope(casino), &limit.key));
        }
        for limit in limits {
            call.key(self.key("told", limit.scope(casino), &limit.key));
        }
        call.arg(member);
        for limit in limits {
            call.arg(limit.most)
                .arg(u64::try_from(limit.window.as_millis()).unwrap_or(u64::MAX));
        }
        match self.invoke::<(usize, u8)>("limits", &call).await {
            Some((0, _)) => LimitVerdict::Within,
            Some((over, first)) => LimitVerdict::Over {
                limit: over - 1,
                first: first == 1,
            },
            None => match limits
                .iter()
                .position(|limit| !self.local().within(casino, limit))
            {
                // Without Redis it is unknown whether the sender already got a notice. No notice is
                // better than two.
                Some(limit) => LimitVerdict::Over {
                    limit,
                    first: false,
                },
                None => LimitVerdict::Within,
            },
        }
    }
}

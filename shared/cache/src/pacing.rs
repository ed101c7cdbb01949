//! Pacing in segments over several limits at once, shared through Redis. While Redis is
//! unreachable, local limits apply.
//!
//! A text takes its segments from all limits or from none. If several casinos wait for a shared
//! limit, the one served longest ago goes first. So one casino's many texts do not delay another
//! casino's.

use std::{sync::LazyLock, time::Duration};

use redis::Script;

use crate::{
    Cache,
    pace::{Ask, Pace, Pacer},
};

/// Generic cell rate algorithm in microseconds. KEYS per level: bucket, set of waiting casinos, set
/// of the times at which casinos were served. ARGV: casino, segments, then per level emission,
/// tolerance, and 1 if the level is shared. Returns {number of the level that makes the text wait,
/// from 1, or 0; wait ms}.
static GCRA: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local t = redis.call('TIME')
         local now = t[1] * 1000000 + t[2]
         local who, segments, n = ARGV[1], tonumber(ARGV[2]), #KEYS / 3
         local worst, at, tats = 0, 0, {}
         for i = 1, n do
           local cost = tonumber(ARGV[3 * i]) * segments
           local tat = math.max(now, tonumber(redis.call('GET', KEYS[3 * i - 2]) or '0')) + cost
           local wait = tat - tonumber(ARGV[3 * i + 1]) - now
           if wait > worst then worst, at = wait, i end
           tats[i] = tat
         end
         for i = 1, n do
           if at == 0 and ARGV[3 * i + 2] == '1' then
             redis.call('ZREMRANGEBYSCORE', KEYS[3 * i - 1], '-inf', now)
             local mine = tonumber(redis.call('ZSCORE', KEYS[3 * i], who) or '0')
             for _, other in ipairs(redis.call('ZRANGE', KEYS[3 * i - 1], 0, 63)) do
               if other ~= who and tonumber(redis.call('ZSCORE', KEYS[3 * i], other) or '0') < mine then
                 worst, at = tonumber(ARGV[3 * i]) * segments, i
                 break
               end
             end
           end
         end
         for i = 1, n do
           if ARGV[3 * i + 2] == '1' then
             if i == at then
               redis.call('ZADD', KEYS[3 * i - 1], now + worst + 250000, who)
               redis.call('PEXPIRE', KEYS[3 * i - 1], math.ceil(worst / 1000) + 1000)
             else
               redis.call('ZREM', KEYS[3 * i - 1], who)
             end
           end
         end
         if at > 0 then return {at, math.ceil(worst / 1000)} end
         for i = 1, n do
           redis.call('SET', KEYS[3 * i - 2], string.format('%.0f', tats[i]), 'PX', math.ceil((tats[i] - now) / 1000) + 1000)
           if ARGV[3 * i + 2] == '1' then
             redis.call('ZADD', KEYS[3 * i], now, who)
             redis.call('ZREMRANGEBYSCORE', KEYS[3 * i], '-inf', now - 60000000)
             redis.call('PEXPIRE', KEYS[3 * i], 60000)
           end
         end
         return {0, 0}",
    )
});

impl Pacer for Cache {
    async fn take(&self, ask: &Ask<'_>) -> Pace {
        let segments = ask.segments.max(1);
        let mut call = GCRA.prepare_invoke();
        for level in ask.levels {
            let bucket = level.bucket(ask.lane);
            for kind in ["pace", "pace-waiting", "pace-served"] {
                call.key(self.key(kind, "all", &bucket));
            }
        }
        call.arg(ask.casino.as_str()).arg(segments);
        for level in ask.levels {
            let rate = level.rate(ask.lane, segments);
            call.arg(micros(rate.emission))
                .arg(micros(rate.tolerance))
                .arg(u8::from(level.shared));
        }
        match self.invoke::<(usize, u64)>("pacing", &call).await {
            Some((0, _)) => Pace::Now,
            Some((at, millis)) => Pace::Wait {
                after: Duration::from_millis(millis),
                level: ask.levels.get(at - 1).map_or("unknown", |level| level.name),
            },
            None => self.local().take(ask),
        }
    }
}

fn micros(of: Duration) -> u64 {
    u64::try_from(of.as_micros()).unwrap_or(u64::MAX)
}

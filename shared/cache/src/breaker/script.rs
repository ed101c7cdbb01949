//! The shared state machine: three scripts over one hash (the state) and one sorted set (the
//! failures of the window).

use std::{sync::LazyLock, time::Duration};

use redis::Script;

use super::{Breaker, BreakerState, Outcome, Permit, Transition};

/// Milliseconds after the cooldown at which the state of an unused breaker is deleted. Without
/// calls, the state says nothing about the callee.
const FORGOTTEN_MILLIS: u64 = 3_600_000;

/// Maximum wait before a retry while another caller's probe is running. It is short, because a
/// probe usually ends well before its lease.
const PROBE_RETRY_IN: Duration = Duration::from_secs(1);

pub(super) enum Admitted {
    Closed,
    Probe {
        moved: bool,
    },
    Refused {
        retry_in: Duration,
    },
    /// Half-open, and the one probe is running.
    Probing {
        retry_in: Duration,
    },
}

/// KEYS: state. ARGV: token, lease ms, ms to keep the state. Returns {kind, wait ms, moved}; kind 0
/// is closed, 1 probe, 2 refused, 3 refused because another probe runs.
static ADMIT: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local t = redis.call('TIME')
         local now = t[1] * 1000 + math.floor(t[2] / 1000)
         local s = redis.call('HMGET', KEYS[1], 'state', 'until', 'probe_until')
         if not s[1] then return {0, 0, 0} end
         local moved = 0
         if s[1] == 'open' then
           local wait = tonumber(s[2]) - now
           if wait > 0 then return {2, wait, 0} end
           redis.call('HSET', KEYS[1], 'state', 'half', 'good', 0)
           moved = 1
         elseif s[3] and tonumber(s[3]) > now then
           return {3, tonumber(s[3]) - now, 0}
         end
         redis.call('HSET', KEYS[1], 'probe', ARGV[1], 'probe_until', now + ARGV[2])
         redis.call('PEXPIRE', KEYS[1], ARGV[3])
         return {1, 0, moved}",
    )
});

/// KEYS: state, failures. ARGV: outcome, token, 1 for a probe, failures that open the breaker,
/// window ms, cooldown ms, successes that close it, ms to keep the state. Returns {transition,
/// failures}; transition 0 is none, 1 opened, 2 reopened, 3 closed.
static RECORD: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local t = redis.call('TIME')
         local now = t[1] * 1000 + math.floor(t[2] / 1000)
         local s = redis.call('HMGET', KEYS[1], 'state', 'probe')
         local function open()
           redis.call('DEL', KEYS[1], KEYS[2])
           redis.call('HSET', KEYS[1], 'state', 'open', 'until', now + ARGV[6])
           redis.call('PEXPIRE', KEYS[1], ARGV[8])
         end
         if ARGV[3] == '1' then
           if s[1] ~= 'half' or s[2] ~= ARGV[2] then return {0, 0} end
           redis.call('HDEL', KEYS[1], 'probe', 'probe_until')
           if ARGV[1] == 'failure' then open() return {2, 0} end
           if ARGV[1] == 'success' and redis.call('HINCRBY', KEYS[1], 'good', 1) >= tonumber(ARGV[7]) then
             redis.call('DEL', KEYS[1], KEYS[2])
             return {3, 0}
           end
           return {0, 0}
         end
         if ARGV[1] ~= 'failure' or s[1] then return {0, 0} end
         redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - ARGV[5])
         redis.call('ZADD', KEYS[2], now, ARGV[2])
         redis.call('PEXPIRE', KEYS[2], ARGV[5] + 1000)
         local n = redis.call('ZCARD', KEYS[2])
         if n < tonumber(ARGV[4]) then return {0, n} end
         open()
         return {1, n}",
    )
});

/// KEYS: state. Returns {kind, wait ms}; kind 0 is closed, 1 open, 2 half open.
static STATE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local t = redis.call('TIME')
         local now = t[1] * 1000 + math.floor(t[2] / 1000)
         local s = redis.call('HMGET', KEYS[1], 'state', 'until')
         if not s[1] then return {0, 0} end
         if s[1] == 'open' and tonumber(s[2]) > now then return {1, tonumber(s[2]) - now} end
         return {2, 0}",
    )
});

pub(super) async fn admit(breaker: &Breaker, token: &str, lease: Duration) -> Option<Admitted> {
    let mut call = ADMIT.key(state_key(breaker));
    call.arg(token)
        .arg(millis(lease))
        .arg(kept(breaker) + millis(lease));
    let (kind, wait, moved) = breaker
        .cache
        .invoke::<(u8, u64, u8)>("breaker", &call)
        .await?;
    let wait = Duration::from_millis(wait);
    Some(match kind {
        0 => Admitted::Closed,
        1 => Admitted::Probe { moved: moved == 1 },
        2 => Admitted::Refused { retry_in: wait },
        _ => Admitted::Probing {
            retry_in: wait.min(PROBE_RETRY_IN),
        },
    })
}

/// Records an outcome; returns `None` when Redis is unreachable, `Some(None)` when the state did
/// not change.
pub(super) async fn record(
    breaker: &Breaker,
    permit: &Permit,
    outcome: Outcome,
) -> Option<Option<Transition>> {
    let said = match outcome {
        Outcome::Success => "success",
        Outcome::Failure => "failure",
        Outcome::Neutral => "neutral",
    };
    if !permit.probe && outcome != Outcome::Failure {
        return Some(None);
    }
    let settings = &breaker.settings;
    let mut call = RECORD.key(state_key(breaker));
    call.key(breaker.cache.key("breaker-failures", "all", &breaker.name))
        .arg(said)
        .arg(&permit.token)
        .arg(u8::from(permit.probe))
        .arg(settings.failures)
        .arg(millis(settings.window))
        .arg(millis(settings.cooldown))
        .arg(settings.successes)
        .arg(kept(breaker));
    let (kind, failures) = breaker.cache.invoke::<(u8, u32)>("breaker", &call).await?;
    Some(match kind {
        1 => Some(Transition::Opened { failures }),
        2 => Some(Transition::Reopened),
        3 => Some(Transition::Closed),
        _ => None,
    })
}

pub(super) async fn state(breaker: &Breaker) -> Option<BreakerState> {
    let call = STATE.key(state_key(breaker));
    let (kind, wait) = breaker.cache.invoke::<(u8, u64)>("breaker", &call).await?;
    Some(match kind {
        0 => BreakerState::Closed,
        1 => BreakerState::Open(Duration::from_millis(wait)),
        _ => BreakerState::HalfOpen,
    })
}

fn state_key(breaker: &Breaker) -> String {
    breaker.cache.key("breaker", "all", &breaker.name)
}

fn kept(breaker: &Breaker) -> u64 {
    millis(breaker.settings.cooldown) + FORGOTTEN_MILLIS
}

fn millis(duration: Duration) -> u64 {
    // Durations are capped at a year, which Lua's numbers hold exactly.
    u64::try_from(duration.as_millis())
        .unwrap_or(u64::MAX)
        .min(31_536_000_000)
}

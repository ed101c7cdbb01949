//! In-process limits (governor), used while Redis is unreachable. They count only this process's
//! texts.

use std::{
    collections::HashMap,
    num::NonZeroU32,
    sync::{Arc, Mutex},
    time::Duration,
};

use governor::{
    DefaultDirectRateLimiter, Quota, RateLimiter,
    clock::{Clock, DefaultClock},
};
use seven_domain::{CasinoId, Lane};

use crate::{Ask, Level, Limit, Pace};

/// Maximum number of keys in memory; when it is exceeded, the table is cleared.
const MOST_KEYS: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct LocalLimits {
    limiters: Mutex<HashMap<String, Arc<DefaultDirectRateLimiter>>>,
    clock: DefaultClock,
    /// Number of processes that share a sending limit.
    processes: u32,
}

impl LocalLimits {
    pub(crate) fn new(processes: u32) -> Self {
        Self {
            processes: processes.max(1),
            ..Self::default()
        }
    }

    /// Takes segments from this process's share of every limit. All processes together then stay
    /// within the limit.
    pub(crate) fn take(&self, ask: &Ask<'_>) -> Pace {
        for level in ask.levels {
            if let Some(after) = self.wait(level, ask) {
                return Pace::Wait {
                    after,
                    level: level.name,
                };
            }
        }
        Pace::Now
    }

    fn wait(&self, level: &Level, ask: &Ask<'_>) -> Option<Duration> {
        let rate = level.rate(
            if ask.lane == Lane::Bulk {
                Lane::Reply
            } else {
                ask.lane
            },
            1,
        );
        let emission = rate.emission.saturating_mul(self.processes);
        let burst = u32::try_from(rate.tolerance.as_nanos() / emission.as_nanos().max(1))
            .unwrap_or(u32::MAX);
        let quota = Quota::with_period(emission)?
            .allow_burst(NonZeroU32::new(burst).unwrap_or(NonZeroU32::MIN));
        // Capped, because a text longer than the whole burst would never be permitted.
        let segments = NonZeroU32::new(ask.segments)
            .unwrap_or(NonZeroU32::MIN)
            .min(quota.burst_size());
        match self
            .limiter(&level.bucket(ask.lane), quota)
            .check_n(segments)
        {
            Ok(Ok(())) => None,
            Ok(Err(not_until)) => Some(not_until.wait_time_from(self.clock.now())),
            Err(_) => Some(Duration::from_secs(1)),
        }
    }

    /// Counts one text and returns whether it is within the limit. A limit of the fleet counts the
    /// texts of all casinos together, any other limit those of one casino.
    pub(crate) fn within(&self, casino: &CasinoId, limit: &Limit) -> bool {
        let Some(most) = NonZeroU32::new(limit.most) else {
            return false;
        };
        let Some(quota) = Quota::with_period(limit.window / limit.most) else {
            return true;
        };
        let key = format!("{}:{}", limit.scope(casino), limit.key);
        self.limiter(&key, quota.allow_burst(most)).check().is_ok()
    }

    fn limiter(&self, key: &str, quota: Quota) -> Arc<DefaultDirectRateLimiter> {
        let mut limiters = self
            .limiters
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if limiters.len() >= MOST_KEYS {
            limiters.clear();
        }
        Arc::clone(
            limiters
                .entry(key.to_owned())
                .or_insert_with(|| Arc::new(RateLimiter::direct(quota))),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(local: &LocalLimits, lane: Lane, segments: u32, texts: usize) -> usize {
        let level = Level {
            name: "number",
            key: "n".into(),
            most: 20,
            window: Duration::from_secs(1),
            shared: false,
        };
        let casino = "here".parse().unwrap();
        let ask = Ask {
            casino: &casino,
            lane,
            segments,
            levels: &[level],
        };
        (0..texts).filter(|_| local.take(&ask) == Pace::Now).count()
    }

    #[test] // PROD-4
    fn the_local_pace_is_a_part_of_the_whole() {
        assert!((16..=17).contains(&passed(&LocalLimits::new(1), Lane::Reply, 1, 40)));
        assert!((4..=5).contains(&passed(&LocalLimits::new(4), Lane::Reply, 1, 40)));
        let local = LocalLimits::new(4);
        assert!(
            passed(&local, Lane::Reply, 1, 40) > 0 && passed(&local, Lane::Safety, 1, 1) == 1,
            "its own reserve"
        );
        assert_eq!(
            passed(&LocalLimits::new(20), Lane::Reply, 9, 2),
            1,
            "a long text passes, too"
        );
    }

    #[test] // PROD-1
    fn the_eleventh_text_of_a_minute_is_over_at_this_casino_alone() {
        let local = LocalLimits::default();
        let (here, there) = ("here".parse().unwrap(), "there".parse().unwrap());
        let limit = Limit {
            key: "casino".into(),
            fleet: false,
            most: 10,
            window: Duration::from_secs(60),
        };
        let passed = |casino, limit| (0..12).filter(|_| local.within(casino, limit)).count();
        assert_eq!(passed(&here, &limit), 10);
        assert_eq!(
            passed(&there, &limit),
            10,
            "nobody pays for another's flood"
        );
        let fleet = Limit {
            key: "fleet".into(),
            fleet: true,
            ..limit
        };
        assert_eq!((passed(&here, &fleet), passed(&there, &fleet)), (10, 0));
    }
}

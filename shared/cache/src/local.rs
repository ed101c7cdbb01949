//! In-process limits (governor): what stands in while Redis is away. Safe per process, never permanent.

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
use seven_domain::CasinoId;

use crate::{Limit, Pace};

/// Keys kept at most (PROD-1: memory guard); beyond it the table starts anew.
const MOST_KEYS: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct LocalLimits {
    limiters: Mutex<HashMap<String, Arc<DefaultDirectRateLimiter>>>,
    clock: DefaultClock,
}

impl LocalLimits {
    pub(crate) fn take(&self, key: &str, per_second: u32, units: u32) -> Pace {
        let units = NonZeroU32::new(units).unwrap_or(NonZeroU32::MIN);
        let rate = NonZeroU32::new(per_second).unwrap_or(NonZeroU32::MIN);
        let limiter = self.limiter(key, Quota::per_second(rate).allow_burst(rate.max(units)));
        match limiter.check_n(units) {
            Ok(Ok(())) => Pace::Now,
            Ok(Err(not_until)) => Pace::Wait(not_until.wait_time_from(self.clock.now())),
            Err(_) => Pace::Wait(Duration::from_secs(1)),
        }
    }

    /// True when one more is within the limit; one casino's texts are not another's.
    pub(crate) fn within(&self, casino: &CasinoId, limit: &Limit) -> bool {
        let Some(most) = NonZeroU32::new(limit.most) else { return false };
        let Some(quota) = Quota::with_period(limit.window / limit.most) else { return true };
        let key = format!("{}:{}", limit.scope(casino), limit.key);
        self.limiter(&key, quota.allow_burst(most)).check().is_ok()
    }

    fn limiter(&self, key: &str, quota: Quota) -> Arc<DefaultDirectRateLimiter> {
        let mut limiters = self.limiters.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if limiters.len() >= MOST_KEYS {
            limiters.clear();
        }
        Arc::clone(limiters.entry(key.to_owned()).or_insert_with(|| Arc::new(RateLimiter::direct(quota))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // PROD-4
    fn the_local_pace_holds_back_what_exceeds_it() {
        let local = LocalLimits::default();
        let passed = (0..30).filter(|_| local.take("n", 20, 1) == Pace::Now).count();
        assert!((20..=21).contains(&passed), "{passed}");
    }

    #[test] // PROD-1
    fn the_eleventh_text_of_a_minute_is_over_at_this_casino_alone() {
        let local = LocalLimits::default();
        let (here, there) = ("here".parse().unwrap(), "there".parse().unwrap());
        let limit = Limit { key: "casino".into(), fleet: false, most: 10, window: Duration::from_secs(60) };
        let passed = |casino, limit| (0..12).filter(|_| local.within(casino, limit)).count();
        assert_eq!(passed(&here, &limit), 10);
        assert_eq!(passed(&there, &limit), 10, "nobody pays for another's flood");
        let fleet = Limit { key: "fleet".into(), fleet: true, ..limit };
        assert_eq!((passed(&here, &fleet), passed(&there, &fleet)), (10, 0));
    }
}

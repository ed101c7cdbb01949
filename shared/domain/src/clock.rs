//! The two clocks of the fleet and the one scale that shortens every interval (D13).

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

/// Reads the time. `now` is the machine's; `property_now` is what guests and casinos see and can be moved by `--at`.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    offset: TimeDelta,
}

impl Clock {
    /// A clock whose property time starts at `at` and runs on from there.
    pub fn starting_at(at: DateTime<Utc>) -> Self {
        Self { offset: at - Self::default().now() }
    }

    /// Machine time: timestamps, deadlines, signatures.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the system clock")]
    pub fn now(&self) -> DateTime<Utc> {
        Utc::now()
    }

    /// Guest and casino time: opening hours, quiet hours, "tonight".
    pub fn property_now(&self) -> DateTime<Utc> {
        self.now() + self.offset
    }
}

/// Scales intervals: 1 is real time, 0 removes the waits that exist for people (typing, quiet window).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeScale(f64);

impl Default for TimeScale {
    fn default() -> Self {
        Self(1.0)
    }
}

impl TimeScale {
    /// Negative and non-finite scales count as 0.
    pub fn new(scale: f64) -> Self {
        Self(if scale.is_finite() { scale.max(0.0) } else { 0.0 })
    }

    pub fn factor(self) -> f64 {
        self.0
    }

    /// This scale, shortened further.
    #[must_use]
    pub fn times(self, share: f64) -> Self {
        Self::new(self.0 * share)
    }

    /// The interval, scaled; may be zero.
    pub fn of(self, interval: Duration) -> Duration {
        interval.mul_f64(self.0)
    }

    /// The interval, scaled, but never below `floor`: for leases, deadlines and sweeps, which must not vanish.
    pub fn at_least(self, interval: Duration, floor: Duration) -> Duration {
        self.of(interval).max(floor.min(interval))
    }
}

//! The two clocks of the fleet, and the scale that shortens every interval (D13).

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

/// Reads the time. `now` is the machine's time; `property_now` is the time for guests and casinos,
/// which `--at` can move.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    offset: TimeDelta,
}

impl Clock {
    /// Returns a clock whose property time starts at `at` and advances from there.
    pub fn starting_at(at: DateTime<Utc>) -> Self {
        Self {
            offset: at - Self::default().now(),
        }
    }

    /// Returns the machine's time, for timestamps, deadlines and signatures.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the system clock"
    )]
    pub fn now(&self) -> DateTime<Utc> {
        Utc::now()
    }

    /// Returns the time for guests and casinos: opening hours, quiet hours, "tonight".
    pub fn property_now(&self) -> DateTime<Utc> {
        self.now() + self.offset
    }
}

/// A factor for intervals: 1 is real time; 0 removes the waits that exist for people (typing, quiet
/// window).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeScale(f64);

impl Default for TimeScale {
    fn default() -> Self {
        Self(1.0)
    }
}

impl TimeScale {
    /// Creates a scale; negative and non-finite values count as 0.
    pub fn new(scale: f64) -> Self {
        Self(if scale.is_finite() {
            scale.max(0.0)
        } else {
            0.0
        })
    }

    pub fn factor(self) -> f64 {
        self.0
    }

    /// Returns this scale multiplied by `share`.
    #[must_use]
    pub fn times(self, share: f64) -> Self {
        Self::new(self.0 * share)
    }

    /// Returns the scaled interval, which may be zero.
    pub fn of(self, interval: Duration) -> Duration {
        interval.mul_f64(self.0)
    }

    /// Returns the scaled interval, but never shortens an interval to less than `floor`. Leases,
    /// deadlines and sweeps use this, because they must not become zero.
    pub fn at_least(self, interval: Duration, floor: Duration) -> Duration {
        self.of(interval).max(floor.min(interval))
    }
}

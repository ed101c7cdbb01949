//! Limits the rate at which campaigns are released (D6). A fifth of the number's rate is reserved
//! for safety texts. Campaigns may use half of the rest; the other half stays free for replies.

use std::time::Duration;

use seven_domain::config::Operational;

/// Returns the maximum release rate in segments per second.
pub fn rate(operational: &Operational) -> f64 {
    let total = operational.segments_per_second().max(1);
    // A fifth of the rate is the sender's reserve for safety texts.
    let rest = total.saturating_sub((total / 5).max(1)).max(1);
    f64::from(rest) / 2.0
}

/// Returns the period over which the rate is measured, long enough for one segment.
pub fn window(rate: f64) -> Duration {
    Duration::from_secs_f64((1.0 / rate).max(1.0))
}

/// Returns the time that this many segments take at this rate.
pub fn estimate(rate: f64, segments: u64) -> Duration {
    let segments = f64::from(u32::try_from(segments).unwrap_or(u32::MAX));
    Duration::from_secs_f64((segments / rate).ceil())
}

/// Number of segments that one round of releasing may still release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget(i64);

impl Budget {
    /// Creates the budget of a round: the segments of one window, less `released` or `waiting`,
    /// whichever is larger. `released` is the number of segments released in the last window,
    /// `waiting` the number that are queued.
    pub fn new(rate: f64, released: i64, waiting: i64) -> Self {
        let most = (rate * window(rate).as_secs_f64()).round();
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a rate is at most half of 2^32"
        )]
        Self((most as i64).max(1) - released.max(waiting))
    }

    pub fn is_spent(self) -> bool {
        self.0 <= 0
    }

    pub fn spend(&mut self, segments: u32) {
        self.0 -= i64::from(segments);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(kind: &str, campaign: u32) -> f64 {
        let document = serde_json::json!({
            "timezone": "America/New_York", "telnyx_phone_number": "+18605550100",
            "contact_phone": "860-555-0100",
            "number_kind": kind, "campaign_segments_per_second": campaign,
        });
        rate(&serde_json::from_value(document).unwrap())
    }

    #[test] // D6
    fn half_of_what_safety_texts_leave() {
        for (kind, campaign, wanted) in [
            ("demo", 1, 400.0),
            ("toll_free", 1, 8.0),
            ("long_code", 5, 2.0),
            ("long_code", 2, 0.5),
            ("long_code", 1, 0.5),
        ] {
            assert!(
                (at(kind, campaign) - wanted).abs() < 1e-9,
                "{kind} {campaign}: {}",
                at(kind, campaign)
            );
        }
    }

    #[test]
    fn a_round_releases_a_window_less_what_is_under_way() {
        for (rate, released, waiting, wanted) in [
            (400.0, 0, 0, 400),
            (400.0, 100, 300, 100),
            (8.0, 8, 0, 0),
            (8.0, 0, 20, -12),
            (0.5, 0, 0, 1),
            (0.5, 1, 0, 0),
        ] {
            assert_eq!(
                Budget::new(rate, released, waiting),
                Budget(wanted),
                "{rate} {released} {waiting}"
            );
        }
        assert_eq!(
            (window(0.5), window(8.0)),
            (Duration::from_secs(2), Duration::from_secs(1))
        );
        let mut one = Budget::new(0.5, 0, 0);
        one.spend(1);
        assert!(one.is_spent());
    }

    #[test]
    fn an_estimate_is_rounded_up() {
        assert_eq!(estimate(8.0, 0), Duration::ZERO);
        assert_eq!(estimate(8.0, 17), Duration::from_secs(3));
        assert_eq!(estimate(0.5, 5_000), Duration::from_secs(10_000));
    }
}

//! Limits on sending, in segments, and the rates that follow from them. All functions here are
//! pure.

use std::time::Duration;

use seven_domain::{CasinoId, Lane};

/// A limit of `most` segments per `window`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// The kind of limit, for metrics and messages: `number`, `campaign`, `casino`, `account`,
    /// `fleet`.
    pub name: &'static str,
    /// The casino or provider that the limit applies to.
    pub key: String,
    pub most: u32,
    pub window: Duration,
    /// Whether several casinos share the limit.
    pub shared: bool,
}

/// A request to send segments now.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    pub casino: &'a CasinoId,
    pub lane: Lane,
    pub segments: u32,
    pub levels: &'a [Level],
}

/// Answer to a request to send segments now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    Now,
    /// The segments must wait for `after`, because of the limit named `level`.
    Wait {
        after: Duration,
        level: &'static str,
    },
}

/// Limits the rate of sending for several processes together. A refused request consumes nothing.
pub trait Pacer: Send + Sync {
    fn take(&self, ask: &Ask<'_>) -> impl Future<Output = Pace> + Send;
}

/// A window of at least this length is strict: it never contains more than `most` segments. A
/// shorter window may contain twice as many after a burst. That is harmless, because providers
/// queue the surplus.
const STRICT_FROM: Duration = Duration::from_secs(2);

/// The rate at which one lane may use a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rate {
    /// The time that one segment consumes at the steady pace.
    pub(crate) emission: Duration,
    /// How far a burst may be ahead of the steady pace.
    pub(crate) tolerance: Duration,
}

impl Level {
    /// Returns the rate of a lane. A fifth of the limit is reserved for safety texts (D6). Bulk
    /// texts may use only half the burst. The other half lets a reply be sent at once.
    pub(crate) fn rate(&self, lane: Lane, segments: u32) -> Rate {
        let reserve = (self.most / 5).max(1);
        let most = if lane == Lane::Safety {
            reserve
        } else {
            self.most.saturating_sub(reserve).max(1)
        };
        let strict = self.window >= STRICT_FROM;
        let burst = if strict { self.window / 2 } else { self.window };
        let emission = if strict {
            self.window + burst
        } else {
            self.window
        } / most;
        let cost = emission.saturating_mul(segments);
        let tolerance = match lane {
            Lane::Bulk => (burst / 2).max(cost),
            Lane::Reply | Lane::Safety => burst.max(cost.saturating_mul(2)),
        };
        Rate {
            emission,
            tolerance,
        }
    }

    pub(crate) fn bucket(&self, lane: Lane) -> String {
        let lane = if lane == Lane::Safety {
            "safety"
        } else {
            "other"
        };
        format!("{}:{}:{lane}", self.name, self.key)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn level(most: u32, window: u64) -> Level {
        Level {
            name: "number",
            key: "k".into(),
            most,
            window: Duration::from_secs(window),
            shared: false,
        }
    }

    #[test] // D6: four fifths and one fifth of 20 a second
    fn safety_has_its_own_fifth() {
        let level = level(20, 1);
        assert_eq!(
            level.rate(Lane::Reply, 1).emission,
            Duration::from_micros(62_500)
        );
        assert_eq!(
            level.rate(Lane::Safety, 1).emission,
            Duration::from_millis(250)
        );
        assert_ne!(level.bucket(Lane::Safety), level.bucket(Lane::Reply));
        assert_eq!(level.bucket(Lane::Bulk), level.bucket(Lane::Reply));
    }

    proptest! {
        #[test] // spec 05 section 1.6: a carrier's limit per minute or day is never passed
        fn no_window_holds_more_than_its_most(most in 10_u32..5_000, minutes in 1_u64..1_440) {
            let level = level(most, minutes * 60);
            let per_window = |lane| {
                let rate = level.rate(lane, 1);
                (rate.tolerance + level.window).as_nanos() / rate.emission.as_nanos().max(1)
            };
            // Rounding of the emission may add one segment for each of the two lanes.
            prop_assert!(
                per_window(Lane::Reply) + per_window(Lane::Safety) <= u128::from(most) + 2
            );
        }

        #[test]
        fn a_text_of_any_length_passes_in_the_end(most in 1_u32..100, segments in 1_u32..10) {
            for lane in [Lane::Safety, Lane::Reply, Lane::Bulk] {
                let rate = level(most, 1).rate(lane, segments);
                prop_assert!(rate.tolerance >= rate.emission * segments);
            }
        }

        #[test] // D6: when proactive texts have used all they may, an answer still goes at once
        fn an_answer_passes_where_proactive_texts_wait(most in 2_u32..1_000) {
            let level = level(most, 1);
            let (answer, bulk) = (level.rate(Lane::Reply, 1), level.rate(Lane::Bulk, 1));
            prop_assert!(
                bulk.tolerance + answer.emission <= answer.tolerance + Duration::from_micros(1)
            );
        }
    }
}

//! Every interval of the fleet in one place, shortened together by `--time-scale` (D13). Waits that exist for people vanish at 0;
//! leases, deadlines and sweeps keep a floor.

use std::time::Duration;

use seven_cache::BreakerSettings;
use seven_domain::TimeScale;
use seven_store::SweepPlan;

#[derive(Debug, Clone, Copy, Default)]
pub struct Timing {
    pub scale: TimeScale,
    /// For quiet window and typing delay.
    pauses: TimeScale,
}

impl Timing {
    pub fn new(scale: TimeScale) -> Self {
        Self { scale, pauses: scale }
    }

    /// Keeps this share of the pauses that are made for people, and all of the rest.
    #[must_use]
    pub fn with_pauses(self, share: f64) -> Self {
        Self { pauses: self.scale.times(share), ..self }
    }

    /// Quiet window and typing delay: what a guest may still write, and how fast a person would.
    pub fn pause(&self, span: Duration) -> Duration {
        self.pauses.of(span)
    }

    fn floored(&self, seconds: u64, floor_millis: u64) -> Duration {
        self.scale.at_least(Duration::from_secs(seconds), Duration::from_millis(floor_millis))
    }

    /// First sweep of a row after 15 s, longest interval 10 min (D3).
    pub fn sweep(&self) -> SweepPlan {
        SweepPlan { base: self.floored(15, 1_500), longest: self.floored(600, 10_000) }
    }

    /// A turn's lease; renewed at a third of it.
    pub fn lease(&self) -> Duration {
        self.floored(15, 2_000)
    }

    /// A signal that meets a held lease comes again after this.
    pub fn lease_wait(&self) -> Duration {
        self.floored(1, 100)
    }

    /// Overdue provider answers: the request's own deadline is 10 s.
    pub fn send_deadline(&self) -> Duration {
        self.floored(10, 1_000)
    }

    /// How long a webhook may still resolve a doubtful send.
    pub fn doubt_grace(&self) -> Duration {
        self.floored(30, 1_500)
    }

    /// In-call repetition of refused connections and 429 (PROD-13, C-18).
    pub fn in_call_pause(&self) -> Duration {
        self.floored(1, 20) / 2
    }

    /// Re-delivery of transient failures after 5, 25, 125 s (SMS-44); none after the third.
    pub fn redelivery(&self, tries: u32) -> Option<Duration> {
        (tries < 3).then(|| self.floored(5u64.pow(tries + 1), 50))
    }

    /// A wait that a table of error codes names, in seconds.
    pub fn after(&self, seconds: u32) -> Duration {
        self.floored(u64::from(seconds), 50)
    }

    /// Five failures within a minute open a provider's breaker for five; one good probe closes it (SMS-40).
    pub fn provider_breaker(&self) -> BreakerSettings {
        BreakerSettings {
            failures: 5,
            window: self.floored(60, 1_000),
            cooldown: self.floored(300, 1_000),
            successes: 1,
        }
    }

    /// Texts that wait for a provider look again after this, if nothing wakes them before.
    pub fn provider_poll(&self) -> Duration {
        self.floored(60, 300)
    }

    /// How often a stopped provider is asked whether it takes us again, and how often somebody looks whether it is time.
    pub fn provider_probe(&self) -> Duration {
        self.floored(60, 500)
    }

    pub fn provider_watch(&self) -> Duration {
        self.floored(2, 200)
    }

    /// A casino's park until its limit resets.
    pub fn provider_park(&self, span: Duration) -> Duration {
        self.scale.at_least(span, Duration::from_secs(3))
    }

    /// A dead row this old without a letter has lost its announcement.
    pub fn unannounced(&self) -> Duration {
        self.floored(60, 3_000)
    }

    /// How far back a round looks for texts that left after a STOP: several rounds, so that one that fails hides nothing.
    pub fn after_stop_watch(&self) -> Duration {
        Duration::from_secs(300)
    }

    /// Time between two requests for a provider's records.
    pub fn records_pace(&self) -> Duration {
        self.floored(1, 20) / 2
    }

    /// A record this young may still be followed by its webhook: the provider's retries take less than a minute.
    pub fn records_margin(&self) -> Duration {
        self.floored(120, 3_000)
    }

    /// How often each casino is compared with a provider's records.
    pub fn reconcile_every(&self) -> Duration {
        self.floored(300, 60_000)
    }

    /// Figures of delivery are looked at this often (SMS-54), a block by a carrier more often (SMS-52).
    pub fn delivery_check(&self) -> Duration {
        self.floored(300, 1_000)
    }

    pub fn block_check(&self) -> Duration {
        self.floored(60, 500)
    }

    /// Texts of so long decide whether a carrier blocks us.
    pub fn block_window(&self) -> Duration {
        self.floored(900, 60_000)
    }

    /// A text this young may not have its receipt yet (C-48).
    pub fn receipt_margin(&self) -> Duration {
        self.floored(120, 1_000)
    }

    /// A figure too small to be judged for so long ends its alert.
    pub fn figure_quiet(&self) -> Duration {
        self.floored(3_600, 10_000)
    }

    /// An alert that has not come again for so long is over.
    pub fn alert_quiet(&self) -> Duration {
        self.floored(900, 5_000)
    }

    /// One request of a channel that tells people (SEC-102).
    pub fn notice_deadline(&self) -> Duration {
        self.floored(10, 1_000)
    }

    /// How often a worker looks whether its stores answer, for its readiness.
    pub fn health_check(&self) -> Duration {
        self.floored(2, 200)
    }

    /// How often the scheduler reads how the fleet stands, for metrics.
    pub fn gauges(&self) -> Duration {
        self.floored(15, 1_000)
    }

    pub fn ack_wait(&self) -> Duration {
        self.floored(10, 2_000)
    }

    /// Usefulness limits and other long spans of the packs.
    pub fn scaled(&self, span: Duration) -> Duration {
        self.scale.of(span)
    }
}

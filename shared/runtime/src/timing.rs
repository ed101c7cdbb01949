//! Every interval of the fleet, shortened together by `--time-scale` (D13). Pauses that only serve
//! people become zero at scale 0; leases, deadlines and sweeps keep a minimum.

use std::time::Duration;

use seven_cache::BreakerSettings;
use seven_domain::TimeScale;
use seven_store::SweepPlan;

#[derive(Debug, Clone, Copy, Default)]
pub struct Timing {
    pub scale: TimeScale,
    /// Scale of the quiet window and the typing delay.
    pauses: TimeScale,
}

impl Timing {
    pub fn new(scale: TimeScale) -> Self {
        Self { scale, pauses: scale }
    }

    /// Scales the pauses that serve people by this share and leaves all other intervals unchanged.
    #[must_use]
    pub fn with_pauses(self, share: f64) -> Self {
        Self { pauses: self.scale.times(share), ..self }
    }

    /// Returns a scaled pause: the quiet window, in which a guest may write more, or the typing
    /// delay, which imitates a person.
    pub fn pause(&self, span: Duration) -> Duration {
        self.pauses.of(span)
    }

    fn floored(&self, seconds: u64, floor_millis: u64) -> Duration {
        self.scale.at_least(Duration::from_secs(seconds), Duration::from_millis(floor_millis))
    }

    /// Returns the sweep plan: first sweep of a row after 15 s, longest interval 10 min (D3).
    pub fn sweep(&self) -> SweepPlan {
        SweepPlan { base: self.floored(15, 1_500), longest: self.floored(600, 10_000) }
    }

    /// Returns the duration of a turn's lease, which is renewed after a third of it.
    pub fn lease(&self) -> Duration {
        self.floored(15, 2_000)
    }

    /// Returns the delay before the redelivery of a signal that found the lease held.
    pub fn lease_wait(&self) -> Duration {
        self.floored(1, 100)
    }

    /// Returns the time after which a provider's answer is overdue: the request's own deadline of
    /// 10 s.
    pub fn send_deadline(&self) -> Duration {
        self.floored(10, 1_000)
    }

    /// Returns how long after that a webhook may still resolve a send in doubt.
    pub fn doubt_grace(&self) -> Duration {
        self.floored(30, 1_500)
    }

    /// Returns the pause before a retry within the same call, after a refused connection or a 429
    /// (PROD-13, C-18).
    pub fn in_call_pause(&self) -> Duration {
        self.floored(1, 20) / 2
    }

    /// Returns the delay before a retry after a transient failure: 5, 25, 125 s (SMS-44); `None`
    /// after the third.
    pub fn redelivery(&self, tries: u32) -> Option<Duration> {
        (tries < 3).then(|| self.floored(5u64.pow(tries + 1), 50))
    }

    /// Returns a scaled wait from a table of error codes; `seconds` is unscaled.
    pub fn after(&self, seconds: u32) -> Duration {
        self.floored(u64::from(seconds), 50)
    }

    /// Returns the settings of a provider's breaker: five failures within a minute open it for five
    /// minutes, one successful probe closes it (SMS-40).
    pub fn provider_breaker(&self) -> BreakerSettings {
        BreakerSettings {
            failures: 5,
            window: self.floored(60, 1_000),
            cooldown: self.floored(300, 1_000),
            successes: 1,
        }
    }

    /// Returns the time after which a text that waits for a provider checks again, unless it is
    /// woken before.
    pub fn provider_poll(&self) -> Duration {
        self.floored(60, 300)
    }

    /// `provider_probe` returns how often a stopped provider is probed; `provider_watch`, how often
    /// due probes are looked for.
    pub fn provider_probe(&self) -> Duration {
        self.floored(60, 500)
    }

    pub fn provider_watch(&self) -> Duration {
        self.floored(2, 200)
    }

    /// Returns for how long a casino is parked until its limit resets.
    pub fn provider_park(&self, span: Duration) -> Duration {
        self.scale.at_least(span, Duration::from_secs(3))
    }

    /// Returns the age at which a dead row without a dead letter counts as having lost its
    /// announcement.
    pub fn unannounced(&self) -> Duration {
        self.floored(60, 3_000)
    }

    /// Returns how far back each check looks for texts that were sent after a STOP. It spans
    /// several checks, so that a failed check misses none.
    pub fn after_stop_watch(&self) -> Duration {
        Duration::from_secs(300)
    }

    /// Returns the time between two requests for a provider's records.
    pub fn records_pace(&self) -> Duration {
        self.floored(1, 20) / 2
    }

    /// Returns the age up to which a record's webhook may still arrive: the provider's retries take
    /// less than a minute.
    pub fn records_margin(&self) -> Duration {
        self.floored(120, 3_000)
    }

    /// Returns how often each casino is compared with a provider's records.
    pub fn reconcile_every(&self) -> Duration {
        self.floored(300, 60_000)
    }

    /// `delivery_check` returns how often delivery figures are checked (SMS-54); `block_check`, how
    /// often blocks by a carrier are (SMS-52).
    pub fn delivery_check(&self) -> Duration {
        self.floored(300, 1_000)
    }

    pub fn block_check(&self) -> Duration {
        self.floored(60, 500)
    }

    /// Returns the window of texts that decides whether a carrier blocks us.
    pub fn block_window(&self) -> Duration {
        self.floored(900, 60_000)
    }

    /// Returns the age up to which a text may not have its receipt yet (C-48).
    pub fn receipt_margin(&self) -> Duration {
        self.floored(120, 1_000)
    }

    /// Returns the time after which an alert on a figure ends if there is too little data to judge
    /// it.
    pub fn figure_quiet(&self) -> Duration {
        self.floored(3_600, 10_000)
    }

    /// Returns the time without recurrence after which an alert is resolved.
    pub fn alert_quiet(&self) -> Duration {
        self.floored(900, 5_000)
    }

    /// Returns the timeout of one request to a notification channel (SEC-102).
    pub fn notice_deadline(&self) -> Duration {
        self.floored(10, 1_000)
    }

    /// Returns how often a worker checks whether its stores answer, for its readiness.
    pub fn health_check(&self) -> Duration {
        self.floored(2, 200)
    }

    /// Returns the age at which the mirror of a casino's switches is compared with Postgres again.
    pub fn mirror_check(&self) -> Duration {
        self.floored(30, 1_000)
    }

    /// Returns how often the scheduler reads the state of the fleet for metrics.
    pub fn gauges(&self) -> Duration {
        self.floored(15, 1_000)
    }

    pub fn ack_wait(&self) -> Duration {
        self.floored(10, 2_000)
    }

    /// Scales the packs' usefulness limits and other long durations.
    pub fn scaled(&self, span: Duration) -> Duration {
        self.scale.of(span)
    }
}

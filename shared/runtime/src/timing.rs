//! The fleet's intervals, all scaled by `--time-scale` (D13). At scale 0, pauses that only serve
//! people become zero; leases, deadlines and sweeps keep a minimum.

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
        Self {
            scale,
            pauses: scale,
        }
    }

    /// Scales the quiet window and the typing delay by this factor, in addition to the fleet's
    /// scale.
    #[must_use]
    pub fn with_pauses(self, share: f64) -> Self {
        Self {
            pauses: self.scale.times(share),
            ..self
        }
    }

    /// Returns a scaled pause. A pause is the quiet window, in which a guest may write more, or the
    /// typing delay, which imitates a person.
    pub fn pause(&self, span: Duration) -> Duration {
        self.pauses.of(span)
    }

    fn floored(&self, seconds: u64, floor_millis: u64) -> Duration {
        self.scale.at_least(
            Duration::from_secs(seconds),
            Duration::from_millis(floor_millis),
        )
    }

    /// Returns the sweep plan. A row is first swept after 15 s, then at growing intervals of at
    /// most 10 min (D3).
    pub fn sweep(&self) -> SweepPlan {
        SweepPlan {
            base: self.floored(15, 1_500),
            longest: self.floored(600, 10_000),
        }
    }

    /// Returns the duration of a turn's lease. The lease is renewed whenever a third of it has
    /// passed.
    pub fn lease(&self) -> Duration {
        self.floored(15, 2_000)
    }

    /// If another turn has leased a signal's conversation, the signal is redelivered after this
    /// delay.
    pub fn lease_wait(&self) -> Duration {
        self.floored(1, 100)
    }

    /// Returns the timeout of a request to a provider.
    pub fn send_deadline(&self) -> Duration {
        self.floored(10, 1_000)
    }

    /// Returns how long after the send deadline we wait for a webhook that tells whether a doubtful
    /// send succeeded.
    pub fn doubt_grace(&self) -> Duration {
        self.floored(30, 1_500)
    }

    /// Returns the pause before a retry within the same call, after a refused connection or a 429.
    pub fn in_call_pause(&self) -> Duration {
        self.floored(1, 20) / 2
    }

    /// Returns the delay after a transient failure: 5, 25, 125 s. `tries` is the number of earlier
    /// failures: 0 after the first failure. `None` means that the caller must give up.
    pub fn redelivery(&self, tries: u32) -> Option<Duration> {
        (tries < 3).then(|| self.floored(5u64.pow(tries + 1), 50))
    }

    /// Returns the scaled wait for `seconds`, a value from a provider's table of error codes.
    pub fn after(&self, seconds: u32) -> Duration {
        self.floored(u64::from(seconds), 50)
    }

    /// Returns the settings of a provider's breaker. Five failures within a minute open the breaker
    /// for five minutes; one successful probe closes it.
    pub fn provider_breaker(&self) -> BreakerSettings {
        BreakerSettings {
            failures: 5,
            window: self.floored(60, 1_000),
            cooldown: self.floored(300, 1_000),
            successes: 1,
        }
    }

    /// Returns the maximum wait before the providers are checked again for a text that none of them
    /// can send. The wait may end earlier.
    pub fn provider_poll(&self) -> Duration {
        self.floored(60, 300)
    }

    /// Like [`Self::provider_poll`], for an answer to a cry for help.
    pub fn urgent_poll(&self) -> Duration {
        self.floored(10, 300)
    }

    /// Returns the maximum extra wait of a text that no provider can send. Each text adds a share
    /// of this wait, derived from its id, so that not all texts check the providers at once. Texts
    /// of the gravest classes add nothing.
    pub fn provider_spread(&self) -> Duration {
        self.floored(10, 5_000)
    }

    /// Returns how often a provider that refuses all our texts is probed.
    pub fn provider_probe(&self) -> Duration {
        self.floored(60, 500)
    }

    /// Returns how often the sender checks whether a provider has to be probed.
    pub fn provider_watch(&self) -> Duration {
        self.floored(2, 200)
    }

    /// Returns how long a casino's sending stops after its spending limit was reached. `span` is
    /// the time until the limit resets.
    pub fn provider_park(&self, span: Duration) -> Duration {
        self.scale.at_least(span, Duration::from_secs(3))
    }

    /// Returns how long a row may be marked as dead without a dead letter. After that, the
    /// scheduler files a dead letter for the row.
    pub fn unannounced(&self) -> Duration {
        self.floored(60, 3_000)
    }

    /// Returns how far back two checks look when a process starts or after a failed check: the
    /// check for texts sent after a STOP, and the check for rows of another casino. At other times
    /// each looks back to its last run.
    pub fn after_stop_watch(&self) -> Duration {
        Duration::from_secs(300)
    }

    /// Returns the minimum time between two requests for a provider's records.
    pub fn records_pace(&self) -> Duration {
        self.floored(1, 20) / 2
    }

    /// Returns the minimum age of a provider's records before we compare them with our rows.
    /// Webhooks about younger records may still arrive, because the provider retries for almost a
    /// minute.
    pub fn records_margin(&self) -> Duration {
        self.floored(120, 3_000)
    }

    /// Returns how often each casino is compared with a provider's records.
    pub fn reconcile_every(&self) -> Duration {
        self.floored(300, 60_000)
    }

    /// Returns how often delivery figures are checked.
    pub fn delivery_check(&self) -> Duration {
        self.floored(300, 1_000)
    }

    /// Returns how often the scheduler checks whether a carrier blocks us.
    pub fn block_check(&self) -> Duration {
        self.floored(60, 500)
    }

    /// Returns the length of the period whose texts decide whether a carrier blocks us.
    pub fn block_window(&self) -> Duration {
        self.floored(900, 60_000)
    }

    /// Returns the age at which a text should have its delivery receipt.
    pub fn receipt_margin(&self) -> Duration {
        self.floored(120, 1_000)
    }

    /// If there are too few texts to judge a delivery figure, an alert about the figure ends after
    /// this time.
    pub fn figure_quiet(&self) -> Duration {
        self.floored(3_600, 10_000)
    }

    /// Returns the time without recurrence after which an alert is resolved.
    pub fn alert_quiet(&self) -> Duration {
        self.floored(900, 5_000)
    }

    /// Returns how long a casino's guests must have waited before its contacts are notified of an
    /// outage.
    pub fn outage_told_after(&self) -> Duration {
        self.floored(180, 3_000)
    }

    /// Returns how often the scheduler checks for outages.
    pub fn outage_check(&self) -> Duration {
        self.floored(30, 500)
    }

    /// Returns the timeout of one request to a notification channel.
    pub fn notice_deadline(&self) -> Duration {
        self.floored(10, 1_000)
    }

    /// Returns how often a worker checks whether its stores answer, for its readiness.
    pub fn health_check(&self) -> Duration {
        self.floored(2, 200)
    }

    /// Returns how long the scheduler relies on its last check of a casino's consumers and mirrored
    /// switches in NATS.
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

    /// Returns a scaled duration, without a minimum. It is used for the packs' limits on how long a
    /// text is useful, and for other long durations.
    pub fn scaled(&self, span: Duration) -> Duration {
        self.scale.of(span)
    }
}

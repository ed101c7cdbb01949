//! The guard of one hosted model. It knows nothing of the calls' content, so chat and embedding
//! models share it.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use governor::{
    DefaultDirectRateLimiter, Quota, RateLimiter,
    clock::{Clock, DefaultClock},
};
use seven_cache::{Admission, Breaker, BreakerSettings, Cache, Outcome, Permit, Transition};
use tokio::time::Instant;

use super::{Finished, NanoUsd, Observer, Settings};
use crate::{
    Usage,
    chat::{Error, Fault},
};

/// The breaker allows one test call (probe) at a time. It waits for the probe's outcome until the
/// call's deadline plus this margin. Without the margin, a timeout could not be recorded in time.
const LEASE_MARGIN: Duration = Duration::from_secs(2);

/// The result of one call and the tokens billed for it.
type Billed<T> = Result<(T, Usage), Error>;

/// One request in progress; boxed, because the compiler cannot prove an `AsyncFn`'s future to be
/// `Send`.
pub(crate) type Trying<'a, T> = Pin<Box<dyn Future<Output = Billed<T>> + Send + 'a>>;

/// The breaker, retry policy, rate limiter and prices of one provider and model.
pub(crate) struct Guard {
    name: String,
    settings: Settings,
    breaker: Breaker,
    limiter: DefaultDirectRateLimiter,
    clock: DefaultClock,
    observer: Arc<dyn Observer>,
}

/// The totals over all attempts of one call.
#[derive(Default)]
struct Bill {
    attempts: u32,
    usage: Usage,
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard")
            .field("name", &self.name)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl Guard {
    /// `name` is provider and model; the breaker's name is `<kind>/<name>`, such as `llm/<name>`.
    pub(crate) fn new(
        kind: &str,
        name: &str,
        cache: &Cache,
        settings: Settings,
        observer: Arc<dyn Observer>,
    ) -> Self {
        let breaker = cache.breaker(&format!("{kind}/{name}"), BreakerSettings::from(&settings));
        let quota = Quota::per_minute(settings.limit.per_minute).allow_burst(settings.limit.burst);
        let limiter = RateLimiter::direct(quota);
        Self {
            name: name.to_owned(),
            settings,
            breaker,
            limiter,
            clock: DefaultClock::default(),
            observer,
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn breaker(&self) -> &Breaker {
        &self.breaker
    }

    pub(crate) fn cost(&self, usage: Usage) -> NanoUsd {
        self.settings.price.of(usage)
    }

    /// Runs `call`, with retries, and passes the time limit of each request to it. Returns the
    /// result, the tokens of all attempts and their cost.
    pub(crate) async fn run<'a, T>(
        &self,
        deadline: Duration,
        call: impl Fn(Duration) -> Trying<'a, T> + Sync,
    ) -> Result<(T, Usage, NanoUsd), Error> {
        let started = Instant::now();
        let mut bill = Bill::default();
        let outcome = self.admitted(deadline, &call, &mut bill).await;
        let cost = self.cost(bill.usage);
        let finished = Finished {
            model: &self.name,
            attempts: bill.attempts,
            usage: bill.usage,
            cost,
            took: started.elapsed(),
            error: outcome.as_ref().err(),
        };
        finished.log();
        self.observer.finished(&finished);
        outcome.map(|reply| (reply, bill.usage, cost))
    }

    async fn admitted<'a, T>(
        &self,
        deadline: Duration,
        call: &(impl Fn(Duration) -> Trying<'a, T> + Sync),
        bill: &mut Bill,
    ) -> Result<T, Error> {
        let until = Instant::now() + deadline;
        let permit = match self.breaker.admit(deadline + LEASE_MARGIN).await {
            Admission::Go(permit) => permit,
            Admission::Refused { retry_in } => {
                return Err(Error::Open {
                    model: self.name.clone(),
                    retry_in,
                    source: None,
                });
            }
        };
        self.moved(permit.transition());
        // All attempts share one deadline. Only the report to the breaker may exceed it, by at most
        // 150 ms.
        let outcome = match tokio::time::timeout_at(until, self.attempts(call, until, bill)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(Error::Timeout {
                model: self.name.clone(),
                waited: deadline,
            }),
        };
        self.settle(permit, outcome).await
    }

    /// Reports the outcome to the breaker. If this outcome opens the breaker, returns the error
    /// that later calls will get; the original error becomes its source.
    async fn settle<T>(&self, permit: Permit, outcome: Result<T, Error>) -> Result<T, Error> {
        let said = match outcome.as_ref().map_err(Error::fault) {
            Ok(_) => Outcome::Success,
            Err(Fault::Provider | Fault::Answer) => Outcome::Failure,
            Err(Fault::Request | Fault::Guard) => Outcome::Neutral,
        };
        let moved = self.breaker.record(permit, said).await;
        self.moved(moved);
        match (moved, outcome) {
            (Some(Transition::Opened { .. } | Transition::Reopened), Err(error)) => {
                Err(Error::Open {
                    model: self.name.clone(),
                    retry_in: Duration::from_millis(self.settings.breaker_cooldown_ms),
                    source: Some(Box::new(error)),
                })
            }
            (_, outcome) => outcome,
        }
    }

    async fn attempts<'a, T>(
        &self,
        call: &(impl Fn(Duration) -> Trying<'a, T> + Sync),
        until: Instant,
        bill: &mut Bill,
    ) -> Result<T, Error> {
        let policy = &self.settings.retry;
        loop {
            self.place(until).await?;
            let retry = bill.attempts;
            bill.attempts += 1;
            let error = match call(self.each(until)).await {
                Ok((reply, usage)) => {
                    bill.usage += usage;
                    return Ok(reply);
                }
                Err(error) => error,
            };
            bill.usage += error.usage();
            if !error.repeats_in_call() {
                return Err(error);
            }
            let delay = policy.delay(retry, &error, rand::random_range(-1.0..=1.0));
            if retry >= policy.retries || Instant::now() + delay >= until {
                tracing::error!(
                    model = &self.name,
                    attempts = bill.attempts,
                    kind = error.kind(),
                    "gave up on the model"
                );
                return Err(error);
            }
            let delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
            tracing::warn!(
                model = &self.name,
                retry = retry + 1,
                delay_ms,
                kind = error.kind(),
                "asking the model again"
            );
            self.observer.retried(&self.name, &error);
            tokio::time::sleep(delay).await;
        }
    }

    /// Returns the time limit for the next request: the time until the deadline, but at most
    /// `call_timeout_ms`.
    fn each(&self, until: Instant) -> Duration {
        let left = until.saturating_duration_since(Instant::now());
        left.min(Duration::from_millis(self.settings.call_timeout_ms))
    }

    /// Waits for the rate limiter, or fails if the wait would pass the deadline.
    async fn place(&self, until: Instant) -> Result<(), Error> {
        while let Err(not_until) = self.limiter.check() {
            let wait = not_until.wait_time_from(self.clock.now());
            if Instant::now() + wait >= until {
                return Err(Error::Throttled {
                    model: self.name.clone(),
                    wait,
                });
            }
            // If the limiter's clock and tokio's differ slightly, a wait of zero would make this
            // loop spin.
            tokio::time::sleep(wait.max(Duration::from_millis(1))).await;
        }
        Ok(())
    }

    fn moved(&self, moved: Option<Transition>) {
        if let Some(moved) = moved {
            self.observer.breaker(self.breaker.name(), moved);
        }
    }
}

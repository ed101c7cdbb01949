//! What stands between a turn and a hosted model: one deadline over everything, the fleet's breaker, retries inside it, our own
//! rate limit, and the bill.
//!
//! The order is breaker( retries( limiter( call ))): an exhausted retry sequence is one failure (PROD-12), an open breaker costs
//! nothing, and every request that goes out has taken its place in the limiter.

mod observer;
mod prices;
mod retry;
mod settings;
#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use governor::{
    DefaultDirectRateLimiter, Quota, RateLimiter,
    clock::{Clock, DefaultClock},
};
use seven_cache::{Admission, Breaker, BreakerSettings, Cache, Outcome, Permit, Transition};
use tokio::time::Instant;

pub use self::{
    observer::{Finished, Observer},
    prices::{NanoUsd, Price, UsdPerMillion},
    retry::RetryPolicy,
    settings::{Limit, Settings},
};
use crate::chat::{ChatModel, ChatReply, ChatRequest, Chatting, Error, Fault};

/// A probe's lease outlives its call by this, so that the outcome still finds it.
const LEASE_MARGIN: Duration = Duration::from_secs(2);

/// A model with all of that around it.
pub struct Guarded {
    model: Arc<dyn ChatModel>,
    settings: Settings,
    breaker: Breaker,
    limiter: DefaultDirectRateLimiter,
    clock: DefaultClock,
    observer: Arc<dyn Observer>,
}

/// The sum over the attempts of one call.
#[derive(Default)]
struct Bill {
    attempts: u32,
    usage: crate::Usage,
}

impl std::fmt::Debug for Guarded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guarded")
            .field("model", &self.model.name())
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl Guarded {
    /// `observer` hears of every call, retry and change of the breaker; `()` hears nothing.
    pub fn new(model: Arc<dyn ChatModel>, cache: &Cache, settings: Settings, observer: Arc<dyn Observer>) -> Self {
        let breaker = cache.breaker(&format!("llm/{}", model.name()), BreakerSettings::from(&settings));
        let quota = Quota::per_minute(settings.limit.per_minute).allow_burst(settings.limit.burst);
        let limiter = RateLimiter::direct(quota);
        Self { model, settings, breaker, limiter, clock: DefaultClock::default(), observer }
    }

    /// The breaker of this (provider, model), for people who look.
    pub fn breaker(&self) -> &Breaker {
        &self.breaker
    }

    async fn guard(&self, request: &ChatRequest) -> Result<ChatReply, Error> {
        let started = Instant::now();
        let mut bill = Bill::default();
        let outcome = self.admitted(request, started + request.deadline, &mut bill).await;
        let cost = self.settings.price.of(bill.usage);
        let finished = Finished {
            model: self.model.name(),
            attempts: bill.attempts,
            usage: bill.usage,
            cost,
            took: started.elapsed(),
            error: outcome.as_ref().err(),
        };
        finished.log();
        self.observer.finished(&finished);
        outcome.map(|reply| ChatReply { usage: bill.usage, cost, ..reply })
    }

    async fn admitted(&self, request: &ChatRequest, until: Instant, bill: &mut Bill) -> Result<ChatReply, Error> {
        let permit = match self.breaker.admit(request.deadline + LEASE_MARGIN).await {
            Admission::Go(permit) => permit,
            Admission::Refused { retry_in } => {
                return Err(Error::Open { model: self.model.name().to_owned(), retry_in, source: None });
            }
        };
        self.moved(permit.transition());
        // The attempts share one deadline; it strikes wherever they are. Only telling the breaker comes after it: 150 ms at most.
        let outcome = match tokio::time::timeout_at(until, self.attempts(request, until, bill)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(Error::Timeout { model: self.model.name().to_owned(), waited: request.deadline }),
        };
        self.settle(permit, outcome).await
    }

    /// Tells the breaker. The call that opens it is answered as the ones after it will be (PROD-10).
    async fn settle(&self, permit: Permit, outcome: Result<ChatReply, Error>) -> Result<ChatReply, Error> {
        let said = match outcome.as_ref().map_err(Error::fault) {
            Ok(_) => Outcome::Success,
            Err(Fault::Provider | Fault::Answer) => Outcome::Failure,
            Err(Fault::Request | Fault::Guard) => Outcome::Neutral,
        };
        let moved = self.breaker.record(permit, said).await;
        self.moved(moved);
        match (moved, outcome) {
            (Some(Transition::Opened { .. } | Transition::Reopened), Err(error)) => Err(Error::Open {
                model: self.model.name().to_owned(),
                retry_in: Duration::from_millis(self.settings.breaker_cooldown_ms),
                source: Some(Box::new(error)),
            }),
            (_, outcome) => outcome,
        }
    }

    async fn attempts(&self, request: &ChatRequest, until: Instant, bill: &mut Bill) -> Result<ChatReply, Error> {
        let policy = &self.settings.retry;
        loop {
            self.place(until).await?;
            let retry = bill.attempts;
            bill.attempts += 1;
            let error = match self.attempt(request, until).await {
                Ok(reply) => {
                    bill.add(reply.usage);
                    return Ok(reply);
                }
                Err(error) => error,
            };
            bill.add(error.usage());
            if !error.repeats_in_call() {
                return Err(error);
            }
            let delay = policy.delay(retry, &error, rand::random_range(-1.0..=1.0));
            if retry >= policy.retries || Instant::now() + delay >= until {
                tracing::error!(
                    model = self.model.name(),
                    attempts = bill.attempts,
                    kind = error.kind(),
                    "gave up on the model"
                );
                return Err(error);
            }
            let delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
            tracing::warn!(
                model = self.model.name(),
                retry = retry + 1,
                delay_ms,
                kind = error.kind(),
                "asking the model again"
            );
            self.observer.retried(self.model.name(), &error);
            tokio::time::sleep(delay).await;
        }
    }

    /// One call, no longer than one call may take (PROD-15).
    async fn attempt(&self, request: &ChatRequest, until: Instant) -> Result<ChatReply, Error> {
        let left = until.saturating_duration_since(Instant::now());
        let deadline = left.min(Duration::from_millis(self.settings.call_timeout_ms));
        let request = ChatRequest { deadline, ..request.clone() };
        self.model.chat(&request).await
    }

    /// Waits for a place in our own limiter, unless it would come too late.
    async fn place(&self, until: Instant) -> Result<(), Error> {
        while let Err(not_until) = self.limiter.check() {
            let wait = not_until.wait_time_from(self.clock.now());
            if Instant::now() + wait >= until {
                return Err(Error::Throttled { model: self.model.name().to_owned(), wait });
            }
            // Zero would spin when the limiter's clock and ours disagree by a hair.
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

impl ChatModel for Guarded {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> Chatting<'a> {
        Box::pin(self.guard(request))
    }
}

impl Bill {
    fn add(&mut self, usage: crate::Usage) {
        self.usage.input_tokens = self.usage.input_tokens.saturating_add(usage.input_tokens);
        self.usage.output_tokens = self.usage.output_tokens.saturating_add(usage.output_tokens);
    }
}

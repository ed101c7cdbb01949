//! The providers a text may take, in order, and the breaker that stands before each (SMS-39, SMS-40).

use std::{fmt, sync::Arc, time::Duration};

use seven_cache::{Admission, Breaker, Outcome, Permit, Transition};
use seven_domain::{AuditEvent, CasinoId, Lane, PhoneE164, TWILIO, config::Operational};
use seven_providers::{ErrorClass, Provider, SendOutcome};
use seven_runtime::Fleet;
use seven_store::audit::Entry;
use seven_telemetry::{Alert, metrics};

use crate::{Sender, handler::Job};

/// One provider with its breaker, which all senders share through Redis.
pub(crate) struct Carrier {
    pub(crate) provider: Arc<dyn Provider>,
    breaker: Breaker,
}

/// A provider that may be called for this text now.
pub(crate) struct Route<'a> {
    pub(crate) carrier: &'a Carrier,
    /// Held until the call has ended.
    pub(crate) permit: Permit,
    /// Another provider came first and cannot be called.
    pub(crate) failover: bool,
}

/// No provider may be called for this text now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoRoute {
    pub(crate) why: &'static str,
    /// Asking again earlier is of no use.
    pub(crate) retry_in: Duration,
}

// === impl Carrier ===

impl fmt::Debug for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Carrier").field("provider", &self.name()).finish_non_exhaustive()
    }
}

impl Carrier {
    pub(crate) fn new(fleet: &Fleet, provider: Arc<dyn Provider>) -> Self {
        let breaker = fleet.cache.breaker(&breaker_name(provider.name()), fleet.timing.provider_breaker());
        Self { provider, breaker }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.provider.name()
    }

    /// Hands the permit back; what moved is told, and texts that waited go on when the provider is back.
    pub(crate) async fn ended(&self, fleet: &Fleet, permit: Permit, outcome: Outcome) -> Option<Transition> {
        let moved = self.breaker.record(permit, outcome).await;
        if let Some(moved) = moved {
            self.tell(fleet, moved).await;
        }
        moved
    }

    async fn tell(&self, fleet: &Fleet, moved: Transition) {
        metrics().breakers.with_label_values(&[self.breaker.name(), moved.as_str()]).inc();
        match moved {
            Transition::Opened { .. } => {
                let text = "the provider failed too often and is not called for a while; texts take the casino's other provider or wait";
                Alert { name: "provider_breaker_open", casino: "", provider: self.name(), code: "", text }.raise();
                note(fleet, AuditEvent::CircuitBreakerOpened, self.name()).await;
            }
            Transition::Closed => {
                if let Err(error) = fleet.store.wake_held(None).await {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "waiting texts look again at their own time"
                    );
                }
            }
            Transition::Reopened | Transition::HalfOpened => {}
        }
    }
}

/// The shared breaker of a provider.
pub fn breaker_name(provider: &str) -> String {
    format!("provider/{provider}")
}

/// An audit entry of the whole fleet, filed under no casino; a failure is said and changes nothing.
async fn note(fleet: &Fleet, event: AuditEvent, provider: &str) {
    let written = async {
        let mut tx = fleet.store.bind(&CasinoId::unknown()).await?;
        tx.audit(&Entry::of(event, "outbound-sender", provider, serde_json::json!({ "provider": provider }))).await?;
        tx.commit().await
    };
    if let Err(error) = written.await {
        tracing::warn!(error = &error as &dyn std::error::Error, "an audit entry could not be written");
    }
}

/// What a call says about its provider: only what it did not take for its own reasons counts against it (SMS-40).
pub(crate) fn speaks(outcome: &SendOutcome) -> Outcome {
    match outcome {
        SendOutcome::NotSent { .. }
        | SendOutcome::Ambiguous { .. }
        | SendOutcome::Refused { class: ErrorClass::Throttled, .. } => Outcome::Failure,
        // Keys and funds are a matter of their own (`stops`).
        SendOutcome::Refused { class: ErrorClass::Account | ErrorClass::SpendLimit, .. } => Outcome::Neutral,
        SendOutcome::Accepted { .. } | SendOutcome::Refused { .. } => Outcome::Success,
    }
}

impl Sender {
    /// The first provider of the text's order that is neither stopped nor resting.
    pub(crate) async fn route(&self, job: &Job) -> Result<Route<'_>, NoRoute> {
        let lease = self.fleet.timing.send_deadline() + Duration::from_secs(1);
        let mut none = NoRoute { why: "no_provider", retry_in: self.fleet.timing.provider_poll() };
        for (place, carrier) in self.order(job).into_iter().enumerate() {
            if job.stopped(carrier.name()) {
                none.why = "provider_stopped";
                continue;
            }
            if job.parked(carrier.name()) {
                none.why = "sending_parked";
                if job.class.is_safety() {
                    continue;
                }
                return Err(none);
            }
            match carrier.breaker.admit(lease).await {
                Admission::Go(permit) => return Ok(Route { carrier, permit, failover: place > 0 }),
                Admission::Refused { retry_in } => {
                    let retry_in = retry_in.clamp(Duration::from_millis(50), self.fleet.timing.provider_poll());
                    none = NoRoute { why: "providers_down", retry_in: retry_in.min(none.retry_in) };
                }
            }
        }
        Err(none)
    }

    pub(crate) fn order(&self, job: &Job) -> Vec<&Carrier> {
        let fleet: Vec<&str> = self.carriers.iter().map(Carrier::name).collect();
        let order = order(&job.config.operational, &job.number, job.class.lane(), &fleet);
        order.into_iter().filter_map(|name| self.carriers.iter().find(|c| c.name() == name)).collect()
    }
}

/// The providers a text may take: those where the casino has a number, in the casino's order or the fleet's. Where the casino names none,
/// the provider of the number the guest writes to comes first. Proactive texts take a second provider only with a campaign of its own.
fn order<'a>(ours: &Operational, number: &PhoneE164, lane: Lane, fleet: &[&'a str]) -> Vec<&'a str> {
    let has = |name: &str| {
        ours.number_at(name).is_some() && (lane != Lane::Bulk || name != TWILIO || ours.registered_at(name))
    };
    let mut order: Vec<&str> = fleet.iter().copied().filter(|name| has(name)).collect();
    if ours.providers.is_empty() {
        order.sort_by_key(|name| ours.number_at(name) != Some(number));
    } else {
        let place = |name: &str| ours.providers.iter().position(|named| named == name);
        order.retain(|name| place(name).is_some());
        order.sort_by_key(|name| place(name));
    }
    order
}

/// The number a text comes from at this provider: the casino's present one there, also for a guest who wrote to a number that it gave up.
pub(crate) fn from_number(ours: &Operational, writes_to: &PhoneE164, provider: &str) -> PhoneE164 {
    ours.number_at(provider).unwrap_or(writes_to).clone()
}

#[cfg(test)]
#[path = "carriers_tests.rs"]
pub(crate) mod tests;

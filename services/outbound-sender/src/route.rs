//! Stage: the provider that takes this text (SMS-39): the first of its order that is neither stopped nor resting.

use std::time::Duration;

use seven_cache::{Admission, Outcome, Permit};
use seven_domain::{Lane, PhoneE164, TWILIO, config::Operational};
use seven_providers::{ErrorClass, SendOutcome};

use crate::{
    carrier::Carrier,
    types::{Job, Sender},
};

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

/// Rates a provider by a call: only a text that it did not take for reasons of its own counts
/// against it (SMS-40).
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

/// The first provider of the text's order that is neither stopped nor resting.
pub(crate) async fn route<'a>(sender: &'a Sender, job: &Job) -> Result<Route<'a>, NoRoute> {
    let lease = sender.fleet.timing.send_deadline() + Duration::from_secs(1);
    let mut none = NoRoute { why: "no_provider", retry_in: sender.fleet.timing.provider_poll() };
    for (place, carrier) in carriers_for(sender, job).into_iter().enumerate() {
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
                let retry_in = retry_in.clamp(Duration::from_millis(50), sender.fleet.timing.provider_poll());
                none = NoRoute { why: "providers_down", retry_in: retry_in.min(none.retry_in) };
            }
        }
    }
    Err(none)
}

/// The providers a text may take, in order.
pub(crate) fn carriers_for<'a>(sender: &'a Sender, job: &Job) -> Vec<&'a Carrier> {
    let fleet: Vec<&str> = sender.carriers.iter().map(Carrier::name).collect();
    let order = order(&job.config.operational, &job.number, job.class.lane(), &fleet);
    order.into_iter().filter_map(|name| sender.carriers.iter().find(|c| c.name() == name)).collect()
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
#[path = "route_tests.rs"]
pub(crate) mod tests;

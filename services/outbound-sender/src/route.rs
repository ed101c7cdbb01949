//! Stage: selects the provider for this text. It is the first in the text's order that is not
//! stopped and whose breaker admits a call.

use std::time::Duration;

use seven_cache::{Admission, Outcome, Permit};
use seven_domain::{Lane, PhoneE164, TWILIO, config::Operational};
use seven_providers::{ErrorClass, SendOutcome};
use seven_store::providers::HoldReason;

use crate::{
    carrier::Carrier,
    line,
    types::{Job, Sender},
};

/// A provider that may be called for this text now.
pub(crate) struct Route<'a> {
    pub(crate) carrier: &'a Carrier,
    /// The breaker's permit, held until the call has ended.
    pub(crate) permit: Permit,
    /// Whether an earlier provider in the order could not be called.
    pub(crate) failover: bool,
}

/// No provider may be called for this text now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoRoute {
    pub(crate) why: HoldReason,
    /// Minimum time to wait before asking again.
    pub(crate) retry_in: Duration,
}

/// Converts the outcome of a call into an outcome for the provider's breaker. A failed text counts
/// against the provider only if the provider itself was the cause.
pub(crate) fn speaks(outcome: &SendOutcome) -> Outcome {
    match outcome {
        SendOutcome::NotSent { .. }
        | SendOutcome::Ambiguous { .. }
        | SendOutcome::Refused {
            class: ErrorClass::Throttled,
            ..
        } => Outcome::Failure,
        // Rejected keys and spent funds are handled in `stops`.
        SendOutcome::Refused {
            class: ErrorClass::Account | ErrorClass::SpendLimit,
            ..
        } => Outcome::Neutral,
        SendOutcome::Accepted { .. } | SendOutcome::Refused { .. } => Outcome::Success,
    }
}

/// Returns the first provider in the text's order that is not stopped and whose breaker admits a
/// call.
pub(crate) async fn route<'a>(sender: &'a Sender, job: &Job) -> Result<Route<'a>, NoRoute> {
    let lease = sender.fleet.timing.send_deadline() + Duration::from_secs(1);
    let mut none = NoRoute {
        why: HoldReason::NoProvider,
        retry_in: sender.fleet.timing.provider_poll(),
    };
    for (place, carrier) in carriers_for(sender, job).into_iter().enumerate() {
        if job.stopped(carrier.name()) {
            none.why = HoldReason::ProviderStopped;
            continue;
        }
        if job.parked(carrier.name()) {
            none.why = HoldReason::Parked;
            if job.class.is_safety() {
                continue;
            }
            return Err(none);
        }
        match carrier.breaker.admit(lease).await {
            Admission::Go(permit) => {
                return Ok(Route {
                    carrier,
                    permit,
                    failover: place > 0,
                });
            }
            Admission::Refused { retry_in } => {
                let retry_in = retry_in.clamp(
                    Duration::from_millis(50),
                    sender.fleet.timing.provider_poll(),
                );
                let most = sender.fleet.timing.provider_spread();
                let retry_in = retry_in + line::put_off(job.class, job.outbound_id, most);
                none = NoRoute {
                    why: HoldReason::ProvidersDown,
                    retry_in: match none.why {
                        HoldReason::ProvidersDown => retry_in.min(none.retry_in),
                        _ => retry_in,
                    },
                };
            }
        }
    }
    Err(none)
}

/// Returns the providers that may send this text, in order.
pub(crate) fn carriers_for<'a>(sender: &'a Sender, job: &Job) -> Vec<&'a Carrier> {
    let fleet: Vec<&str> = sender.carriers.iter().map(Carrier::name).collect();
    let order = order(
        &job.config.operational,
        job.number.as_ref(),
        job.class.lane(),
        &fleet,
    );
    order
        .into_iter()
        .filter_map(|name| sender.carriers.iter().find(|c| c.name() == name))
        .collect()
}

/// Returns the providers where the casino has a number, in the casino's order. Without such an
/// order, the provider of the number to which the guest writes comes first. Proactive texts use
/// Twilio only if the casino has a campaign there.
fn order<'a>(
    ours: &Operational,
    number: Option<&PhoneE164>,
    lane: Lane,
    fleet: &[&'a str],
) -> Vec<&'a str> {
    let has = |name: &str| {
        ours.number_at(name).is_some()
            && (lane != Lane::Bulk || name != TWILIO || ours.registered_at(name))
    };
    let mut order: Vec<&str> = fleet.iter().copied().filter(|name| has(name)).collect();
    if ours.providers.is_empty() {
        order.sort_by_key(|name| ours.number_at(name) != number);
    } else {
        let place = |name: &str| ours.providers.iter().position(|named| named == name);
        order.retain(|name| place(name).is_some());
        order.sort_by_key(|name| place(name));
    }
    order
}

/// Returns the number from which a text is sent at this provider: the casino's current number
/// there. It is used even if the guest wrote to a number that the casino has given up.
pub(crate) fn from_number(ours: &Operational, writes_to: &PhoneE164, provider: &str) -> PhoneE164 {
    ours.number_at(provider).unwrap_or(writes_to).clone()
}

#[cfg(test)]
#[path = "route_tests.rs"]
pub(crate) mod tests;

//! Handles a refusal by the pre-send check: ends the text with its reason, or tries it later.

use std::time::Duration;

use seven_bus::Outcome;
use seven_domain::{MessageClass, OutboundState, Queue};
use seven_runtime::{Error, Timing};
use seven_store::{
    presend_check::Refusal,
    providers::{Held, HoldReason},
};
use seven_telemetry::Alert;

use crate::{
    late,
    route::NoRoute,
    types::{Job, Sender},
};

enum Then {
    Done,
    End(OutboundState),
    /// The text ends because it is too old to be useful.
    Lapse,
    /// The text waits for a provider or an operator.
    Hold(HoldReason),
    Wait(Duration),
}

pub(crate) async fn refused(
    sender: &Sender,
    job: &Job,
    refusal: Refusal,
) -> Result<Outcome, Error> {
    let why = refusal.as_str();
    match then(refusal) {
        Then::Lapse => {
            let mut tx = sender.fleet.store.bind(&job.casino).await?;
            let why = tx.lapse(job.outbound_id).await?;
            late::note_lost_help(sender, &mut tx, job).await?;
            tx.commit().await?;
            tracing::info!(
                casino = %job.casino,
                outbound_id = %job.outbound_id,
                class = %job.class,
                why,
                "text is too old to be useful"
            );
            Ok(Outcome::Done)
        }
        Then::Hold(why) => {
            hold(
                sender,
                job,
                NoRoute {
                    why,
                    retry_in: sender.fleet.timing.provider_poll(),
                },
            )
            .await
        }
        Then::Done => Ok(Outcome::Done),
        Then::Wait(after) => Ok(Outcome::Wait {
            after: sender
                .fleet
                .timing
                .scaled(after)
                .max(Duration::from_millis(20)),
            why,
        }),
        Then::End(state) => {
            let mut tx = sender.fleet.store.bind(&job.casino).await?;
            tx.end_queued(job.outbound_id, state, why).await?;
            tx.cancel_later_parts(job.outbound_id, why).await?;
            late::note_lost_help(sender, &mut tx, job).await?;
            tx.commit().await?;
            tracing::info!(
                casino = %job.casino,
                outbound_id = %job.outbound_id,
                class = %job.class,
                why,
                "text will not be sent"
            );
            Ok(Outcome::Done)
        }
    }
}

/// Keeps the text in the queue with the reason, because no provider can take it now. The text waits
/// until it is woken or is no longer useful (SMS-41).
pub(crate) async fn hold(sender: &Sender, job: &Job, none: NoRoute) -> Result<Outcome, Error> {
    let why = none.why;
    let retry_in = ask_again_in(none, job.class, &sender.fleet.timing);
    let mut tx = sender.fleet.store.bind(&job.casino).await?;
    let held = tx.hold(job.outbound_id, why, retry_in).await?;
    if held == Held::Lapsed {
        late::note_lost_help(sender, &mut tx, job).await?;
    }
    tx.commit().await?;
    if matches!(why, HoldReason::ProvidersDown | HoldReason::NoProvider) {
        let text = "no provider of this casino can be called: its texts wait, and those that become stale meanwhile are dropped";
        Alert {
            name: why.as_str(),
            casino: job.casino.as_str(),
            provider: "",
            code: "",
            text,
        }
        .raise();
    }
    tracing::info!(
        casino = %job.casino,
        outbound_id = %job.outbound_id,
        class = %job.class,
        %why,
        ?held,
        "text waits"
    );
    Ok(Outcome::Done)
}

/// Returns how long a text waits before it asks for a provider again. While all providers are down,
/// the answer to a cry for help waits ten seconds at most. Without Redis each process has its own
/// breaker, so another process may find a provider sooner.
fn ask_again_in(none: NoRoute, class: MessageClass, timing: &Timing) -> Duration {
    match (none.why, class.queue()) {
        (HoldReason::ProvidersDown, Queue::Urgent) => none.retry_in.min(timing.urgent_poll()),
        _ => none.retry_in,
    }
}

fn then(refusal: Refusal) -> Then {
    match refusal {
        Refusal::NotQueued => Then::Done,
        Refusal::Expired => Then::Lapse,
        // In the following cases, the text keeps its place until the obstacle is gone.
        Refusal::ProviderStopped => Then::Hold(HoldReason::ProviderStopped),
        Refusal::Parked => Then::Hold(HoldReason::Parked),
        Refusal::Paused => Then::Hold(HoldReason::Paused),
        Refusal::Killed => Then::Hold(HoldReason::Killed),
        Refusal::OptOutAsked => Then::Hold(HoldReason::OptOutAsked),
        Refusal::AwaitsReview => Then::Hold(HoldReason::AwaitsReview),
        Refusal::Suppressed
        | Refusal::SafetyStateMissing
        | Refusal::ProviderBlocked
        | Refusal::ConsentTier
        | Refusal::SelfExcluded
        | Refusal::SelfExclusionUnchecked
        | Refusal::CampaignCancelled
        | Refusal::ContentRisk
        | Refusal::NotRegistered
        | Refusal::Cooldown
        | Refusal::Cap
        | Refusal::NumberReassigned
        | Refusal::NumberUnchecked => Then::End(OutboundState::Suppressed),
        // If the cache refuses, Redis has a STOP that Postgres will have in a moment.
        Refusal::RefusedByCache | Refusal::NotYet => Then::Wait(Duration::from_millis(500)),
        Refusal::EarlierUnsent => Then::Wait(Duration::from_millis(300)),
        // The next try reads the casino's settings again, and with them its current number.
        Refusal::SenderRetired => Then::Wait(Duration::from_millis(500)),
        Refusal::CasinoInactive => Then::Wait(Duration::from_secs(2)),
        // Not reached in practice, because the caller defers the text to its sending window.
        Refusal::QuietHours => Then::Wait(Duration::from_secs(30)),
    }
}

#[cfg(test)]
mod tests {
    use seven_domain::TimeScale;

    use super::*;

    #[test] // SMS-41
    fn the_answer_to_a_cry_asks_for_a_provider_within_ten_seconds() {
        let timing = Timing::new(TimeScale::default());
        let waits = |why, seconds, class| {
            let retry_in = Duration::from_secs(seconds);
            ask_again_in(NoRoute { why, retry_in }, class, &timing).as_secs()
        };
        for (class, after) in [
            (MessageClass::Crisis, 10),
            (MessageClass::Emergency, 10),
            (MessageClass::Help, 60),
            (MessageClass::Reply, 60),
        ] {
            assert_eq!(
                waits(HoldReason::ProvidersDown, 60, class),
                after,
                "{class}"
            );
            assert_eq!(waits(HoldReason::ProvidersDown, 2, class), 2, "{class}");
            assert_eq!(waits(HoldReason::ProviderStopped, 60, class), 60, "{class}");
        }
    }
}

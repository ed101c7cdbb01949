//! Handles a refusal by the pre-send check: ends the text with its reason, or tries it later.

use std::time::Duration;

use seven_bus::Outcome;
use seven_domain::OutboundState;
use seven_runtime::Error;
use seven_store::{last_look::Refusal, providers::Held};
use seven_telemetry::Alert;

use crate::{
    late,
    route::NoRoute,
    types::{Job, Sender},
};

enum Then {
    Done,
    End(OutboundState),
    /// Over: its usefulness, whatever it waited for.
    Lapse,
    /// Waits for a provider or an operator.
    Hold(&'static str),
    Wait(Duration),
}

pub(crate) async fn refused(sender: &Sender, job: &Job, refusal: Refusal) -> Result<Outcome, Error> {
    let why = refusal.as_str();
    match then(refusal) {
        Then::Lapse => {
            let mut tx = sender.fleet.store.bind(&job.casino).await?;
            let why = tx.lapse(job.outbound_id).await?;
            late::note_lost_help(sender, &mut tx, job).await?;
            tx.commit().await?;
            tracing::info!(casino = %job.casino, outbound_id = %job.outbound_id, class = %job.class, why, "text is of no use any more");
            Ok(Outcome::Done)
        }
        Then::Hold(why) => hold(sender, job, NoRoute { why, retry_in: sender.fleet.timing.provider_poll() }).await,
        Then::Done => Ok(Outcome::Done),
        Then::Wait(after) => {
            Ok(Outcome::Wait { after: sender.fleet.timing.scaled(after).max(Duration::from_millis(20)), why })
        }
        Then::End(state) => {
            let mut tx = sender.fleet.store.bind(&job.casino).await?;
            tx.end_queued(job.outbound_id, state, why).await?;
            tx.cancel_later_parts(job.outbound_id, why).await?;
            late::note_lost_help(sender, &mut tx, job).await?;
            tx.commit().await?;
            tracing::info!(casino = %job.casino, outbound_id = %job.outbound_id, class = %job.class, why, "text will not be sent");
            Ok(Outcome::Done)
        }
    }
}

/// No provider takes the text now: it keeps its place in the queue and says why, until somebody wakes it or it is of no use (SMS-41).
pub(crate) async fn hold(sender: &Sender, job: &Job, none: NoRoute) -> Result<Outcome, Error> {
    let NoRoute { why, retry_in } = none;
    let mut tx = sender.fleet.store.bind(&job.casino).await?;
    let held = tx.hold(job.outbound_id, why, retry_in).await?;
    if held == Held::Lapsed {
        late::note_lost_help(sender, &mut tx, job).await?;
    }
    tx.commit().await?;
    if why == "providers_down" || why == "no_provider" {
        let text = "no provider of this casino can be called: its texts wait, and those that become stale meanwhile are dropped";
        Alert { name: why, casino: job.casino.as_str(), provider: "", code: "", text }.raise();
    }
    tracing::info!(casino = %job.casino, outbound_id = %job.outbound_id, class = %job.class, why, ?held, "text waits");
    Ok(Outcome::Done)
}

fn then(refusal: Refusal) -> Then {
    match refusal {
        Refusal::NotQueued => Then::Done,
        Refusal::Expired => Then::Lapse,
        // An operator's switch, or a question to the guest: the text keeps its place until that is lifted.
        Refusal::ProviderStopped | Refusal::Parked | Refusal::Paused | Refusal::Killed | Refusal::OptOutAsked => {
            Then::Hold(refusal.as_str())
        }
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
        // Redis knows a STOP that Postgres will know in a moment.
        Refusal::RefusedByCache | Refusal::NotYet => Then::Wait(Duration::from_millis(500)),
        Refusal::EarlierUnsent => Then::Wait(Duration::from_millis(300)),
        // The next try reads the casino's document anew, and with it the number it sends from.
        Refusal::SenderRetired => Then::Wait(Duration::from_millis(500)),
        Refusal::CasinoInactive => Then::Wait(Duration::from_secs(2)),
        // Deferred to its window before it gets here.
        Refusal::QuietHours => Then::Wait(Duration::from_secs(30)),
    }
}

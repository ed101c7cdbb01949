//! Handles error codes of a provider that concern more than one text: records an opt-out, parks the
//! casino, stops the provider or raises an alert. Also probes stopped providers, ends stops and
//! wakes the texts that waited.

use std::time::Duration;

use chrono::{DateTime, NaiveTime, Utc};
use seven_domain::{AttemptId, AuditEvent, CasinoId};
use seven_providers::{AlertLevel, ErrorClass, Verdict, verdict};
use seven_runtime::{Error, Fleet};
use seven_store::{
    audit::Entry,
    providers::{NewStop, OPERATOR, Stop},
};
use seven_telemetry::Alert;
use tokio::time::{MissedTickBehavior, interval};

use crate::{opted_out, types::Sender};

const ACTOR: &str = "outbound-sender";

/// Acts on a code that a provider returned from a call or in a receipt. Safe to repeat.
pub(crate) async fn act_on(
    fleet: &Fleet,
    casino: &CasinoId,
    provider: &str,
    code: &str,
    class: ErrorClass,
    attempt: AttemptId,
) -> Result<(), Error> {
    let meant = verdict(provider, code, 0);
    match class {
        ErrorClass::OptedOut => opted_out::sync(fleet, casino, attempt, code).await?,
        ErrorClass::Account => stop(fleet, provider, code, &meant).await?,
        ErrorClass::SpendLimit => park(fleet, casino, provider, code, &meant).await?,
        _ => alert(casino, provider, code, &meant),
    }
    Ok(())
}

fn alert(casino: &CasinoId, provider: &str, code: &str, meant: &Verdict) {
    if meant.alert == AlertLevel::None {
        return;
    }
    let name = match (meant.known, meant.alert) {
        (false, _) => "provider_code_unknown",
        (true, AlertLevel::Critical) => "provider_configuration",
        (true, _) => "provider_refuses",
    };
    Alert {
        name,
        casino: casino.as_str(),
        provider,
        code,
        text: meant.meaning,
    }
    .raise();
}

async fn stop(fleet: &Fleet, provider: &str, code: &str, meant: &Verdict) -> Result<(), Error> {
    // A sender that serves only one casino stops sending for that casino only, because the sender's
    // database role may not change the fleet's stops.
    let own = own_casino(fleet);
    let stop = NewStop {
        provider,
        casino: own,
        error_code: code,
        lasts: None,
        probe_after: Some(fleet.timing.provider_probe()),
        actor: ACTOR,
    };
    let new = fleet.store.stop_provider(&stop).await?;
    let text = format!(
        "SENDING STOPPED at this provider for {}: {}. Texts take the casino's other provider or \
         wait; a probe looks every minute, `seven provider release` lifts it by hand",
        if own.is_some() {
            "this casino, whose own sender was refused"
        } else {
            "every casino"
        },
        meant.meaning
    );
    let casino = own.map_or("", CasinoId::as_str);
    Alert {
        name: "provider_stopped",
        casino,
        provider,
        code,
        text: &text,
    }
    .raise();
    if new {
        let filed = own.cloned().unwrap_or_else(CasinoId::unknown);
        audit(
            fleet,
            &filed,
            AuditEvent::SendingStopped,
            provider,
            code,
            ACTOR,
            "",
        )
        .await?;
    }
    Ok(())
}

/// Returns the casino of a sender that serves only one casino; otherwise `None`.
fn own_casino(fleet: &Fleet) -> Option<&CasinoId> {
    if let [own] = fleet.roster.only() {
        Some(own)
    } else {
        None
    }
}

async fn park(
    fleet: &Fleet,
    casino: &CasinoId,
    provider: &str,
    code: &str,
    meant: &Verdict,
) -> Result<(), Error> {
    let lasts = fleet
        .timing
        .provider_park(until_midnight(fleet.clock.now()));
    let stop = NewStop {
        provider,
        casino: Some(casino),
        error_code: code,
        lasts: Some(lasts),
        probe_after: None,
        actor: ACTOR,
    };
    let new = fleet.store.stop_provider(&stop).await?;
    let text = format!(
        "SENDING PARKED for this casino until midnight UTC: {}. Raise the limit at the provider \
         and `seven provider release`, or wait",
        meant.meaning
    );
    Alert {
        name: "sending_parked",
        casino: casino.as_str(),
        provider,
        code,
        text: &text,
    }
    .raise();
    if new {
        audit(
            fleet,
            casino,
            AuditEvent::SendingStopped,
            provider,
            code,
            ACTOR,
            "",
        )
        .await?;
    }
    Ok(())
}

/// Returns the time until midnight UTC, when spend limits are reset.
fn until_midnight(now: DateTime<Utc>) -> Duration {
    let midnight = (now.date_naive() + chrono::Days::new(1))
        .and_time(NaiveTime::MIN)
        .and_utc();
    (midnight - now).to_std().unwrap_or_default()
}

async fn audit(
    fleet: &Fleet,
    casino: &CasinoId,
    event: AuditEvent,
    provider: &str,
    code: &str,
    actor: &str,
    reason: &str,
) -> Result<(), Error> {
    let mut tx = fleet.store.bind(casino).await?;
    let mut detail = serde_json::json!({ "provider": provider, "error_code": code });
    if !reason.is_empty() {
        detail["reason"] = reason.into();
    }
    tx.audit(&Entry::of(event, actor, provider, detail)).await?;
    Ok(tx.commit().await?)
}

/// Stops sending through a provider by an operator's order, until somebody lifts the stop. Returns
/// false if this stop existed already.
pub async fn halt(
    fleet: &Fleet,
    provider: &str,
    casino: Option<&CasinoId>,
    actor: &str,
    reason: &str,
) -> Result<bool, Error> {
    let stop = NewStop {
        provider,
        casino,
        error_code: OPERATOR,
        lasts: None,
        probe_after: None,
        actor,
    };
    let new = fleet.store.stop_provider(&stop).await?;
    if new {
        let filed = casino.cloned().unwrap_or_else(CasinoId::unknown);
        audit(
            fleet,
            &filed,
            AuditEvent::SendingStopped,
            provider,
            OPERATOR,
            actor,
            reason,
        )
        .await?;
    }
    Ok(new)
}

/// Lifts the stops of one casino, or the fleet's own stops if `casino` is `None`. Does this at one
/// provider, or at all providers if `provider` is `None`. Waiting texts continue at once.
pub async fn release(
    fleet: &Fleet,
    provider: Option<&str>,
    casino: Option<&CasinoId>,
    actor: &str,
    reason: &str,
) -> Result<Vec<Stop>, Error> {
    let lifted = fleet.store.lift_stops(provider, casino).await?;
    for stop in &lifted {
        resumed(fleet, stop, actor, reason).await?;
    }
    Ok(lifted)
}

async fn resumed(fleet: &Fleet, stop: &Stop, actor: &str, reason: &str) -> Result<(), Error> {
    let casino = (!stop.casino_id.is_empty())
        .then(|| CasinoId::trusted(&stop.casino_id))
        .transpose()?;
    let filed = casino.clone().unwrap_or_else(CasinoId::unknown);
    audit(
        fleet,
        &filed,
        AuditEvent::SendingResumed,
        &stop.provider,
        &stop.error_code,
        actor,
        reason,
    )
    .await?;
    let woken = fleet.store.wake_held(casino.as_ref()).await?;
    tracing::warn!(
        casino = stop.casino_id,
        provider = stop.provider,
        error_code = stop.error_code,
        woken,
        "sending continues"
    );
    Ok(())
}

/// Ends stops that have expired and probes stopped providers, until the shutdown.
pub(crate) async fn watch_stops(sender: &Sender) {
    let mut ticks = interval(sender.fleet.timing.provider_watch());
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = sender.fleet.shutdown.cancelled() => return,
            _ = ticks.tick() => {}
        }
        if let Err(error) = watch_once(sender).await {
            tracing::debug!(
                error = &error as &dyn std::error::Error,
                "opt-outs could not be checked"
            );
        }
    }
}

async fn watch_once(sender: &Sender) -> Result<(), Error> {
    for stop in sender.fleet.store.ended_stops().await? {
        resumed(&sender.fleet, &stop, ACTOR, "").await?;
    }
    let every = sender.fleet.timing.provider_probe();
    for stop in sender
        .fleet
        .store
        .claim_probes(every, own_casino(&sender.fleet))
        .await?
    {
        let Some(carrier) = sender.carriers.iter().find(|c| c.name() == stop.provider) else {
            continue;
        };
        match carrier.provider.probe().await {
            // `lift_stop` removes only the stop for which the provider was probed. A stop that an
            // operator has set meanwhile stays.
            Ok(()) if sender.fleet.store.lift_stop(&stop).await? => {
                resumed(&sender.fleet, &stop, ACTOR, "the provider takes us again").await?;
            }
            Ok(()) => {}
            Err(detail) => tracing::info!(
                provider = stop.provider,
                detail,
                "the probe failed; the breaker stays open"
            ),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spend_limit_resets_at_midnight_utc() {
        let at = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
        assert_eq!(
            until_midnight(at("2026-11-22T23:59:30Z")),
            Duration::from_secs(30)
        );
        assert_eq!(
            until_midnight(at("2026-11-22T00:00:00Z")),
            Duration::from_secs(86_400)
        );
        assert_eq!(
            until_midnight(at("2026-12-31T12:00:00Z")),
            Duration::from_secs(43_200)
        );
    }
}

//! Finds casinos whose guests wait for answers or texts, and plans letters that tell the casinos'
//! contacts. The fleet's own operators learn of such a wait from the alert about its cause.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};
use seven_domain::{CasinoId, OutageKind};
use seven_runtime::{Error, Fleet};
use seven_store::{controls::Switch, outages::Waits};

type LastSeen = HashMap<(CasinoId, OutageKind), DateTime<Utc>>;

/// When guests were last seen waiting, for each casino and kind of outage. Waits that a switch
/// causes on purpose are left out. An outage begins only if two rounds in a row see guests wait: if
/// a switch was just turned off, one round may see guests who are answered within seconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<LastSeen>>);

// === impl Seen ===

impl Seen {
    /// Notes that guests wait now. Returns whether the previous note is less than `lately` old.
    fn again(
        &self,
        casino: &CasinoId,
        kind: OutageKind,
        now: DateTime<Utc>,
        lately: Duration,
    ) -> bool {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.insert((casino.clone(), kind), now)
            .is_some_and(|before| (now - before).to_std().is_ok_and(|ago| ago < lately))
    }
}

pub(crate) async fn round(fleet: Fleet, seen: Seen) -> Result<(), Error> {
    let all = fleet
        .store
        .outages(fleet.timing.outage_told_after())
        .await?;
    crate::rounds::each_of(
        all,
        |waits| &waits.casino,
        |waits| settle(&fleet, &seen, waits),
    )
    .await
}

async fn settle(fleet: &Fleet, seen: &Seen, waits: Waits) -> Result<(), Error> {
    let Waits {
        casino,
        kind,
        since,
        open,
    } = waits;
    let lately = 2 * fleet.timing.outage_check();
    let mut tx = fleet.store.bind(&casino).await?;
    let changed = match since {
        Some(since) if !open => {
            // If a person silenced the host with a switch, the wait is wanted and no outage is
            // reported.
            let wanted = kind == OutageKind::Answers
                && tx
                    .switched()
                    .await?
                    .into_iter()
                    .any(Switch::silences_agents);
            !wanted
                && seen.again(&casino, kind, fleet.clock.now(), lately)
                && tx.begin_outage(fleet.ids.uuid(), kind, since).await?
        }
        None if open => tx.end_outage(kind).await?,
        _ => false,
    };
    tx.commit().await?;
    if changed {
        let goes_on = since.is_some();
        tracing::warn!(%casino, %kind, goes_on, "an outage for guests began or ended");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // PROD-40
    fn a_wait_counts_when_it_was_seen_in_the_round_before() {
        let (seen, casino) = (Seen::default(), CasinoId::trusted("birch").unwrap());
        let at = |seconds: i64| DateTime::from_timestamp(1_800_000_000 + seconds, 0).unwrap();
        let again =
            |kind, seconds: i64| seen.again(&casino, kind, at(seconds), Duration::from_secs(60));
        assert!(!again(OutageKind::Answers, 0));
        assert!(!again(OutageKind::Sending, 30), "another kind");
        assert!(again(OutageKind::Answers, 31));
        assert!(!again(OutageKind::Answers, 600), "rounds were left out");
        assert!(again(OutageKind::Answers, 630));
    }
}

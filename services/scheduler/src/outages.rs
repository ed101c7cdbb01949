//! Finds casinos whose guests wait for answers or texts, and plans the letters by which their
//! contacts are told (PROD-40). The fleet's own operators hear of the cause by its alert.

use std::{
    collections::HashSet,
    mem::take,
    sync::{Arc, Mutex, PoisonError},
};

use seven_domain::{CasinoId, OutageKind};
use seven_runtime::{Error, Fleet};
use seven_store::{controls::Switch, outages::Waits};

/// The waits that the last round saw. An outage begins when two rounds in a row see it: guests who
/// waited because of a switch are answered in the seconds after it is off.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<HashSet<(CasinoId, OutageKind)>>>);

impl Seen {
    /// Notes what this round sees, and returns what the last one saw.
    fn next(&self, now: &[Waits]) -> HashSet<(CasinoId, OutageKind)> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = take(&mut *seen);
        let waiting = now.iter().filter(|waits| waits.since.is_some());
        seen.extend(waiting.map(|waits| (waits.casino.clone(), waits.kind)));
        before
    }
}

pub(crate) async fn round(fleet: Fleet, seen: Seen) -> Result<(), Error> {
    let mut all = fleet
        .store
        .outages(fleet.timing.outage_told_after())
        .await?;
    let before = seen.next(&all);
    all.retain(|waits| waits.open || before.contains(&(waits.casino.clone(), waits.kind)));
    crate::rounds::each_of(all, |waits| &waits.casino, |waits| settle(&fleet, waits)).await
}

async fn settle(fleet: &Fleet, waits: Waits) -> Result<(), Error> {
    let Waits {
        casino,
        kind,
        since,
        open,
    } = waits;
    let mut tx = fleet.store.bind(&casino).await?;
    let changed = match since {
        Some(since) if !open => {
            // The host is silent because a person wants it, who knows.
            let wanted = kind == OutageKind::Answers
                && tx
                    .switched()
                    .await?
                    .into_iter()
                    .any(Switch::silences_agents);
            !wanted && tx.begin_outage(fleet.ids.uuid(), kind, since).await?
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

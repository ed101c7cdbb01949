//! Watches a run. Restarts workers that ended by themselves, counts redeliveries, collects the
//! names of metrics, and searches bus messages for secrets.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result};
use futures::StreamExt;
use seven_carrier_sim::DeliveryState;
use seven_domain::Stage;
use tokio::time::{Instant, sleep};

use super::{check::Secrets, facts, ground::Ground, workers::Workers};

#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Number of redeliveries seen in samples of the bus; the real number is higher.
    pub(crate) redeliveries: AtomicUsize,
    pub(crate) ended_by_themselves: AtomicUsize,
    /// Connections carried by the proxies.
    pub(crate) connections: AtomicUsize,
    /// Names and labels of all metrics that workers exposed, without values.
    pub(crate) series: Mutex<BTreeSet<String>>,
    /// Number of bus messages whose subject and headers were searched.
    pub(crate) messages: AtomicUsize,
    /// One note for each bus message that held a secret.
    pub(crate) told: Mutex<Vec<String>>,
}

/// Number of rounds from one reading of the metrics to the next.
const ROUNDS: usize = 10;

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Searches the subject and the headers of every bus message for secrets.
pub(crate) async fn overhear(
    ground: Arc<Ground>,
    secrets: Arc<Secrets>,
    seen: Arc<Seen>,
) -> Result<()> {
    let mut heard = std::pin::pin!(
        ground
            .stack
            .fleet
            .bus
            .overhear()
            .await
            .context("listening to the bus")?
    );
    while let Some(line) = heard.next().await {
        seen.messages.fetch_add(1, Ordering::Relaxed);
        if let Some(what) = secrets.found_in(&line) {
            // Reports only the beginning of the subject, because the rest may hold the secret.
            let stream = line.split(['.', ' ']).next().unwrap_or_default();
            lock(&seen.told).push(format!("{what} in a message of {stream}"));
        }
    }
    Ok(())
}

pub(crate) async fn watch(ground: Arc<Ground>, workers: Arc<Workers>, seen: Arc<Seen>) {
    let mut last: HashMap<String, usize> = HashMap::new();
    for round in 1_usize.. {
        match workers.revive(&ground).await {
            Ok(ended) => drop(seen.ended_by_themselves.fetch_add(ended, Ordering::Relaxed)),
            Err(error) => tracing::warn!(%error, "looking after the workers failed"),
        }
        if round.is_multiple_of(ROUNDS) {
            // A worker that was just killed exposes no metrics; a later round reads those of its
            // successor.
            let shown = workers.series().await;
            lock(&seen.series).extend(shown);
        }
        seen.connections
            .store(ground.connections(), Ordering::Relaxed);
        for stage in [Stage::Gate, Stage::Swarm, Stage::Envelope, Stage::Sender] {
            let asked =
                tokio::time::timeout(Duration::from_secs(2), ground.stack.fleet.bus.lag(stage))
                    .await;
            // The request fails while NATS is down; the next round asks again.
            let Ok(Ok(lag)) = asked else { continue };
            for consumer in lag {
                let before = last
                    .insert(
                        format!("{stage:?}/{}", consumer.consumer),
                        consumer.redelivered,
                    )
                    .unwrap_or(0);
                seen.redeliveries.fetch_add(
                    consumer.redelivered.saturating_sub(before),
                    Ordering::Relaxed,
                );
            }
        }
        sleep(Duration::from_millis(500)).await;
    }
}

/// Waits until the carrier has no webhook left to deliver and the fleet has no work left. Returns
/// false if that takes longer than `patience`. `on_web` is the number of visitors' messages that
/// gateways took.
pub(crate) async fn settle(ground: &Ground, on_web: usize, patience: Duration) -> Result<bool> {
    let until = Instant::now() + patience;
    while Instant::now() < until {
        let ledger = ground.stack.sim.ledger().snapshot();
        let inbound = ledger.inbound.iter().map(|text| text.delivery.state);
        let receipts = ledger
            .outbound
            .iter()
            .flat_map(|sent| sent.receipts.iter().map(|r| r.delivery.state));
        if inbound
            .chain(receipts)
            .all(|state| state != DeliveryState::Pending)
        {
            let texts = facts::texts(&ledger)
                .iter()
                .filter(|t| t.acknowledged_at.is_some())
                .count();
            let rest = until.saturating_duration_since(Instant::now());
            return ground
                .stack
                .settled(i64::try_from(texts + on_web)?, rest)
                .await;
        }
        sleep(Duration::from_millis(200)).await;
    }
    Ok(false)
}

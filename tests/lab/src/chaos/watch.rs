//! Looks after the run while it goes: workers that ended by themselves are started again, deliveries that came again are counted.

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
    /// Messages of the bus that were in somebody's hands for a second time, as sampled: fewer than there were.
    pub(crate) redeliveries: AtomicUsize,
    pub(crate) ended_by_themselves: AtomicUsize,
    /// Over the proxies.
    pub(crate) connections: AtomicUsize,
    /// Names and labels of all metrics that workers showed, without values.
    pub(crate) series: Mutex<BTreeSet<String>>,
    /// Messages of the bus whose subject and headers were searched, and what was found in them.
    pub(crate) messages: AtomicUsize,
    pub(crate) told: Mutex<Vec<String>>,
}

/// Metrics are read every so many rounds.
const ROUNDS: usize = 10;

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Searches every message's subject and headers for what may not be there.
pub(crate) async fn overhear(ground: Arc<Ground>, secrets: Arc<Secrets>, seen: Arc<Seen>) -> Result<()> {
    let mut heard = std::pin::pin!(ground.stack.fleet.bus.overhear().await.context("listening to the bus")?);
    while let Some(line) = heard.next().await {
        seen.messages.fetch_add(1, Ordering::Relaxed);
        if let Some(what) = secrets.found_in(&line) {
            // The beginning of the subject alone: the rest is what may not be told.
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
            // One that was just killed has nothing to show.
            let shown = workers.series().await;
            lock(&seen.series).extend(shown);
        }
        seen.connections.store(ground.connections(), Ordering::Relaxed);
        for stage in [Stage::Gate, Stage::Swarm, Stage::Envelope, Stage::Sender] {
            let asked = tokio::time::timeout(Duration::from_secs(2), ground.stack.fleet.bus.lag(stage)).await;
            // NATS may be the one that is down.
            let Ok(Ok(lag)) = asked else { continue };
            for consumer in lag {
                let before = last.insert(format!("{stage:?}/{}", consumer.consumer), consumer.redelivered).unwrap_or(0);
                seen.redeliveries.fetch_add(consumer.redelivered.saturating_sub(before), Ordering::Relaxed);
            }
        }
        sleep(Duration::from_millis(500)).await;
    }
}

/// Waits until every webhook has ended and nothing of the fleet is under way.
pub(crate) async fn settle(ground: &Ground, patience: Duration) -> Result<bool> {
    let until = Instant::now() + patience;
    while Instant::now() < until {
        let ledger = ground.stack.sim.ledger().snapshot();
        let inbound = ledger.inbound.iter().map(|text| text.delivery.state);
        let receipts = ledger.outbound.iter().flat_map(|sent| sent.receipts.iter().map(|r| r.delivery.state));
        if inbound.chain(receipts).all(|state| state != DeliveryState::Pending) {
            let texts = facts::texts(&ledger).iter().filter(|t| t.acknowledged_at.is_some()).count();
            let rest = until.saturating_duration_since(Instant::now());
            return ground.stack.settled(i64::try_from(texts)?, rest).await;
        }
        sleep(Duration::from_millis(200)).await;
    }
    Ok(false)
}

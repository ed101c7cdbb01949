//! Looks after the run while it goes: workers that ended by themselves are started again, deliveries that came again are counted.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::Result;
use seven_carrier_sim::DeliveryState;
use seven_domain::Stage;
use tokio::time::{Instant, sleep};

use super::{facts, ground::Ground, workers::Workers};

#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Messages of the bus that were in somebody's hands for a second time, as sampled: fewer than there were.
    pub(crate) redeliveries: AtomicUsize,
    pub(crate) ended_by_themselves: AtomicUsize,
    /// Over the proxies.
    pub(crate) connections: AtomicUsize,
}

pub(crate) async fn watch(ground: Arc<Ground>, workers: Arc<Workers>, seen: Arc<Seen>) {
    let mut last: HashMap<String, usize> = HashMap::new();
    loop {
        match workers.revive(&ground).await {
            Ok(ended) => drop(seen.ended_by_themselves.fetch_add(ended, Ordering::Relaxed)),
            Err(error) => tracing::warn!(%error, "looking after the workers failed"),
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

//! Publishes spooled events: those that JetStream did not accept in time (D2). Each keeps the
//! subject and message id that ingress gave it.

use std::{collections::BTreeMap, time::Duration};

use futures::future::join_all;
use seven_bus::Outgoing;
use seven_domain::CasinoId;
use seven_runtime::{Error, Fleet};
use seven_store::spool::Spooled;
use seven_telemetry::metrics;
use uuid::Uuid;

/// Maximum number of events in one round.
const MOST_EVENTS: i32 = 2_000;
/// Number of a casino's events that are published together and removed with one commit. One commit
/// per event took minutes longer after an outage, on a busy disk.
const BATCH_EVENTS: usize = 200;
const PUBLISH_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) async fn round(fleet: Fleet) -> Result<(), Error> {
    let mut by_casino: BTreeMap<CasinoId, Vec<Uuid>> = BTreeMap::new();
    for (casino, id) in fleet.store.spooled(MOST_EVENTS).await? {
        by_casino.entry(casino).or_default().push(id);
    }
    // Publishes nothing while the bus is away. The client would buffer the events of every round
    // and send them all later.
    if !by_casino.is_empty() && !fleet.bus.ready().await {
        return Err(Error::Other("the bus is away; spooled events wait".into()));
    }
    for (casino, ids) in &by_casino {
        for batch in ids.chunks(BATCH_EVENTS) {
            publish(&fleet, casino, batch).await?;
        }
    }
    Ok(())
}

/// Publishes a batch of events in the order of their arrival, and removes those that the bus
/// accepted.
async fn publish(fleet: &Fleet, casino: &CasinoId, batch: &[Uuid]) -> Result<(), Error> {
    let mut tx = fleet.store.bind(casino).await?;
    let events = tx.take_spooled(batch).await?;
    let published = join_all(events.iter().map(|event| publish_one(fleet, event))).await;
    let (mut taken, mut failed) = (Vec::new(), Vec::new());
    for (event, outcome) in events.iter().zip(published) {
        match outcome {
            Ok(()) => taken.push(event.spool_id),
            Err(error) => failed.push(error),
        }
    }
    tx.drop_spooled(&taken).await?;
    tx.commit().await?;
    metrics()
        .swept
        .with_label_values(&["spool"])
        .inc_by(taken.len() as u64);
    let events = failed.len();
    let Some(error) = failed.into_iter().next() else {
        return Ok(());
    };
    if !fleet.bus.ready().await {
        return Err(error.into());
    }
    tracing::error!(
        %casino,
        events,
        error = &error as &dyn std::error::Error,
        "publishing spooled events failed; the other events continue"
    );
    Ok(())
}

async fn publish_one(fleet: &Fleet, event: &Spooled) -> Result<(), seven_bus::Error> {
    let trace = event.headers.get("traceparent");
    let outgoing = Outgoing {
        subject: event.subject.clone(),
        key: &event.message_key,
        copy: None,
        trace: trace
            .and_then(serde_json::Value::as_str)
            .unwrap_or_default(),
        payload: event.payload.clone().into(),
    };
    fleet.bus.publish(&outgoing, PUBLISH_TIMEOUT).await
}

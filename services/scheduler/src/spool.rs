//! Publishes the events that JetStream did not take in time (D2), with the subject and identity
//! that ingress gave them.

use std::time::Duration;

use seven_bus::Outgoing;
use seven_runtime::{Error, Fleet};
use seven_telemetry::metrics;

pub(crate) async fn round(fleet: Fleet) -> Result<(), Error> {
    for (casino, id) in fleet.store.spooled(500).await? {
        let mut tx = fleet.store.bind(&casino).await?;
        let Some(message) = tx.take_spooled(id).await? else {
            continue;
        };
        let trace = message
            .headers
            .get("traceparent")
            .and_then(serde_json::Value::as_str)
            .unwrap_or_default();
        let outgoing = Outgoing {
            subject: message.subject.clone(),
            key: &message.message_key,
            copy: None,
            trace,
            payload: message.payload.clone().into(),
        };
        if let Err(error) = fleet.bus.publish(&outgoing, Duration::from_secs(5)).await {
            if !fleet.bus.ready().await {
                return Err(error.into());
            }
            tracing::error!(
                %casino,
                error = &error as &dyn std::error::Error,
                "publishing a spooled event failed; the other events continue"
            );
            continue;
        }
        tx.drop_spooled(id).await?;
        tx.commit().await?;
        metrics().swept.with_label_values(&["spool"]).inc();
    }
    Ok(())
}

//! Texts that waited for hours between ingress and the gates, as in a spool during an outage.

use std::time::Duration;

use anyhow::Result;
use chrono::TimeDelta;
use prost::Message;
use seven_bus::{Outgoing, events::InboundText, subject};
use seven_domain::{Stage, TELNYX};
use tokio::time::sleep;

use super::{
    ground::{Ground, casino_id, casino_number},
    visits::{STALE_HOURS, Visit},
};

/// Returns the carrier's id of the nth text of this phone.
pub(crate) fn message_id(phone: &str, n: usize) -> String {
    format!("stale-{}-{n}", hex::encode(phone))
}

/// Publishes the texts of a visit as ingress does, but dated [`STALE_HOURS`] ago. Retries until the
/// bus has them.
pub(crate) async fn publish(ground: &Ground, visit: &Visit) -> Result<()> {
    let casino = casino_id(visit.casino).parse()?;
    let at = ground.stack.fleet.clock.now() - TimeDelta::hours(STALE_HOURS);
    for (n, said) in visit.script.iter().enumerate() {
        let key = message_id(&visit.phone, n);
        let event = InboundText {
            provider: TELNYX.to_owned(),
            provider_message_id: key.clone(),
            event_id: key.clone(),
            from: visit.phone.clone(),
            to: casino_number(visit.casino),
            media_count: 0,
            autoresponse: String::new(),
            occurred_at: at.timestamp_millis(),
            received_at: at.timestamp_millis(),
            channel: "sms".to_owned(),
            text: said.text.to_owned(),
        };
        let message = Outgoing {
            subject: subject(Stage::Gate, &casino, None),
            key: &key,
            copy: None,
            trace: "",
            payload: event.encode_to_vec().into(),
        };
        let bus = &ground.stack.fleet.bus;
        while let Err(error) = bus.publish(&message, Duration::from_secs(5)).await {
            tracing::info!(%error, "the bus does not take an old text yet");
            sleep(Duration::from_millis(500)).await;
        }
    }
    Ok(())
}

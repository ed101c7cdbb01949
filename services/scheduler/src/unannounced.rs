//! Stores missing dead letters of rows that a process gave up (D17). The process died after it had
//! marked the row as given up, but before it announced the dead letter. A redelivered message finds
//! the row done, so no other code stores this dead letter.

use chrono::TimeDelta;
use prost::Message as _;
use seven_bus::{events, subject};
use seven_domain::{CasinoId, MessageClass, Stage};
use seven_runtime::{Error, Fleet};
use seven_store::dead::{NewDead, Unannounced};
use seven_telemetry::metrics;

/// Maximum difference between the clocks of NATS and Postgres.
const CLOCK_SKEW: TimeDelta = TimeDelta::seconds(30);

pub(crate) async fn round(fleet: Fleet) -> Result<(), Error> {
    crate::rounds::each(fleet.store.with_dead_rows().await?, |casino| {
        look(fleet.clone(), casino)
    })
    .await
}

async fn look(fleet: Fleet, casino: CasinoId) -> Result<(), Error> {
    let mut tx = fleet.store.bind(&casino).await?;
    for stage in [Stage::Swarm, Stage::Envelope, Stage::Sender] {
        for row in tx.unannounced(stage, fleet.timing.unannounced()).await? {
            let Some(guest) = row.guest() else { continue };
            if stage == Stage::Swarm && tx.has_dead_of(stage, &guest, row.at - CLOCK_SKEW).await? {
                continue;
            }
            let letter = letter(&fleet, &casino, stage, &row)?;
            tx.file_dead(&letter).await?;
            metrics()
                .dead
                .with_label_values(&[stage.as_str(), casino.as_str(), &letter.reason])
                .inc();
            metrics().repairs.with_label_values(&["dead_letter"]).inc();
            tracing::warn!(
                %casino,
                %stage,
                row = %row.row_id,
                "a dead row had no dead letter; it was written"
            );
        }
    }
    Ok(tx.commit().await?)
}

/// Returns the dead letter that the row's process would have announced.
fn letter(
    fleet: &Fleet,
    casino: &CasinoId,
    stage: Stage,
    row: &Unannounced,
) -> Result<NewDead, Error> {
    let (reason, queue, payload) = match stage {
        Stage::Swarm => {
            let signal = events::ConversationSignal {
                conversation_id: seven_bus::id_bytes(row.conversation_id),
            };
            ("turn_failed", None, signal.encode_to_vec())
        }
        Stage::Envelope => (
            "failed",
            None,
            events::DraftReady {
                turn_id: seven_bus::id_bytes(row.row_id),
            }
            .encode_to_vec(),
        ),
        _ => {
            let ready = events::OutboundReady {
                outbound_id: seven_bus::id_bytes(row.row_id),
            };
            (
                "send_failed",
                Some(row.class.parse::<MessageClass>()?.queue()),
                ready.encode_to_vec(),
            )
        }
    };
    let code = if stage == Stage::Sender {
        "provider error "
    } else {
        ""
    };
    Ok(NewDead {
        dead_id: fleet.ids.next(),
        stage,
        reason: reason.to_owned(),
        error: format!(
            "{code}{} (its process died before it could announce this)",
            row.error
        ),
        attempts: row.attempts,
        subject: subject(stage, casino, queue),
        message_key: row.row_id.to_string(),
        payload,
        stream_seq: None,
        guest: row.guest(),
        channel: None,
        announced_at: fleet.clock.now(),
        trace: row.trace.clone(),
    })
}

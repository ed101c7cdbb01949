//! Stores dead letters as rows (D17): those that stages announce on `dead.*`, and those that the
//! NATS server reports. The server reports messages that crashed their worker each time.

use std::time::Duration;

use chrono::{DateTime, Utc};
use prost::Message;
use seven_bus::{Taken, events::DeadLetter, topology};
use seven_dead_letters::about;
use seven_domain::{CasinoId, GuestHash, Invalid, Stage};
use seven_runtime::{Error, Fleet};
use seven_store::{
    Tx,
    dead::{About, NewDead},
};
use seven_telemetry::metrics;

/// The reason that ingress gives for texts whose sender is a short code or a name
/// (`services/ingress-webhook/src/accept.rs`).
const ODD_SENDER: &str = "odd_sender";

pub(crate) async fn round(fleet: Fleet) -> Result<(), Error> {
    let filing = fleet
        .bus
        .take(topology::DEAD_STREAM, topology::FILING_CONSUMER, 200)
        .await?;
    for message in filing {
        let filed = match DeadLetter::decode(message.payload()) {
            Ok(letter) => file(&fleet, &letter, message.trace(), message.published()).await,
            Err(error) => {
                Err(Invalid::new("dead letter", error.to_string(), "a DeadLetter message").into())
            }
        };
        settle(message, filed).await?;
    }
    for message in fleet
        .bus
        .take(topology::ADVISORY_STREAM, topology::ADVISORY_CONSUMER, 200)
        .await?
    {
        let filed = match from_advisory(&fleet, &message.payload()).await {
            Ok(Some((letter, trace))) => file(&fleet, &letter, trace, message.published()).await,
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        settle(message, filed).await?;
    }
    Ok(())
}

/// Settles one announcement. An announcement that cannot be parsed stays in its stream. If an
/// announcement could not be stored, the bus delivers it again. Only an unreachable store or bus
/// ends the round.
async fn settle(message: Taken, filed: Result<(), Error>) -> Result<(), Error> {
    let sequence = message.sequence();
    match filed {
        Ok(()) => message.done().await,
        Err(error @ Error::Event(_)) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                sequence,
                "a dead letter cannot be read; it stays in its stream"
            );
            message.done().await;
        }
        Err(Error::Store(error)) if !error.is_unavailable() => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                sequence,
                "a dead letter could not be stored; it is tried again"
            );
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Updates the metric that counts open dead letters by kind.
pub(crate) async fn gauge(fleet: Fleet) -> Result<(), Error> {
    let mut counts = Vec::new();
    for owner in fleet.store.dead_owners().await? {
        let mut tx = fleet.store.bind(&owner).await?;
        counts.extend(
            tx.dead_kinds()
                .await?
                .into_iter()
                .map(|kind| (owner.clone(), kind)),
        );
        tx.commit().await?;
    }
    metrics().dead_open.reset();
    for (owner, (stage, reason, n)) in counts {
        metrics()
            .dead_open
            .with_label_values(&[stage.as_str(), owner.as_str(), &reason])
            .set(n);
    }
    Ok(())
}

async fn file(
    fleet: &Fleet,
    letter: &DeadLetter,
    trace: String,
    announced_at: DateTime<Utc>,
) -> Result<(), Error> {
    let mut tx = fleet
        .store
        .bind(&CasinoId::trusted(&letter.casino)?)
        .await?;
    let dead = row_of(fleet, &mut tx, letter, trace, announced_at).await?;
    tx.file_dead(&dead).await?;
    if letter.reason == ODD_SENDER {
        // This letter is only for information, so it is settled at once.
        tx.settle_dead(dead.stage, &dead.message_key).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// Builds the row of an announced dead letter. `tx` is bound to the casino that owns the row.
///
/// # Errors
/// If the announcement cannot be parsed, or the database query for the letter's guest fails.
pub async fn row_of(
    fleet: &Fleet,
    tx: &mut Tx,
    letter: &DeadLetter,
    trace: String,
    announced_at: DateTime<Utc>,
) -> Result<NewDead, Error> {
    let stage: Stage = letter.stage.parse()?;
    let about = about(
        fleet,
        tx.casino(),
        stage,
        &letter.message_key,
        &letter.payload,
    );
    let channel = match &about {
        Ok(About::Text { channel, .. }) => Some(*channel),
        _ => None,
    };
    let guest = match about {
        Ok(about) => tx
            .behind(&about, Duration::ZERO)
            .await?
            .and_then(|behind| behind.guest()),
        Err(_) => GuestHash::from_tag(&letter.guest_hash),
    };
    Ok(NewDead {
        dead_id: fleet.ids.next(),
        stage,
        reason: letter.reason.clone(),
        error: letter.error.clone(),
        attempts: i32::try_from(letter.attempts).unwrap_or(i32::MAX),
        subject: letter.subject.clone(),
        message_key: letter.message_key.clone(),
        payload: letter.payload.to_vec(),
        stream_seq: i64::try_from(letter.stream_seq).ok(),
        guest,
        channel,
        announced_at,
        trace,
    })
}

/// Makes a dead letter from a report of the NATS server:
/// `{"stream","consumer","stream_seq","deliveries"}`. Returns `None` if the report is not about a
/// stage's consumer, or if the message has left its stream.
async fn from_advisory(
    fleet: &Fleet,
    payload: &[u8],
) -> Result<Option<(DeadLetter, String)>, Error> {
    let advisory: serde_json::Value = serde_json::from_slice(payload)
        .map_err(|e| Invalid::new("advisory", e.to_string(), "JSON of the server"))?;
    let text = |key: &str| {
        advisory
            .get(key)
            .and_then(serde_json::Value::as_str)
            .unwrap_or_default()
    };
    let sequence = advisory
        .get("stream_seq")
        .and_then(serde_json::Value::as_u64)
        .unwrap_or_default();
    let deliveries = advisory
        .get("deliveries")
        .and_then(serde_json::Value::as_u64)
        .unwrap_or_default();
    let (stream, consumer) = (text("stream"), text("consumer"));
    let Some(stage) = Stage::ALL
        .iter()
        .find(|s| consumer.starts_with(&format!("{s}-")))
    else {
        return Ok(None);
    };
    let Some((subject, key, payload, trace)) = fleet.bus.stored(stream, sequence).await? else {
        return Ok(None);
    };
    let casino = subject.split('.').nth(1).unwrap_or_default().to_owned();
    metrics()
        .dead
        .with_label_values(&[stage.as_str(), &casino, "max_deliver"])
        .inc();
    let letter = DeadLetter {
        stage: stage.as_str().into(),
        casino,
        reason: "max_deliver".into(),
        error: format!("its worker never finished it in {deliveries} deliveries"),
        attempts: u32::try_from(deliveries).unwrap_or(u32::MAX),
        subject,
        message_key: key,
        payload,
        stream_seq: sequence,
        guest_hash: String::new(),
    };
    Ok(Some((letter, trace)))
}

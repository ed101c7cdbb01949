//! Dead letters become rows (D17): from `dead.*`, and from the server's advisories about messages that killed their worker every
//! time, whose payload is fetched from the stream.

use prost::Message;
use seven_bus::{Taken, events::DeadLetter, topology};
use seven_domain::{CasinoId, Invalid, Stage};
use seven_runtime::{Error, Fleet};
use seven_store::dead::NewDead;

pub(crate) async fn round(fleet: Fleet) -> Result<(), Error> {
    let filing = fleet.bus.take(topology::DEAD_STREAM, topology::FILING_CONSUMER, 200).await?;
    for message in filing {
        let filed = match DeadLetter::decode(message.payload()) {
            Ok(letter) => file(&fleet, &letter, message.trace()).await,
            Err(error) => Err(Invalid::new("dead letter", error.to_string(), "a DeadLetter message").into()),
        };
        settle(message, filed).await?;
    }
    for message in fleet.bus.take(topology::ADVISORY_STREAM, topology::ADVISORY_CONSUMER, 200).await? {
        let filed = match from_advisory(&fleet, &message.payload()).await {
            Ok(Some((letter, trace))) => file(&fleet, &letter, trace).await,
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        settle(message, filed).await?;
    }
    Ok(())
}

/// One letter that cannot be filed holds up no other: what can never be read stays in its stream, what may be filed later comes
/// again. Only a dependency that is away ends the round.
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
                "a dead letter could not be filed; it comes again"
            );
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

async fn file(fleet: &Fleet, letter: &DeadLetter, trace: String) -> Result<(), Error> {
    let casino = CasinoId::trusted(&letter.casino)?;
    let dead = NewDead {
        dead_id: fleet.ids.next(),
        stage: letter.stage.parse()?,
        reason: letter.reason.clone(),
        error: letter.error.clone(),
        attempts: i32::try_from(letter.attempts).unwrap_or(i32::MAX),
        subject: letter.subject.clone(),
        message_key: letter.message_key.clone(),
        payload: letter.payload.to_vec(),
        stream_seq: i64::try_from(letter.stream_seq).ok(),
        trace,
    };
    let mut tx = fleet.store.bind(&casino).await?;
    tx.file_dead(&dead).await?;
    tx.commit().await?;
    Ok(())
}

/// `{"stream","consumer","stream_seq","deliveries"}`: the message itself is still in its stream.
async fn from_advisory(fleet: &Fleet, payload: &[u8]) -> Result<Option<(DeadLetter, String)>, Error> {
    let advisory: serde_json::Value =
        serde_json::from_slice(payload).map_err(|e| Invalid::new("advisory", e.to_string(), "JSON of the server"))?;
    let text = |key: &str| advisory.get(key).and_then(serde_json::Value::as_str).unwrap_or_default();
    let sequence = advisory.get("stream_seq").and_then(serde_json::Value::as_u64).unwrap_or_default();
    let deliveries = advisory.get("deliveries").and_then(serde_json::Value::as_u64).unwrap_or_default();
    let (stream, consumer) = (text("stream"), text("consumer"));
    let Some(stage) = Stage::ALL.iter().find(|s| consumer.starts_with(&format!("{s}-"))) else { return Ok(None) };
    let Some((subject, key, payload, trace)) = fleet.bus.stored(stream, sequence).await? else { return Ok(None) };
    let casino = subject.split('.').nth(1).unwrap_or_default().to_owned();
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
    };
    Ok(Some((letter, trace)))
}

//! Handles texts that no gate has acknowledged, one day before their stream drops them. Writes
//! opt-outs, opens cases for cries for help, and makes each text a dead letter.

use std::time::{Duration, SystemTime};

use chrono::{DateTime, TimeDelta, TimeZone, Utc};
use prost::Message;
use seven_bus::{
    Outgoing, Taken,
    events::{DeadLetter, InboundText},
    subject, subject_for_dead, topology,
};
use seven_compliance::{Intent, classify, provider};
use seven_domain::{CasinoId, GuestHash, PhoneE164, Stage};
use seven_runtime::{Error, Fleet, word_of};
use seven_telemetry::{Alert, metrics};

use crate::cry::open_case;

/// The reason in the dead letters that are made here.
const UNREAD: &str = "unread";
/// A text is handled here this long before its stream drops it.
const BEFORE_STREAM_EXPIRY: Duration = Duration::from_secs(24 * 3_600);
const PUBLISH_TIMEOUT: Duration = Duration::from_secs(5);
const BATCH: usize = 500;

pub(crate) async fn round(fleet: Fleet) -> Result<(), Error> {
    // The tests' time scale does not apply here, because the NATS server drops messages by its own
    // clock.
    let age = topology::STAGE_RETENTION.saturating_sub(BEFORE_STREAM_EXPIRY);
    for casino in fleet.store.tenants().await? {
        take(&fleet, &casino, age).await?;
    }
    Ok(())
}

/// Makes dead letters of the casino's texts that are older than `age` and that no gate
/// acknowledged. Removes them from the stream. Returns their number.
///
/// # Errors
/// If a store is unreachable. Work done until then stays done.
pub async fn take(fleet: &Fleet, casino: &CasinoId, age: Duration) -> Result<usize, Error> {
    let floor = fleet
        .bus
        .read_up_to(Stage::Gate, casino)
        .await?
        .unwrap_or_default();
    // Uses the machine's clock, as the NATS server does, because the fleet's clock may show a
    // simulated time.
    let before =
        DateTime::<Utc>::from(SystemTime::now()) - TimeDelta::from_std(age).unwrap_or_default();
    let (stream, wanted) = (
        topology::stream_of(Stage::Gate),
        subject(Stage::Gate, casino, None),
    );
    // This is the only request for most casinos, because they have no text that old.
    let first = fleet.bus.first_after(stream, &wanted, floor).await?;
    if first.is_none_or(|first| first > before) {
        return Ok(0);
    }
    let mut reader = fleet.bus.read_after(stream, &wanted, floor).await?;
    let mut taken = 0;
    'all: loop {
        let batch = reader.next(BATCH).await?;
        if batch.is_empty() {
            break;
        }
        for message in batch {
            if message.published() > before {
                break 'all;
            }
            taken += usize::from(take_one(fleet, casino, &wanted, &message).await?);
        }
    }
    if taken > 0 {
        let text = format!(
            "{taken} text(s) were read by no gate for days; opt-outs were written and cries for \
             help have cases, the texts are dead letters"
        );
        Alert {
            name: "texts_unread",
            casino: casino.as_str(),
            provider: "",
            code: "",
            text: &text,
        }
        .raise();
    }
    Ok(taken)
}

/// Turns one message into a dead letter. Returns false if a gate has already stored the text and
/// only the acknowledgement is missing.
async fn take_one(
    fleet: &Fleet,
    casino: &CasinoId,
    subject: &str,
    message: &Taken,
) -> Result<bool, Error> {
    let payload = message.payload();
    let mut guest_hash = String::new();
    if let Ok(event) = InboundText::decode(payload.as_ref()) {
        let mut tx = fleet.store.bind(casino).await?;
        let stored = tx
            .is_stored(&event.provider, &event.provider_message_id)
            .await?;
        tx.commit().await?;
        if stored {
            return Ok(false);
        }
        let phone: PhoneE164 = event.from.parse()?;
        let guest = fleet.keys.hash(casino, &phone);
        guest_hash = guest.tag();
        hear(fleet, casino, &guest, &event).await?;
    }
    let key = message.key();
    let letter = DeadLetter {
        stage: Stage::Gate.as_str().into(),
        casino: casino.as_str().into(),
        reason: "unread".into(),
        error: "no gate read it before its stream would have dropped it".into(),
        attempts: 0,
        subject: subject.to_owned(),
        message_key: key.clone(),
        payload,
        stream_seq: message.sequence(),
        guest_hash,
    };
    metrics()
        .dead
        .with_label_values(&[Stage::Gate.as_str(), casino.as_str(), UNREAD])
        .inc();
    let outgoing = Outgoing {
        subject: subject_for_dead(Stage::Gate, casino),
        key: &format!("{UNREAD}:{key}"),
        copy: None,
        trace: &message.trace(),
        payload: letter.encode_to_vec().into(),
    };
    fleet.bus.publish(&outgoing, PUBLISH_TIMEOUT).await?;
    // The dead letter now contains the text, so the message is erased; otherwise the next round
    // would find it again.
    fleet.bus.erase(Stage::Gate, message.sequence()).await?;
    Ok(true)
}

/// Writes the text's opt-out, or opens the case for its cry for help. Neither may wait until
/// somebody replays the dead letter.
async fn hear(
    fleet: &Fleet,
    casino: &CasinoId,
    guest: &GuestHash,
    event: &InboundText,
) -> Result<(), Error> {
    let word = provider::keyword(&event.autoresponse).or_else(|| classify(&event.text));
    let mut tx = fleet.store.bind(casino).await?;
    if let Some(keyword) = word.filter(|keyword| keyword.intent == Intent::OptOut) {
        let at = Utc
            .timestamp_millis_opt(event.occurred_at)
            .single()
            .unwrap_or_else(|| fleet.clock.now());
        let word = word_of(
            &keyword,
            &event.provider,
            &event.text,
            !event.autoresponse.is_empty(),
        );
        tx.stop(guest, at, &event.event_id, word).await?;
        tx.commit().await?;
        fleet.cache.refuse(casino, guest, at).await;
        return Ok(());
    }
    let Some(row) = tx.casino_row().await? else {
        return Ok(tx.commit().await?);
    };
    let hits = fleet
        .packs
        .of(&row.config)?
        .guardrails()
        .decide(&event.text)
        .hits;
    if let Some(layer) = hits
        .iter()
        .map(|hit| hit.layer)
        .find(|layer| layer.is_urgent())
        && open_case(&mut tx, fleet.ids.uuid(), guest, None, layer).await?
    {
        tracing::error!(
            %casino,
            layer = layer.as_str(),
            "an urgent text was not read by any gate for days"
        );
    }
    Ok(tx.commit().await?)
}

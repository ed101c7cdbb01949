//! Answers a guest's text with a text of the pack, queued at once, without typing delay.

use std::time::Duration;

use seven_domain::{Disposition, MessageClass, OutboundId};
use seven_packs::TextKey;
use seven_runtime::Error;
use seven_store::{
    Tx,
    outbound::{NewOutbound, Origin},
};
use seven_telemetry::metrics;

use crate::{
    mutant,
    types::{Case, Gate, Next},
};

/// Answers with a text of the pack. If the same answer was given a moment ago, closes the guest's
/// text without one.
pub(crate) async fn canned(gate: &Gate, tx: &mut Tx, case: &Case<'_>, key: TextKey) -> Result<Next, Error> {
    if was_said_just_now(gate, tx, case, key).await? {
        return close(tx, case, "answered_recently").await;
    }
    let body = render(case, key);
    queue(gate, tx, case, key, body).await.map(|(next, _)| next)
}

/// Returns whether this answer was given already within the time in which the pack gives it only
/// once.
pub(crate) async fn was_said_just_now(gate: &Gate, tx: &mut Tx, case: &Case<'_>, key: TextKey) -> Result<bool, Error> {
    if mutant::answers_always() {
        return Ok(false);
    }
    let silence = gate.fleet.timing.scaled(case.pack.rules.say_again_after(key));
    Ok(!silence.is_zero() && tx.said_within(case.party.conversation_id, key.as_str(), silence).await?)
}

pub(crate) fn render(case: &Case<'_>, key: TextKey) -> String {
    case.pack.say(key, case.language(), &case.config)
}

/// Queues the text and closes the guest's text as answered by it.
pub(crate) async fn queue(
    gate: &Gate,
    tx: &mut Tx,
    case: &Case<'_>,
    key: TextKey,
    body: String,
) -> Result<(Next, OutboundId), Error> {
    let (next, outbound_id) = queue_text(gate, tx, case, key, body).await?;
    tx.close_inbound(case.inbound_id, Disposition::Canned, Some(outbound_id.0), Some(key.as_str())).await?;
    metrics().inbound.with_label_values(&[tx.casino().as_str(), case.verdict(), key.as_str()]).inc();
    Ok((next, outbound_id))
}

/// Queues a text in addition to the answer that the guest's text gets.
pub(crate) async fn queue_text(
    gate: &Gate,
    tx: &mut Tx,
    case: &Case<'_>,
    key: TextKey,
    body: String,
) -> Result<(Next, OutboundId), Error> {
    let measure = seven_sms::measure(&body);
    let outbound_id: OutboundId = gate.fleet.ids.next();
    let (class, rules) = (case.pack.texts.class(key), &case.pack.rules);
    let useful_for = match class {
        MessageClass::OptOutConfirmation => rules.opt_out_confirmation(),
        // Help is useful even when late: it does not expire after the confirmation's five minutes.
        MessageClass::Crisis | MessageClass::Emergency => rules.answer_to_a_cry(),
        _ => rules.usefulness(),
    };
    let text = NewOutbound {
        outbound_id,
        conversation_id: case.party.conversation_id,
        guest_id: case.party.guest_id,
        origin: Origin::Inbound(case.inbound_id),
        part: 1,
        parts: 1,
        kind: key.as_str().to_owned(),
        class,
        body,
        encoding: measure.encoding.as_str().to_owned(),
        units: i32::try_from(measure.units).unwrap_or(i32::MAX),
        segments: i32::try_from(measure.segments).unwrap_or(i32::MAX),
        agent: "gate".to_owned(),
        answers_at: Some(case.text.received_at),
        delay: Duration::ZERO,
        useful_for,
        trace: case.trace.clone(),
    };
    let queued = tx.queue(&text).await?;
    Ok((Next::send(queued.into_iter().collect()), outbound_id))
}

/// Answers unless the guest has a confirmation already: from Telnyx (C-10), or from this fleet
/// before a backup was restored that does not contain it.
pub(crate) async fn answer_unless_provider_did(
    gate: &Gate,
    tx: &mut Tx,
    case: &Case<'_>,
    key: TextKey,
) -> Result<Next, Error> {
    if case.text.autoresponse.is_some() {
        close(tx, case, "provider_answered").await
    } else if case.text.is_of_before_a_restore() || (key != TextKey::OptOutConfirmation && is_late(gate, case)) {
        close(tx, case, "stale").await
    } else {
        canned(gate, tx, case, key).await
    }
}

/// Answers unless the guest has opted out: such a guest gets nothing but safety texts.
pub(crate) async fn answer_unless_stopped(
    gate: &Gate,
    tx: &mut Tx,
    case: &Case<'_>,
    key: TextKey,
) -> Result<Next, Error> {
    if tx.is_stopped(&case.guest).await? {
        close(tx, case, "opted_out").await
    } else if case.text.is_of_before_a_restore() {
        close(tx, case, "stale").await
    } else {
        canned(gate, tx, case, key).await
    }
}

/// Closes the text without an answer; `reason` is stored in its row.
pub(crate) async fn close(tx: &mut Tx, case: &Case<'_>, reason: &str) -> Result<Next, Error> {
    tx.close_inbound(case.inbound_id, Disposition::Closed, None, Some(reason)).await?;
    metrics().inbound.with_label_values(&[tx.casino().as_str(), case.verdict(), reason]).inc();
    Ok(Next::nothing())
}

/// Returns whether an answer would come too late to be useful. That is so if the text was received
/// too long ago (an outage, a suspended casino), or was found in the provider's records and was
/// sent that long ago or before a backup was restored. No answer is better than a second one.
pub(crate) fn is_late(gate: &Gate, case: &Case<'_>) -> bool {
    let came = if case.text.is_recovered() { case.text.occurred_at } else { case.text.received_at };
    let age = gate.fleet.clock.now() - came;
    case.text.is_of_before_a_restore() || age.to_std().is_ok_and(|age| age > case.pack.rules.usefulness())
}

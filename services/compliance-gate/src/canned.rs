//! Answers a guest's text with a text of the pack, queued at once and without a typing delay.

use seven_compliance::Verdict;
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

/// Answers with a text of the pack. If the guest got the same answer a moment ago, closes the
/// guest's text without an answer.
pub(crate) async fn canned(
    gate: &Gate,
    tx: &mut Tx,
    case: &Case<'_>,
    key: TextKey,
) -> Result<Next, Error> {
    if was_said_just_now(gate, tx, case, key).await? {
        return close(tx, case, "answered_recently").await;
    }
    let body = render(case, key);
    queue(gate, tx, case, key, body).await.map(|(next, _)| next)
}

/// Returns whether the guest got this answer so recently that the pack's rules forbid repeating it.
pub(crate) async fn was_said_just_now(
    gate: &Gate,
    tx: &mut Tx,
    case: &Case<'_>,
    key: TextKey,
) -> Result<bool, Error> {
    if mutant::answers_always() {
        return Ok(false);
    }
    let silence = gate
        .fleet
        .timing
        .scaled(case.pack.rules.say_again_after(key));
    Ok(!silence.is_zero()
        && tx
            .said_within(case.party.conversation_id, key.as_str(), silence)
            .await?)
}

pub(crate) fn render(case: &Case<'_>, key: TextKey) -> String {
    let key = key.on(case.text.channel());
    let language = match &case.decision.verdict {
        Verdict::Guardrail(hit) => hit.safety_language.as_deref(),
        Verdict::Keyword(_) | Verdict::Pass => None,
    };
    let text = language.and_then(|language| case.pack.say_safety(key, language, &case.config));
    text.unwrap_or_else(|| case.pack.say(key, case.language(), &case.config))
}

/// Queues the answer, and closes the guest's text as answered by it.
pub(crate) async fn queue(
    gate: &Gate,
    tx: &mut Tx,
    case: &Case<'_>,
    key: TextKey,
    body: String,
) -> Result<(Next, OutboundId), Error> {
    let (next, outbound_id) = queue_text(gate, tx, case, key, body).await?;
    tx.close_inbound(
        case.inbound_id,
        Disposition::Canned,
        Some(outbound_id.0),
        Some(key.as_str()),
    )
    .await?;
    metrics()
        .inbound
        .with_label_values(&[tx.casino().as_str(), case.verdict(), key.as_str()])
        .inc();
    Ok((next, outbound_id))
}

/// Queues a text in addition to the answer to the guest's text.
pub(crate) async fn queue_text(
    gate: &Gate,
    tx: &mut Tx,
    case: &Case<'_>,
    key: TextKey,
    body: String,
) -> Result<(Next, OutboundId), Error> {
    let outbound_id: OutboundId = gate.fleet.ids.next();
    let (class, rules) = (case.pack.texts.class(key), &case.pack.rules);
    let useful_for = match class {
        MessageClass::OptOutConfirmation => rules.opt_out_confirmation(),
        // Help is useful even when it is late, so it stays valid for longer than a confirmation.
        MessageClass::Crisis | MessageClass::Emergency => rules.answer_to_a_cry(),
        _ => rules.usefulness(),
    };
    let origin = Origin::Canned {
        inbound: case.inbound_id,
        key: key.as_str(),
    };
    let text = NewOutbound::new(
        outbound_id,
        case.party.recipient(),
        origin,
        class,
        body,
        useful_for,
    )
    .agent("gate")
    .answers_at(Some(case.text.received_at))
    .trace(&case.trace);
    let queued = tx.queue(&text).await?;
    Ok((Next::send(queued.into_iter().collect()), outbound_id))
}

/// Answers, unless Telnyx did. If it is too late to answer, confirms only an opt-out. If a backup
/// was restored after the text, does not answer, because the record of our answer may be lost.
pub(crate) async fn answer_unless_provider_did(
    gate: &Gate,
    tx: &mut Tx,
    case: &Case<'_>,
    key: TextKey,
) -> Result<Next, Error> {
    if case.text.autoresponse.is_some() {
        close(tx, case, "provider_answered").await
    } else if case.text.is_of_before_a_restore()
        || (key != TextKey::OptOutConfirmation && is_late(gate, case))
    {
        close(tx, case, "stale").await
    } else {
        canned(gate, tx, case, key).await
    }
}

/// Answers, unless the guest has opted out: such a guest gets nothing but safety texts.
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
    tx.close_inbound(case.inbound_id, Disposition::Closed, None, Some(reason))
        .await?;
    metrics()
        .inbound
        .with_label_values(&[tx.casino().as_str(), case.verdict(), reason])
        .inc();
    Ok(Next::nothing())
}

/// Returns whether an answer would come too late to be useful. Also returns true if a backup was
/// restored after the text: the record of our first answer may be lost, and a second one must not
/// be sent.
pub(crate) fn is_late(gate: &Gate, case: &Case<'_>) -> bool {
    let came = if case.text.is_recovered() {
        case.text.occurred_at
    } else {
        case.text.received_at
    };
    let age = gate.fleet.clock.now() - came;
    case.text.is_of_before_a_restore()
        || age
            .to_std()
            .is_ok_and(|age| age > case.pack.rules.usefulness())
}

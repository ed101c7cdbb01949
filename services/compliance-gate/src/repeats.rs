//! Handles repeated texts: a copy of a text under a new id, and a machine that answers each of our
//! texts.

use chrono::TimeDelta;
use seven_compliance::dialogue;
use seven_domain::Disposition;
use seven_packs::TextKey;
use seven_runtime::Error;
use seven_store::{Tx, inbound::Earlier};

use crate::{
    canned,
    types::{Case, Gate, Next},
};

/// Maximum time between a text and its copy.
const COPY_WINDOW: TimeDelta = TimeDelta::seconds(60);
/// Maximum time in which a machine answers one of our texts. A slower answer is taken for a
/// person's.
const RESPONDER_WINDOW: TimeDelta = TimeDelta::seconds(10);
/// How far back the guest's texts are compared when a machine seems to answer ours.
const EXCHANGE_WINDOW: TimeDelta = TimeDelta::minutes(2);
/// After this many nearly identical texts in a row, the sender counts as a machine.
const RESPONDER_TEXTS: usize = 3;
/// A text with fewer words counts as a person's, because a person may say "ok thanks" three times.
const LEAST_WORDS: usize = 6;

/// Returns whether the guest sent the same text within the last minute, and we have sent nothing
/// since.
pub(crate) async fn is_copy(tx: &mut Tx, case: &Case<'_>) -> Result<bool, Error> {
    let earlier = earlier(tx, case, COPY_WINDOW).await?;
    Ok(earlier
        .iter()
        .any(|earlier| is_same(earlier, case) && !earlier.sent_since))
}

/// Returns whether a cry for help is a copy. A cry is answered at once, so a copy may come after
/// the answer.
pub(crate) async fn is_copy_of_cry(tx: &mut Tx, case: &Case<'_>) -> Result<bool, Error> {
    let earlier = earlier(tx, case, COPY_WINDOW).await?;
    Ok(earlier
        .iter()
        .any(|earlier| is_same(earlier, case) && earlier.disposition == Disposition::Canned))
}

/// Sends one notice to a machine that answers each of our texts, then nothing while it repeats
/// itself.
pub(crate) async fn auto_responder(
    gate: &Gate,
    tx: &mut Tx,
    case: &Case<'_>,
) -> Result<Option<Next>, Error> {
    let body = &case.text.body;
    if body.split_whitespace().count() < LEAST_WORDS || dialogue::asks(body) {
        return Ok(None);
    }
    let earlier = earlier(tx, case, EXCHANGE_WINDOW).await?;
    let alike: Vec<&Earlier> = earlier
        .iter()
        .take_while(|earlier| dialogue::near_identical(&earlier.body, body))
        .collect();
    let told = TextKey::AutoResponder.as_str();
    if alike.iter().any(|earlier| {
        matches!(
            earlier.reason.as_deref(),
            Some(reason) if reason == told || reason == "machine"
        )
    }) {
        return canned::close(tx, case, "machine").await.map(Some);
    }
    let answered_ours =
        |after: Option<f64>| after.is_some_and(|after| after <= RESPONDER_WINDOW.as_seconds_f64());
    let since_ours = tx
        .seconds_since_ours(case.party.conversation_id, case.text.received_at)
        .await?;
    let machine = alike.len() + 1 >= RESPONDER_TEXTS
        && answered_ours(since_ours)
        && alike[..RESPONDER_TEXTS - 1]
            .iter()
            .all(|earlier| answered_ours(earlier.after_ours));
    if !machine {
        return Ok(None);
    }
    tracing::info!(
        casino = %tx.casino(),
        inbound_id = %case.inbound_id,
        trace = case.trace,
        "an auto-responder answers our texts; it gets no more answers"
    );
    canned::canned(gate, tx, case, TextKey::AutoResponder)
        .await
        .map(Some)
}

/// Returns the texts that the guest wrote at most `within` before this text, the newest first. If
/// the guest wrote nothing in that time, no query is made.
async fn earlier(tx: &mut Tx, case: &Case<'_>, within: TimeDelta) -> Result<Vec<Earlier>, Error> {
    let at = case.text.received_at;
    if case
        .party
        .last_inbound_at
        .is_none_or(|last| at - last > within)
    {
        return Ok(Vec::new());
    }
    let since = at - within;
    Ok(tx
        .earlier_texts(case.party.conversation_id, case.inbound_id, since)
        .await?)
}

fn is_same(earlier: &Earlier, case: &Case<'_>) -> bool {
    earlier.disposition != Disposition::Closed
        && dialogue::folded(&earlier.body) == dialogue::folded(&case.text.body)
}

//! Handles a guest who writes to a number that the casino gave up (D40). The answer comes from the
//! present number, and one notice explains this.

use seven_compliance::Intent;
use seven_packs::TextKey;
use seven_runtime::Error;
use seven_store::Tx;

use crate::{
    canned,
    types::{Case, Gate, Next},
};

/// Queues the notice, once per guest and number, if the text gets an answer. After a STOP or a cry
/// for help, the notice waits for a later text.
pub(crate) async fn tell_of_change(
    gate: &Gate,
    tx: &mut Tx,
    case: &Case<'_>,
    answer: &Next,
) -> Result<Next, Error> {
    let number = case.text.to.as_ref();
    let retired = number.is_some_and(|number| case.config.operational.owner_of(number).is_none());
    let stop = case
        .decision
        .keyword
        .is_some_and(|keyword| keyword.intent == Intent::OptOut);
    let cry = case.decision.hits.iter().any(|hit| hit.layer.is_urgent());
    if !retired || stop || cry || case.party.stopped || answer.is_silence() {
        return Ok(Next::nothing());
    }
    if !tx.tell_of_change(case.party.conversation_id).await? {
        return Ok(Next::nothing());
    }
    let body = canned::render(case, TextKey::NumberChanged);
    canned::queue_text(gate, tx, case, TextKey::NumberChanged, body)
        .await
        .map(|(next, _)| next)
}

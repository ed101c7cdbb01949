//! Handles a text that only resembles an opt-out or a cry for help (D20). A likely opt-out is
//! answered by a question. A likely cry is answered as usual. In addition, the guest gets one
//! sentence with the helpline, and a case is opened.

use seven_compliance::{Intent, Keyword, Layer, Likely, LikelyKind, dialogue};
use seven_domain::AuditEvent;
use seven_packs::TextKey;
use seven_runtime::Error;
use seven_store::{Tx, audit::Entry};
use seven_telemetry::metrics;

use crate::{
    canned, cries, keywords,
    types::{Case, Gate, Next},
};

/// The keyword for a yes, in whatever words, to our question "should we stop texting you?"
pub(crate) const ASKED: Keyword = Keyword {
    intent: Intent::OptOut,
    pattern_id: "optout.nl.asked",
    language: None,
};

/// Writes the audit entry of a likely opt-out or cry, and opens the case of a likely cry. Returns
/// true if the guest has not been told about the helpline yet.
pub(crate) async fn note_likely(gate: &Gate, tx: &mut Tx, case: &Case<'_>) -> Result<bool, Error> {
    let Some(Likely { kind, margin }) = case.decision.likely else {
        return Ok(false);
    };
    let (what, pattern_id) = (kind.as_str(), format!("likely.{}", kind.as_str()));
    metrics()
        .guardrails
        .with_label_values(&[what, pattern_id.as_str(), "any"])
        .inc();
    tx.audit(&Entry {
        event: AuditEvent::GuardrailTriggered,
        actor: "compliance-gate",
        subject: &case.inbound_id.to_string(),
        guest: Some(&case.guest),
        detail: serde_json::json!({
            "layer": what, "pattern_id": pattern_id, "verdict": case.verdict(), "band": "likely",
            "margin": margin,
        }),
        trace: Some(&case.trace),
    })
    .await?;
    let LikelyKind::Cry(layer) = kind else {
        return Ok(false);
    };
    tx.note_cry(case.party.conversation_id, case.text.received_at)
        .await?;
    let severity = cries::severity_when_likely(layer);
    let opened = cries::open_case(gate, tx, case, severity, reason(layer), &pattern_id).await?;
    tracing::warn!(
        casino = %tx.casino(),
        inbound_id = %case.inbound_id,
        layer = what,
        opened,
        trace = case.trace,
        "a text resembles an urgent text"
    );
    Ok(opened)
}

/// Queues one sentence with the helpline, in addition to the answer to the text.
pub(crate) async fn name_the_line(
    gate: &Gate,
    tx: &mut Tx,
    case: &Case<'_>,
) -> Result<Next, Error> {
    let Some(Likely {
        kind: LikelyKind::Cry(layer),
        ..
    }) = case.decision.likely
    else {
        return Ok(Next::nothing());
    };
    let Some(key) = TextKey::line_of(layer).filter(|key| case.pack.texts.has(*key)) else {
        return Ok(Next::nothing());
    };
    let body = canned::render(case, key);
    canned::queue_text(gate, tx, case, key, body)
        .await
        .map(|(next, _)| next)
}

/// Asks once whether to stop texting the guest. No unsolicited text is sent until the guest
/// answers.
pub(crate) async fn ask(gate: &Gate, tx: &mut Tx, case: &Case<'_>) -> Result<Next, Error> {
    canned::canned(gate, tx, case, TextKey::OptOutQuestion).await
}

/// Handles the answer to the question of [`ask`], while that question is our last text. A yes or a
/// second likely opt-out stops our texts; a no keeps them. Any other text is conversation.
pub(crate) async fn answer_to_question(
    gate: &Gate,
    tx: &mut Tx,
    case: &Case<'_>,
) -> Result<Option<Next>, Error> {
    if !case.party.asked {
        return Ok(None);
    }
    let last = tx.last_said(case.party.conversation_id).await?;
    if last.as_deref() != Some(TextKey::OptOutQuestion.as_str()) {
        return Ok(None);
    }
    let likely = case
        .decision
        .likely
        .is_some_and(|likely| likely.kind == LikelyKind::OptOut);
    match dialogue::yes_or_no(&case.text.body) {
        Some(false) => {
            tx.keep_texts(&case.guest).await?;
            canned::canned(gate, tx, case, TextKey::OptOutDeclined)
                .await
                .map(Some)
        }
        Some(true) => keywords::keyword(gate, tx, case, &ASKED).await,
        None if likely => keywords::keyword(gate, tx, case, &ASKED).await,
        None => Ok(None),
    }
}

/// Returns the reason of the case. It differs from the reason for a certain cry, so that a
/// conversation may have both cases open.
fn reason(layer: Layer) -> &'static str {
    match layer {
        Layer::Crisis => "likely_crisis",
        Layer::Emergency => "likely_emergency",
        _ => "likely_responsible_gaming",
    }
}

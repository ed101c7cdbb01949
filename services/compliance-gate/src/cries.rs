//! Handles a text that matches a guardrail: writes the audit entry, opens the case for a person,
//! and answers.

use seven_compliance::{Hit, Layer};
use seven_domain::AuditEvent;
use seven_guest::escalation::{self, CASE_PAUSE, Origin, Severity};
use seven_packs::TextKey;
use seven_runtime::{Error, counted};
use seven_store::{Tx, audit::Entry, escalations::NewEscalation};
use seven_telemetry::metrics;

use crate::{
    canned, repeats,
    types::{Case, Gate, Next},
};

/// Writes an audit entry for every layer of guardrails that the text matches. Opens a case if a
/// person has to look at the text. Done for every text, however it is answered.
pub(crate) async fn note_hits(gate: &Gate, tx: &mut Tx, case: &Case<'_>) -> Result<(), Error> {
    let mut noted = Vec::new();
    for hit in &case.decision.hits {
        let language = hit.language.map_or("any", seven_domain::Language::as_str);
        metrics()
            .guardrails
            .with_label_values(&[hit.layer.as_str(), hit.pattern_id.as_str(), language])
            .inc();
        if noted.contains(&hit.layer) {
            continue;
        }
        noted.push(hit.layer);
        note(gate, tx, case, hit).await?;
    }
    Ok(())
}

async fn note(gate: &Gate, tx: &mut Tx, case: &Case<'_>, hit: &Hit) -> Result<(), Error> {
    let subject = case.inbound_id.to_string();
    let layer = hit.layer.as_str();
    // Logged so that people can review the guardrails' decisions.
    tracing::info!(
        casino = %tx.casino(),
        layer,
        guardrail = hit.pattern_id,
        triggered = true,
        guest_phone_hash = case.guest.tag(),
        inbound_id = subject,
        "guardrail hit"
    );
    tx.audit(&Entry {
        event: AuditEvent::GuardrailTriggered,
        actor: "compliance-gate",
        subject: &subject,
        guest: Some(&case.guest),
        detail: serde_json::json!({
            "layer": layer,
            "pattern_id": hit.pattern_id,
            "verdict": case.verdict(),
        }),
        trace: Some(&case.trace),
    })
    .await?;
    if hit.layer == Layer::ResponsibleGaming {
        tx.mark_responsible_gaming(case.party.guest_id).await?;
    }
    let Some(grave) = severity(hit) else {
        return Ok(());
    };
    let severity = grave.as_str();
    tracing::error!(
        casino = %tx.casino(),
        inbound_id = %case.inbound_id,
        severity,
        layer,
        pattern_id = hit.pattern_id,
        trace = case.trace,
        "a person has to look at this"
    );
    open_case(gate, tx, case, grave, layer, &hit.pattern_id).await?;
    Ok(())
}

/// Opens a case about the text. Returns false if the conversation has an open case for this reason;
/// that case then counts the text as a repeat.
pub(crate) async fn open_case(
    gate: &Gate,
    tx: &mut Tx,
    case: &Case<'_>,
    severity: Severity,
    reason: &str,
    pattern_id: &str,
) -> Result<bool, Error> {
    let opened = NewEscalation {
        escalation_id: gate.fleet.ids.uuid(),
        conversation_id: Some(case.party.conversation_id),
        guest_id: Some(case.party.guest_id),
        guest: Some(&case.guest),
        inbound_id: Some(case.inbound_id),
        severity,
        source: Origin::Guardrail,
        reason,
        pattern_id: Some(pattern_id),
        subject: "",
        detail: None,
        ack_seconds: escalation::sla(severity).ack_seconds,
        respond_minutes: escalation::sla(severity).respond_minutes,
        actor: "compliance-gate",
        trace: Some(&case.trace),
    };
    Ok(counted::open_case(tx, &opened).await?)
}

/// Cancels unsent replies and answers a cry for help, whatever other rules say (D4). If a life is
/// in danger, the host pauses and a person takes over. The gate answers further cries all the same.
pub(crate) async fn cry(
    gate: &Gate,
    tx: &mut Tx,
    case: &Case<'_>,
    layer: Layer,
) -> Result<Next, Error> {
    let conversation = case.party.conversation_id;
    tx.note_cry(conversation, case.text.received_at).await?;
    if repeats::is_copy_of_cry(tx, case).await? {
        return canned::close(tx, case, "repeated").await;
    }
    tx.cancel_unsent(conversation, "guest_cried_for_help")
        .await?;
    tx.close_open_texts(conversation, case.inbound_id, "superseded_by_cry_for_help")
        .await?;
    if matches!(layer, Layer::Crisis | Layer::Emergency) {
        let span = gate
            .fleet
            .timing
            .scaled(CASE_PAUSE.to_std().unwrap_or_default());
        tx.pause(conversation, "guest_safety", Some(span)).await?;
    }
    if matches!(layer, Layer::Crisis | Layer::Emergency) && canned::is_late(gate, case) {
        return canned::canned(gate, tx, case, TextKey::LateCry).await;
    }
    let answer = canned::canned(gate, tx, case, TextKey::answer_to(layer)).await?;
    // A text with two different cries for help gets both answers.
    let other = case
        .decision
        .hits
        .iter()
        .map(|hit| hit.layer)
        .find(|other| other.is_urgent() && !layer.serves(*other));
    let Some(key) = other.map(TextKey::answer_to) else {
        return Ok(answer);
    };
    if canned::was_said_just_now(gate, tx, case, key).await? {
        return Ok(answer);
    }
    let body = canned::render(case, key);
    let (second, _) = canned::queue_text(gate, tx, case, key, body).await?;
    Ok(answer.and(second))
}

/// Returns the severity of the case for a hit; `None` if the hit opens no case.
fn severity(hit: &Hit) -> Option<Severity> {
    match hit.layer {
        // A hit by likeness alone must not wake anybody up.
        Layer::BsaAml if hit.is_by_likeness() => Some(Severity::Sev2),
        Layer::Crisis | Layer::Emergency | Layer::BsaAml => Some(Severity::Sev0),
        Layer::ResponsibleGaming => Some(Severity::Sev1),
        Layer::Pii => Some(Severity::Sev2),
        Layer::PromptInjection
        | Layer::PatronPrivacy
        | Layer::AgeVerification
        | Layer::Identity
        | Layer::Abuse => None,
    }
}

/// Returns the severity of the case for a text that only resembles a cry. It is one step below that
/// of a certain cry.
pub(crate) fn severity_when_likely(layer: Layer) -> Severity {
    if layer == Layer::ResponsibleGaming {
        Severity::Sev2
    } else {
        Severity::Sev1
    }
}

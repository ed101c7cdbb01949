//! Carries out keywords (D7): the effect, the one answer and the consent entry, in one transaction.

use seven_domain::{ConsentTier, PromptState, SuppressionState};
use std::time::Duration;

use seven_compliance::{Intent, Keyword, chain::Action, opt_out_reason};
use seven_packs::TextKey;
use seven_runtime::{Error, counted};
use seven_store::{
    Tx,
    consent::{Consent, method},
    due::DueKind,
    suppressions::Applied,
};
use seven_telemetry::metrics;

use crate::{
    canned, mutant, privacy,
    types::{Case, Gate, Next},
};

/// Carries out the keyword; returns `None` if the text goes on to the host like any other.
pub(crate) async fn keyword(
    gate: &Gate,
    tx: &mut Tx,
    case: &Case<'_>,
    keyword: &Keyword,
) -> Result<Option<Next>, Error> {
    Ok(match keyword.intent {
        Intent::OptOut if !case.text.profile().commands => {
            Some(canned::canned(gate, tx, case, TextKey::WebStop).await?)
        }
        Intent::OptOut => Some(opt_out(gate, tx, case, keyword).await?),
        Intent::OptIn => opt_in(gate, tx, case, keyword).await?,
        Intent::Help => {
            Some(canned::answer_unless_provider_did(gate, tx, case, TextKey::Help).await?)
        }
        Intent::Privacy => {
            Some(canned::answer_unless_stopped(gate, tx, case, TextKey::Privacy).await?)
        }
        Intent::Delete => Some(privacy::delete(gate, tx, case).await?),
        Intent::Affirm => yes(gate, tx, case).await?,
    })
}

async fn opt_out(
    gate: &Gate,
    tx: &mut Tx,
    case: &Case<'_>,
    keyword: &Keyword,
) -> Result<Next, Error> {
    let (at, event) = (case.text.occurred_at, &case.text.event_id);
    match tx
        .stop(&case.guest, at, event, case.word_of(keyword))
        .await?
    {
        Applied::Superseded => {
            late_opt_out(gate, tx, case, keyword).await?;
            canned::close(tx, case, "overtaken_by_newer_word").await
        }
        Applied::Repeat => {
            metrics().stop_duplicates.inc();
            canned::close(tx, case, "opt_out_repeated").await
        }
        Applied::Changed => {
            let conversation = case.party.conversation_id;
            let drained = tx.cancel_unsent(conversation, "guest_opted_out").await?;
            metrics().stop_cancelled.inc_by(drained);
            tx.close_open_texts(conversation, case.inbound_id, "superseded_by_opt_out")
                .await?;
            tx.close_prompts(case.party.guest_id, PromptState::Declined)
                .await?;
            let evidence = serde_json::json!({
                "keyword": keyword.pattern_id, "inbound_id": case.inbound_id,
                "texts_cancelled": drained,
                "answered_by_provider": case.text.autoresponse.is_some(),
                "reason": opt_out_reason(&case.text.body),
                "scope": case.config.revocation_scope(case.text.occurred_at).as_str(),
            });
            consent(
                gate,
                tx,
                case,
                Action::Revoked,
                case.word_of(keyword).method,
                ConsentTier::None,
                evidence,
            )
            .await?;
            tx.put_due(DueKind::StopReach, case.inbound_id.0, Duration::ZERO)
                .await?;
            measure_stop(gate, case);
            canned::answer_unless_provider_did(gate, tx, case, TextKey::OptOutConfirmation).await
        }
    }
}

/// Handles a STOP that was written before a START but arrives after it. Texts continue, but
/// marketing consent from before the STOP ends, as if both had arrived in order (D7).
async fn late_opt_out(
    gate: &Gate,
    tx: &mut Tx,
    case: &Case<'_>,
    keyword: &Keyword,
) -> Result<(), Error> {
    let Some(standing) = tx.consent_standing(&case.guest).await? else {
        return Ok(());
    };
    let given_before = standing
        .consent_at
        .is_some_and(|given| given <= case.text.occurred_at);
    if standing.consent_tier >= ConsentTier::Informational && given_before {
        let evidence = serde_json::json!({
            "keyword": keyword.pattern_id,
            "inbound_id": case.inbound_id,
            "came_late": true,
        });
        consent(
            gate,
            tx,
            case,
            Action::Revoked,
            case.word_of(keyword).method,
            ConsentTier::Transactional,
            evidence,
        )
        .await?;
    }
    Ok(())
}

/// Measures the time from receiving the text to its consent entry, which is about to be committed.
fn measure_stop(gate: &Gate, case: &Case<'_>) {
    let seconds = (gate.fleet.clock.now() - case.text.received_at)
        .as_seconds_f64()
        .max(0.0);
    metrics()
        .stop_seconds
        .with_label_values(&["consent"])
        .observe(seconds);
}

async fn opt_in(
    gate: &Gate,
    tx: &mut Tx,
    case: &Case<'_>,
    keyword: &Keyword,
) -> Result<Option<Next>, Error> {
    let at = if mutant::starts_from_now() {
        gate.fleet.clock.now()
    } else {
        case.text.occurred_at
    };
    let before = tx.suppression(&case.guest).await?;
    let was_stopped = before
        .as_ref()
        .is_some_and(|s| s.state == SuppressionState::Stopped);
    let was_asked = before.is_some_and(|s| s.asked_at.is_some());
    // If the guest already gets our texts, "I want your texts again" is ordinary conversation.
    if !was_stopped && !was_asked && keyword.pattern_id.contains(".nl.") {
        return Ok(None);
    }
    let word = case.word_of(keyword);
    let next = match tx.start(&case.guest, at, &case.text.event_id, word).await? {
        Applied::Superseded => canned::close(tx, case, "overtaken_by_newer_word").await,
        Applied::Changed if was_stopped => {
            // Marketing texts stay off until the guest gives written consent again.
            let evidence =
                serde_json::json!({ "keyword": keyword.pattern_id, "inbound_id": case.inbound_id });
            consent(
                gate,
                tx,
                case,
                Action::Granted,
                word.method,
                ConsentTier::Transactional,
                evidence,
            )
            .await?;
            metrics()
                .guests
                .opt_ins
                .with_label_values(&[tx.casino().as_str(), word.method])
                .inc();
            gate.fleet.cache.lift(tx.casino(), &case.guest, at).await;
            canned::answer_unless_provider_did(gate, tx, case, TextKey::OptInConfirmation).await
        }
        Applied::Changed | Applied::Repeat if was_asked => {
            canned::answer_unless_provider_did(gate, tx, case, TextKey::OptInConfirmation).await
        }
        // The guest already gets our texts here, so a START or SUBSCRIBE can only ask for our
        // offers.
        Applied::Changed | Applied::Repeat if case.party.consent_tier == ConsentTier::Marketing => {
            canned::close(tx, case, "opt_in_repeated").await
        }
        Applied::Changed | Applied::Repeat => ask_for_consent(gate, tx, case).await,
    };
    next.map(Some)
}

/// Sends the full consent question and stores its wording and hash as evidence. A YES to it is
/// written consent.
async fn ask_for_consent(gate: &Gate, tx: &mut Tx, case: &Case<'_>) -> Result<Next, Error> {
    if case.text.autoresponse.is_some() {
        return canned::close(tx, case, "provider_answered").await;
    }
    if canned::is_late(gate, case) {
        return canned::close(tx, case, "stale").await;
    }
    if canned::was_said_just_now(gate, tx, case, TextKey::ConsentPrompt).await? {
        return canned::close(tx, case, "answered_recently").await;
    }
    let wording = canned::render(case, TextKey::ConsentPrompt);
    let (next, outbound) =
        canned::queue(gate, tx, case, TextKey::ConsentPrompt, wording.clone()).await?;
    let prompt = seven_store::prompts::Prompt {
        outbound_id: outbound.0,
        tier: ConsentTier::Marketing,
        wording_hash: seven_compliance::chain::hash(&wording),
        wording,
    };
    let open_for = Duration::from_secs(u64::from(case.pack.rules.consent.prompt_hours) * 3600);
    tx.put_prompt(outbound, case.party.guest_id, &prompt, open_for)
        .await?;
    Ok(next)
}

/// Records a YES as consent, but only while the question that it answers is our last text.
/// Otherwise the YES is ordinary conversation.
async fn yes(gate: &Gate, tx: &mut Tx, case: &Case<'_>) -> Result<Option<Next>, Error> {
    if tx.is_stopped(&case.guest).await? {
        return Ok(None);
    }
    let Some(prompt) = tx
        .pending_prompt(case.party.guest_id, case.text.occurred_at)
        .await?
    else {
        return Ok(None);
    };
    let evidence = serde_json::json!({
        "consent_type": "express_written", "opt_in_raw_text": case.text.body,
        "prompted_by_message_id": prompt.outbound_id,
        "wording": prompt.wording, "wording_hash": prompt.wording_hash,
        "inbound_id": case.inbound_id, "ip_address": null,
    });
    consent(
        gate,
        tx,
        case,
        Action::Granted,
        method::WRITTEN_YES,
        prompt.tier,
        evidence,
    )
    .await?;
    tx.close_prompts(case.party.guest_id, PromptState::Granted)
        .await?;
    Ok(Some(
        canned::canned(gate, tx, case, TextKey::ConsentGranted).await?,
    ))
}

async fn consent(
    gate: &Gate,
    tx: &mut Tx,
    case: &Case<'_>,
    action: Action,
    method: &str,
    tier: ConsentTier,
    evidence: serde_json::Value,
) -> Result<(), Error> {
    let change = Consent {
        guest: &case.guest,
        guest_id: Some(case.party.guest_id),
        action,
        method,
        tier,
        at: case.text.occurred_at,
        evidence,
        actor: "compliance-gate",
        trace: Some(&case.trace),
    };
    Ok(counted::record_consent(tx, &change, &gate.fleet.keys).await?)
}

//! Takeover by a person (SEC-33, SEC-34, SEC-104, SEC-109, CONV-42, CONV-44): the case, the text
//! that the guest gets, and the pause after it.

use std::time::Duration;

use seven_bus::Outcome;
use seven_domain::{AuditEvent, InboundId, Language};
use seven_guest::{
    Session,
    escalation::{self, Facts, PAUSE, Promise, Trigger},
};
use seven_host::{Ending, Record};
use seven_llm::Reply;
use seven_packs::TextKey;
use seven_runtime::{Error, counted};
use seven_store::{Tx, audit::Entry, escalations::NewEscalation};
use uuid::Uuid;

use crate::{
    fallback,
    speech::Speech,
    types::{Swarm, Work},
};

/// Intent of the text that says that a person will write.
pub(crate) const ESCALATION: &str = "escalation";
/// The only reason for a case that a guest can withdraw with a word.
const ASKS: &str = "asks_for_human";

/// Returns the holding text for a guest who asks for a person; no model is asked then.
pub(crate) fn hand_over(swarm: &Swarm, work: &Work, triggers: &[Trigger]) -> Option<Speech> {
    let case = triggers.iter().find(|case| case.takes_over)?;
    let texts: Vec<String> = work.open.iter().map(|text| text.body.clone()).collect();
    let stored = work.lease.language.as_deref().and_then(|language| language.parse().ok());
    Some(holding(swarm, work, case, work.model.language(&texts, stored), None))
}

/// Returns all cases of this turn for a person to look at, the gravest first: those from the
/// guest's words, and those from the counters of `session`, which includes the turn already.
pub(crate) fn cases(work: &Work, session: &Session, triggers: Vec<Trigger>) -> Vec<Trigger> {
    let counts = &session.counts;
    let facts = Facts {
        negative_in_row: counts.negative_in_row,
        fallbacks_in_row: counts.fallbacks_in_row,
        unanswered_in_row: counts.unanswered_in_row,
        validation_failures_in_session: counts.validation_failures,
        circles: counts.circles,
        ..facts(work, "")
    };
    let mut found = triggers;
    found.extend(escalation::triggers(&facts));
    found.sort_by_key(|case| (case.severity, case.reason));
    found.dedup_by_key(|case| case.reason);
    found
}

/// Builds the reply that says that a person will write. It replaces the reply in `instead`, whose
/// record is kept.
pub(crate) fn holding(
    swarm: &Swarm,
    work: &Work,
    case: &Trigger,
    language: Language,
    instead: Option<Speech>,
) -> Speech {
    let key = match promise(swarm, work) {
        Promise::Shortly => TextKey::EscalatedShortly,
        Promise::WithinHours => TextKey::EscalatedHours,
        Promise::Tomorrow => TextKey::EscalatedTomorrow,
    };
    let reply = Reply {
        text: work.pack.say(key, language, &work.config),
        language,
        sources: Vec::new(),
        intent: ESCALATION.to_owned(),
        grounded: true,
        asked: None,
        usage: instead.as_ref().map(|speech| speech.reply.usage).unwrap_or_default(),
    };
    // The effects of the replaced reply are dropped, because the guest does not read it.
    let (agent, model, mut record, offer_calls) = instead.map_or_else(
        || (work.pack.agents.default_agent.clone(), "pack".to_owned(), Record::default(), Vec::new()),
        |speech| (speech.agent, speech.model, speech.record, speech.offer_calls),
    );
    record.path.extend([ESCALATION.to_owned(), case.reason.to_owned()]);
    // The findings are about the replaced reply, not about the text that goes out.
    record.findings.clear();
    record.ending = Some(Ending::Reply);
    Speech { reply, agent, model, record, effects: Vec::new(), offer_calls }
}

/// Opens the cases, unless one for the same reason is open already. Pauses the conversation where a
/// case means a takeover.
pub(crate) async fn open_cases(swarm: &Swarm, tx: &mut Tx, work: &Work, cases: &[Trigger]) -> Result<(), Error> {
    let Some(newest) = work.open.last().filter(|_| !cases.is_empty()) else { return Ok(()) };
    let guest = tx.hash_of(work.lease.guest_id).await?;
    let promise = promise(swarm, work);
    for case in cases {
        let new = NewEscalation {
            escalation_id: swarm.fleet.ids.uuid(),
            conversation_id: Some(work.lease.conversation_id),
            guest_id: Some(work.lease.guest_id),
            guest: guest.as_ref(),
            inbound_id: Some(InboundId(newest.inbound_id)),
            severity: case.severity.as_str(),
            source: case.origin.as_str(),
            reason: case.reason,
            pattern_id: None,
            ack_seconds: case.severity.sla().ack_seconds,
            respond_minutes: case.severity.respond_minutes(promise),
            actor: "agent-swarm",
            trace: Some(&work.trace),
        };
        let opened = counted::open_case(tx, &new).await?;
        if opened {
            let severity = case.severity.as_str();
            tracing::warn!(casino = %work.casino, conversation_id = %work.lease.conversation_id, severity, reason = case.reason, trace = work.trace, "a person has to look at this");
        }
    }
    if let Some(case) = cases.iter().find(|case| case.takes_over) {
        tx.pause(work.lease.conversation_id, case.reason, Some(pause(swarm))).await?;
    }
    Ok(())
}

/// Handles texts that arrive in a pause: keeps them for the person, and sends the one holding text
/// of the pause after the first of them (SEC-109).
pub(crate) async fn hold(swarm: &Swarm, work: &Work) -> Result<Outcome, Error> {
    let again = |why| Ok(Outcome::Wait { after: Duration::from_millis(50), why });
    let conversation = work.lease.conversation_id;
    let mut tx = swarm.fleet.store.bind(&work.casino).await?;
    // Takes the conversation's lock, and checks that the lease is still ours and the pause still
    // on.
    if !tx.release_lease(conversation, work.lease.epoch).await? {
        return again("epoch_moved");
    }
    let Some(paused) = tx.paused(conversation).await? else {
        tx.commit().await?;
        return again("resumed");
    };
    if paused.reason == ASKS && work.open.iter().any(|text| escalation::is_withdrawn(&text.body)) {
        withdraw(&mut tx, work).await?;
        tx.commit().await?;
        return again("guest_thought_again");
    }
    let ids: Vec<Uuid> = work.open.iter().map(|text| text.inbound_id).collect();
    let queued = match ids.last() {
        Some(newest) if tx.hold_texts(conversation, &ids).await? => {
            let stored = work.lease.language.as_deref().and_then(|language| language.parse().ok());
            let texts: Vec<String> = work.open.iter().map(|text| text.body.clone()).collect();
            let body = work.pack.say(TextKey::Holding, work.model.language(&texts, stored), &work.config);
            tx.queue(&fallback::canned(swarm, work, *newest, TextKey::Holding, body, "pause")).await?
        }
        _ => None,
    };
    tx.commit().await?;
    tracing::info!(casino = %work.casino, texts = ids.len(), told = queued.is_some(), trace = work.trace, "texts kept for a person");
    let queued: Vec<_> = queued.into_iter().collect();
    swarm.fleet.signal_queued(&work.casino, &queued, None, &work.trace).await?;
    Ok(Outcome::Done)
}

/// Ends the pause after a "never mind": the host answers again, including the texts that were kept.
async fn withdraw(tx: &mut Tx, work: &Work) -> Result<(), Error> {
    let conversation = work.lease.conversation_id;
    tx.withdraw_cases(conversation, ASKS).await?;
    tx.resume(conversation).await?;
    let guest = tx.hash_of(work.lease.guest_id).await?;
    tx.audit(&Entry {
        event: AuditEvent::ConversationResumed,
        actor: "guest",
        subject: &conversation.to_string(),
        guest: guest.as_ref(),
        detail: serde_json::json!({ "reason": ASKS }),
        trace: Some(&work.trace),
    })
    .await?;
    Ok(())
}

fn pause(swarm: &Swarm) -> Duration {
    swarm.fleet.timing.scaled(PAUSE.to_std().unwrap_or_default())
}

fn promise(swarm: &Swarm, work: &Work) -> Promise {
    // The casino's settings list no holidays.
    escalation::promise(swarm.fleet.clock.property_now(), work.config.operational.timezone, false)
}

/// Returns the cases that the words of the open texts call for. A text that a person has seen
/// already opens no case again.
pub(crate) fn triggers(work: &Work) -> Vec<Trigger> {
    let fresh = || work.open.iter().filter(|text| !text.released);
    let mut found: Vec<Trigger> = fresh().flat_map(|text| escalation::triggers(&facts(work, &text.body))).collect();
    if fresh().any(|text| escalation::is_withdrawn(&text.body)) {
        found.retain(|case| case.reason != ASKS);
    }
    found.sort_by_key(|case| (case.severity, case.reason));
    found.dedup_by_key(|case| case.reason);
    found
}

fn facts<'a>(work: &Work, text: &'a str) -> Facts<'a> {
    Facts {
        text,
        frustrated_in_row: work.recall.session.counts.frustrated_in_row,
        recent_cases: u32::try_from(work.recall.place.recent_cases).unwrap_or(u32::MAX),
        ..Facts::default()
    }
}

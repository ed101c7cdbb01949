//! Begins a takeover by a person: opens the case, writes the text that the guest gets, and pauses
//! the host.

use std::time::Duration;

use seven_bus::Outcome;
use seven_domain::{AuditEvent, InboundId, Language};
use seven_guest::{
    Session,
    escalation::{self, Facts, Origin, Promise, Severity, Trigger},
};
use seven_host::{Ending, Record};
use seven_llm::{Reply, StaffKind, StaffRequest};
use seven_packs::TextKey;
use seven_runtime::{Error, counted};
use seven_store::{Tx, audit::Entry, escalations::NewEscalation};
use uuid::Uuid;

use crate::{
    agent_reply::AgentReply,
    fallback,
    types::{Swarm, Work},
};

/// The intent of the text that says that a person will write.
pub(crate) const ESCALATION: &str = "escalation";
/// The reason of a case that the guest can withdraw by saying "never mind".
const ASKS: &str = "asks_for_human";
/// Minimum time between two holding texts of one pause, on channels with tickets.
const HOLDING_AGAIN: Duration = Duration::from_secs(1_800);

/// If the guest's texts call for a takeover, returns the text that says that a person will write.
/// No model is then asked.
pub(crate) fn hand_over(swarm: &Swarm, work: &Work, triggers: &[Trigger]) -> Option<AgentReply> {
    let case = triggers.iter().find(|case| case.takes_over)?;
    let texts: Vec<String> = work.open.iter().map(|text| text.body.clone()).collect();
    let stored = work.lease.language;
    Some(holding(
        swarm,
        work,
        case,
        work.model.language(&texts, stored),
        None,
    ))
}

/// Returns all cases of this turn, the most severe first. `triggers` are the cases that the guest's
/// words call for. The counters of `session` may call for more; they already include this turn.
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

/// On channels with tickets, returns a case if the host is not sure of its reply. Then a person
/// answers instead, and the guest sees no draft.
pub(crate) fn unsure(work: &Work, reply: &AgentReply, cases: &[Trigger]) -> Option<Trigger> {
    let taken = cases.iter().any(|case| case.takes_over);
    let sure = reply.confidence() >= work.pack.rules.least_confidence;
    (work.lease.channel.profile().tickets && !taken && !sure).then_some(Trigger {
        reason: "low_confidence",
        severity: Severity::Sev2,
        origin: Origin::ValidationFailure,
        takes_over: true,
    })
}

/// Builds the reply that says that a person will write. It replaces `instead`, whose record is
/// kept.
pub(crate) fn holding(
    swarm: &Swarm,
    work: &Work,
    case: &Trigger,
    language: Language,
    instead: Option<AgentReply>,
) -> AgentReply {
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
        state: work.history.session.dialogue.clone(),
        staff: Vec::new(),
        usage: instead
            .as_ref()
            .map(|agent_reply| agent_reply.reply.usage)
            .unwrap_or_default(),
    };
    // The effects of the replaced reply are dropped, because the guest does not read that reply.
    let (agent, model, mut record, offer_calls) = instead.map_or_else(
        || {
            (
                work.pack.agents.default_agent.clone(),
                "pack".to_owned(),
                Record::default(),
                Vec::new(),
            )
        },
        |agent_reply| {
            (
                agent_reply.agent,
                agent_reply.model,
                agent_reply.record,
                agent_reply.offer_calls,
            )
        },
    );
    record
        .path
        .extend([ESCALATION.to_owned(), case.reason.to_owned()]);
    // The findings are about the replaced reply and not about the text that goes out.
    record.findings.clear();
    record.ending = Some(Ending::Reply);
    AgentReply {
        reply,
        agent,
        model,
        record,
        effects: Vec::new(),
        offer_calls,
    }
}

/// Opens the cases, except those for which a case with the same reason is already open. Pauses the
/// conversation if one of the cases means a takeover.
pub(crate) async fn open_cases(
    swarm: &Swarm,
    tx: &mut Tx,
    work: &Work,
    cases: &[Trigger],
) -> Result<(), Error> {
    let Some(newest) = work.open.last().filter(|_| !cases.is_empty()) else {
        return Ok(());
    };
    let guest = tx.hash_of(work.lease.guest_id).await?;
    let promise = promise(swarm, work);
    for case in cases {
        let base = case_of(swarm, work, newest.inbound_id, promise, case.severity);
        let new = NewEscalation {
            guest: guest.as_ref(),
            source: case.origin,
            reason: case.reason,
            ..base
        };
        let opened = counted::open_case(tx, &new).await?;
        if opened {
            let severity = case.severity.as_str();
            tracing::warn!(
                casino = %work.casino,
                conversation_id = %work.lease.conversation_id,
                severity,
                reason = case.reason,
                trace = work.trace,
                "a person has to look at this"
            );
        }
    }
    if let Some(case) = cases.iter().find(|case| case.takes_over) {
        let (conversation, span) = (
            work.lease.conversation_id,
            pause(swarm, work, case.severity),
        );
        tx.pause(conversation, case.reason, Some(span)).await?;
        if work.lease.channel.profile().tickets {
            let ticket = swarm.fleet.ids.uuid();
            tx.await_person(ticket, conversation, case.reason).await?;
        }
    }
    Ok(())
}

/// Builds a case about the text `inbound_id`; the caller sets its source and reason.
fn case_of<'a>(
    swarm: &Swarm,
    work: &'a Work,
    inbound_id: Uuid,
    promise: Promise,
    severity: Severity,
) -> NewEscalation<'a> {
    NewEscalation {
        escalation_id: swarm.fleet.ids.uuid(),
        conversation_id: Some(work.lease.conversation_id),
        guest_id: Some(work.lease.guest_id),
        guest: None,
        inbound_id: Some(InboundId(inbound_id)),
        severity,
        source: Origin::Guardrail,
        reason: "",
        pattern_id: None,
        subject: "",
        detail: None,
        ack_seconds: escalation::sla(severity).ack_seconds,
        respond_minutes: escalation::respond_minutes(severity, promise),
        actor: "agent-swarm",
        trace: Some(&work.trace),
    }
}

/// Opens a case for each staff request of the reply, because the reply promised that a person will
/// act.
pub(crate) async fn open_promised(
    swarm: &Swarm,
    tx: &mut Tx,
    work: &Work,
    promised: &[StaffRequest],
) -> Result<(), Error> {
    let Some(newest) = work.open.last().filter(|_| !promised.is_empty()) else {
        return Ok(());
    };
    let guest = tx.hash_of(work.lease.guest_id).await?;
    let promise = promise(swarm, work);
    for request in promised {
        let severity = match request.kind {
            StaffKind::Question | StaffKind::Comp => Severity::Sev3,
            StaffKind::Booking | StaffKind::Change | StaffKind::Complaint => Severity::Sev2,
        };
        let detail = request.request.as_ref().map(serde_json::to_value);
        let base = case_of(swarm, work, newest.inbound_id, promise, severity);
        let new = NewEscalation {
            guest: guest.as_ref(),
            source: Origin::HostPromise,
            reason: request.kind.as_str(),
            subject: &request.subject,
            detail: detail
                .transpose()
                .map_err(|error| Error::Other(error.to_string()))?,
            ..base
        };
        if counted::open_case(tx, &new).await? {
            tracing::info!(
                casino = %work.casino,
                conversation_id = %work.lease.conversation_id,
                reason = request.kind.as_str(),
                trace = work.trace,
                "the host promised that a person will do this"
            );
        }
    }
    Ok(())
}

/// Handles texts that arrive during a pause. Keeps them for the person, and sends the holding text
/// after the first of them.
pub(crate) async fn hold(swarm: &Swarm, work: &Work) -> Result<Outcome, Error> {
    let again = |why| {
        Ok(Outcome::Wait {
            after: Duration::from_millis(50),
            why,
        })
    };
    let conversation = work.lease.conversation_id;
    let mut tx = swarm.fleet.store.bind(&work.casino).await?;
    // Takes the conversation's lock, and checks that the lease is still ours and the pause still
    // lasts.
    if !tx.release_lease(conversation, work.lease.epoch).await? {
        return again("epoch_moved");
    }
    let Some(paused) = tx.paused(conversation).await? else {
        tx.commit().await?;
        return again("resumed");
    };
    if paused.reason == ASKS
        && work
            .open
            .iter()
            .any(|text| escalation::is_withdrawn(&text.body))
    {
        withdraw(&mut tx, work).await?;
        tx.commit().await?;
        return again("guest_thought_again");
    }
    let ids: Vec<Uuid> = work.open.iter().map(|text| text.inbound_id).collect();
    // On the website the holding text is repeated, because guests watch the page while they wait.
    // By SMS one holding text is enough.
    let again = work.lease.channel.profile().tickets;
    let again = again.then_some(HOLDING_AGAIN);
    let queued = match ids.last() {
        Some(newest) if tx.hold_texts(conversation, &ids, again).await? => {
            let stored = work.lease.language;
            let texts: Vec<String> = work.open.iter().map(|text| text.body.clone()).collect();
            let body = work.pack.say(
                TextKey::Holding,
                work.model.language(&texts, stored),
                &work.config,
            );
            tx.queue(&fallback::canned(
                swarm,
                work,
                *newest,
                TextKey::Holding,
                body,
                "pause",
            ))
            .await?
        }
        _ => None,
    };
    tx.commit().await?;
    tracing::info!(
        casino = %work.casino,
        texts = ids.len(),
        told = queued.is_some(),
        trace = work.trace,
        "texts kept for a person"
    );
    let queued: Vec<_> = queued.into_iter().collect();
    swarm
        .fleet
        .signal_queued(&work.casino, &queued, None, &work.trace)
        .await?;
    Ok(Outcome::Done)
}

/// Ends the pause after a "never mind": the host answers again, including the texts that were kept.
async fn withdraw(tx: &mut Tx, work: &Work) -> Result<(), Error> {
    let conversation = work.lease.conversation_id;
    tx.withdraw_cases(conversation, ASKS, "guest").await?;
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

fn pause(swarm: &Swarm, work: &Work, severity: Severity) -> Duration {
    let promise = promise(swarm, work);
    let span = escalation::case_pause(
        promise,
        escalation::respond_minutes(severity, promise),
        swarm.fleet.clock.property_now(),
        work.config.operational.timezone,
    );
    swarm.fleet.timing.scaled(span.to_std().unwrap_or_default())
}

fn promise(swarm: &Swarm, work: &Work) -> Promise {
    // Holidays are not considered, because the casino's settings list none.
    escalation::promise(
        swarm.fleet.clock.property_now(),
        work.config.operational.timezone,
        false,
    )
}

/// Returns the cases that the words of the open texts call for. A text that a person has already
/// seen does not open another case.
pub(crate) fn triggers(work: &Work) -> Vec<Trigger> {
    let fresh = || work.open.iter().filter(|text| !text.released);
    let mut found: Vec<Trigger> = fresh()
        .flat_map(|text| escalation::triggers(&facts(work, &text.body)))
        .collect();
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
        frustrated_in_row: work.history.session.counts.frustrated_in_row,
        recent_cases: u32::try_from(work.history.place.recent_cases).unwrap_or(u32::MAX),
        ..Facts::default()
    }
}

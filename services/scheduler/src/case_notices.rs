//! Sends notices about a casino's cases to its contacts (D28), and raises the level of cases that
//! nobody acknowledges, up to level 3. A notice is claimed before it is sent, so that only one of
//! several schedulers sends it. If a channel is down, the notice is tried again.

use std::{sync::Arc, time::Duration};

use futures::future::join_all;
use seven_alerts::{Again, CASE, Untold, channels::backoff};
use seven_domain::{
    CaseSeverity, CasinoId, ContactChannel, ConversationId, MessageClass, OutboundId, OutboundState,
};
use seven_guest::{Profile, escalation::sla};
use seven_notices::{CaseMessage, DANGERS, Line, Senders, link_token, quiet_wait};
use seven_runtime::{Error, Fleet};
use seven_settings::Settings;
use seven_store::{
    Tx,
    alerts::NoticeOutcome,
    casinos::Casino,
    contacts::{CaseNotice, Contact, DueNotice},
    outbound::{NewOutbound, Origin},
};
use seven_telemetry::{Alert, metrics};

const BATCH: i64 = 20;
/// How long a claim on a notice lasts. It is longer than an attempt to send may take, so that no
/// other process sends the same notice.
const CLAIM_TTL: Duration = Duration::from_secs(60);
/// Pause between two checks of the delivery state of a notice that was sent as a text.
const TEXT_LOOK: Duration = Duration::from_secs(5);
/// How long after its creation a notice may still be sent to a phone.
const TEXT_USEFUL: Duration = Duration::from_secs(3_600);
const MIN_WAIT: Duration = Duration::from_millis(200);
/// Maximum number of texts that a notice quotes: about three exchanges.
const QUOTED_TEXTS: i64 = 6;
/// Maximum number of facts about the guest in a notice.
const MOST_FACTS: usize = 6;

pub(crate) async fn round(
    fleet: Fleet,
    settings: Arc<Settings>,
    senders: Senders,
) -> Result<(), Error> {
    crate::rounds::each(fleet.store.with_cases(CASE).await?, |casino| {
        look(fleet.clone(), settings.clone(), senders.clone(), casino)
    })
    .await
}

async fn look(
    fleet: Fleet,
    settings: Arc<Settings>,
    senders: Senders,
    casino: CasinoId,
) -> Result<(), Error> {
    let mut tx = fleet.store.bind(&casino).await?;
    raise(&mut tx, &casino).await?;
    tx.plan_case_notices(&DANGERS).await?;
    tx.commit().await?;
    loop {
        let mut tx = fleet.store.bind(&casino).await?;
        let due = tx.claim_case_notices(BATCH, CLAIM_TTL).await?;
        tx.commit().await?;
        if due.is_empty() {
            return Ok(());
        }
        // Waits for all notices before an error ends the round, so that every sent notice is
        // recorded.
        let telling = due
            .iter()
            .map(|due| tell(&fleet, &settings, &senders, &casino, due));
        for told in join_all(telling).await {
            told?;
        }
    }
}

/// Raises the level of a case by one if nobody acknowledged the case in time. If nobody
/// acknowledges a case at the highest level either, the fleet's operators get an alert.
async fn raise(tx: &mut Tx, casino: &CasinoId) -> Result<(), Error> {
    let mut unattended = 0;
    for severity in CaseSeverity::ALL {
        let Some(seconds) = sla(*severity).ack_seconds else {
            continue;
        };
        let window = Duration::from_secs(u64::from(seconds));
        for case in tx.raise_cases(*severity, window).await? {
            tracing::warn!(
                %casino,
                case_id = %case.escalation_id,
                severity = %case.severity,
                level = case.level,
                "nobody acknowledged a case in time; the next level is told"
            );
        }
        unattended += tx.unattended_cases(*severity, window).await?;
    }
    if unattended > 0 {
        let text = format!(
            "{unattended} case(s) of {casino} rose to level 3, and nobody acknowledged them: call \
             the casino; seven escalation list --casino {casino}"
        );
        Alert {
            name: "case_unattended",
            casino: casino.as_str(),
            provider: "",
            code: "",
            text: &text,
        }
        .raise();
    }
    Ok(())
}

async fn tell(
    fleet: &Fleet,
    settings: &Settings,
    senders: &Senders,
    casino: &CasinoId,
    due: &DueNotice,
) -> Result<(), Error> {
    let mut tx = fleet.store.bind(casino).await?;
    let contact = tx.contact(due.contact_id).await?;
    let case = tx.case_of_notice(due.notice_id).await?;
    let row = tx.casino_row().await?;
    let (Some(contact), Some(case), Some(row)) = (contact, case, row) else {
        // The contact was removed or the case was closed after the claim.
        let ended = NoticeOutcome::GivenUp("the contact has ended");
        tx.note_case_notice(due, ended).await?;
        return Ok(tx.commit().await?);
    };
    if let Some(wait) = quiet(fleet, &contact, &case, &row) {
        tx.put_off_notice(due, wait).await?;
        return Ok(tx.commit().await?);
    }
    let token = link_token(&fleet.keys, casino, due.notice_id);
    let link = settings
        .console
        .public_url
        .join(&format!("n/{casino}/{token}"))
        .map_err(|error| Error::Other(error.to_string()))?;
    let message = message(fleet, &mut tx, &contact, case, &row, link).await?;
    if contact.channel == ContactChannel::Text {
        return by_text(fleet, tx, casino, &contact, due, &message).await;
    }
    // The call to the channel may take seconds, so the transaction ends first and frees its
    // connection.
    tx.commit().await?;
    let answer = senders
        .tell(contact.channel, &contact.address, due.notice_id, &message)
        .await;
    let error;
    let outcome = match answer {
        Ok(_) => {
            count(&contact, "told");
            NoticeOutcome::Delivered
        }
        Err(untold) => {
            let wait = failed(fleet, casino, &contact, due, &untold);
            error = untold.why;
            match wait {
                Some(wait) => NoticeOutcome::Later(wait, &error),
                None => NoticeOutcome::GivenUp(&error),
            }
        }
    };
    let mut tx = fleet.store.bind(casino).await?;
    tx.note_case_notice(due, outcome).await?;
    Ok(tx.commit().await?)
}

/// Sends a notice to a phone. The first round queues the notice's one text; later rounds check the
/// text's state until the outcome is known.
async fn by_text(
    fleet: &Fleet,
    mut tx: Tx,
    casino: &CasinoId,
    contact: &Contact,
    due: &DueNotice,
    message: &CaseMessage,
) -> Result<(), Error> {
    let wait = fleet.timing.scale.at_least(TEXT_LOOK, MIN_WAIT);
    if contact.verified_at.is_none() {
        let outcome = NoticeOutcome::GivenUp("nobody has entered the phone's code");
        tx.note_case_notice(due, outcome).await?;
        return Ok(tx.commit().await?);
    }
    let Some(text) = due.outbound_id else {
        let id: OutboundId = fleet.ids.next();
        if let Some(to) = contact.recipient()
            && tx.put_notice_text(due, id, wait).await?
        {
            let (body, origin) = (
                seven_sms::transliterate(&message.text()),
                Origin::Staff("staff_notice"),
            );
            let new = NewOutbound::new(id, to, origin, MessageClass::Staff, body, TEXT_USEFUL);
            let queued: Vec<_> = tx.queue(&new).await?.into_iter().collect();
            tx.commit().await?;
            return fleet.signal_queued(casino, &queued, None, "").await;
        }
        return Ok(tx.commit().await?);
    };
    let state = tx.outbound_state(OutboundId(text)).await?;
    let (state, reason) = state.unwrap_or((OutboundState::Failed, None));
    match state {
        OutboundState::Sent | OutboundState::Delivered => {
            count(contact, "told");
            tx.note_case_notice(due, NoticeOutcome::Delivered).await?;
        }
        OutboundState::Queued | OutboundState::Sending | OutboundState::Unknown => {
            tx.put_off_notice(due, wait).await?;
        }
        OutboundState::Failed
        | OutboundState::Undelivered
        | OutboundState::Suppressed
        | OutboundState::Expired => {
            let why = reason.unwrap_or_else(|| state.to_string());
            unreachable(casino, contact, &why);
            tx.note_case_notice(due, NoticeOutcome::GivenUp(&why))
                .await?;
        }
    }
    Ok(tx.commit().await?)
}

/// Returns how long the contact's quiet hours delay the notice; `None` if they do not. Notices
/// about cases of the highest severity are never delayed, nor are notices that tell a security
/// contact of a danger.
fn quiet(fleet: &Fleet, contact: &Contact, case: &CaseNotice, row: &Casino) -> Option<Duration> {
    let is_danger = contact.security && DANGERS.contains(&case.reason.as_str());
    if case.severity == CaseSeverity::Sev0 || is_danger {
        return None;
    }
    let hours = contact.quiet_from.zip(contact.quiet_to)?;
    let (now, zone) = (fleet.clock.property_now(), row.config.operational.timezone);
    let wait = quiet_wait(now, zone, hours)?;
    Some(fleet.timing.scale.at_least(wait, MIN_WAIT))
}

fn count(contact: &Contact, outcome: &str) {
    metrics()
        .notices
        .with_label_values(&[contact.channel.as_str(), outcome])
        .inc();
}

/// Logs a failed attempt. Returns the wait until the next attempt; `None` if the notice is given
/// up.
fn failed(
    fleet: &Fleet,
    casino: &CasinoId,
    contact: &Contact,
    due: &DueNotice,
    untold: &Untold,
) -> Option<Duration> {
    let tries = u32::try_from(due.tries).unwrap_or(u32::MAX);
    let channel = contact.channel.as_str();
    let Some(wait) = backoff(tries, untold.again) else {
        unreachable(casino, contact, &untold.why);
        return None;
    };
    count(contact, "later");
    tracing::warn!(
        %casino,
        notice_id = %due.notice_id,
        channel,
        tries,
        error = untold.why,
        "a notice about a case was not delivered yet"
    );
    // Tests scale our own waits; waits that the channel asks for are not scaled.
    let asked = match untold.again {
        Again::Later(Some(asked)) => asked.min(wait),
        _ => Duration::ZERO,
    };
    Some(fleet.timing.scale.at_least(wait, MIN_WAIT).max(asked))
}

/// Counts a notice that was given up, and raises an alert for the fleet's operators.
fn unreachable(casino: &CasinoId, contact: &Contact, why: &str) {
    count(contact, "given_up");
    let channel = contact.channel.as_str();
    let text = format!(
        "a notice about a case could not reach a contact of {casino} by {channel}: {why}; see \
         seven contact list --casino {casino}"
    );
    Alert {
        name: "contact_unreachable",
        casino: casino.as_str(),
        provider: "",
        code: channel,
        text: &text,
    }
    .raise();
}

/// Writes the message. It quotes the conversation and lists facts about the guest only if the
/// contact may read the guest's words.
async fn message(
    fleet: &Fleet,
    tx: &mut Tx,
    contact: &Contact,
    case: CaseNotice,
    row: &Casino,
    link: url::Url,
) -> Result<CaseMessage, Error> {
    let (mut last_four, mut known, mut lines) = (String::new(), Vec::new(), Vec::new());
    if let Some(conversation) = case.conversation_id.map(ConversationId) {
        let shown = tx.shown_conversation(conversation).await?;
        if let Some(shown) = shown {
            last_four = shown.last_four.unwrap_or_default();
            if contact.words {
                known = facts(fleet, shown.profile);
            }
        }
        if contact.words {
            let texts = tx.transcript(conversation, QUOTED_TEXTS).await?;
            lines = texts
                .into_iter()
                .map(|line| Line {
                    from_guest: line.direction == "in",
                    text: line.text,
                })
                .collect();
        }
    }
    Ok(CaseMessage {
        language: contact.language,
        casino: row.config.prompts.casino_name_display.clone(),
        zone: row.config.operational.timezone,
        severity: case.severity,
        reason: case.reason,
        about: case.subject,
        level: case.level,
        repeats: case.repeats,
        last_four,
        opened_at: case.created_at,
        ack_due_at: case.ack_due_at,
        respond_due_at: case.respond_due_at,
        known,
        lines,
        link,
    })
}

/// Lists known facts about the guest. Leaves out doubtful facts and facts about health.
fn facts(fleet: &Fleet, document: Option<serde_json::Value>) -> Vec<String> {
    let read = document.and_then(|document| Profile::from_json(document).ok());
    let Some(read) = read else {
        return Vec::new();
    };
    let context = read.profile.context(fleet.clock.property_now());
    let sure = context
        .facts
        .into_iter()
        .filter(|fact| !fact.doubtful && !fact.is_sensitive());
    sure.map(|fact| {
        let value = serde_json::json!(fact.value);
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        let name = fact.path.rsplit('.').next().unwrap_or_default();
        format!("{}: {value}", name.replace('_', " "))
    })
    .take(MOST_FACTS)
    .collect()
}

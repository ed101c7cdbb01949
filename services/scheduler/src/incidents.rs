//! Handles an incident that a check found: contains it, records it, and opens the case that
//! notifies people. One transaction does all of this, so that nobody is notified of an incident
//! that was not contained.

use std::time::Duration;

use seven_domain::{CaseSource, CasinoId, Containment, ConversationId, IncidentKind};
use seven_runtime::{
    Error, Fleet,
    own_cases::{OwnCase, open_own_case},
};
use seven_store::{
    Tx,
    controls::{Order, Switch},
    incidents::found::NewIncident,
};
use seven_telemetry::metrics;
use uuid::Uuid;

/// Texts of one conversation that are found within this time belong to one incident (SEC-101).
const ONE_INCIDENT: Duration = Duration::from_secs(300);
/// The stored reason of an incident's pause. Only a person can end this pause.
const PAUSE: &str = "incident";

/// A text that is evidence of an incident.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    pub kind: IncidentKind,
    pub conversation: ConversationId,
    pub text: Uuid,
    /// The check, or the person's command, that found the incident.
    pub by: &'static str,
}

/// The result of containing an incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contained {
    New,
    /// The text was added to an incident of the conversation that was found just before.
    Repeated,
    /// The text already belongs to an incident, or its guest no longer exists; nothing was done.
    Known,
}

/// Contains the incident and records it.
///
/// # Errors
/// Fails when Postgres does not answer.
pub async fn contain(fleet: &Fleet, casino: &CasinoId, found: Found) -> Result<Contained, Error> {
    let mut tx = fleet.store.bind(casino).await?;
    let contained = contain_in(fleet, &mut tx, found).await?;
    tx.commit().await?;
    Ok(contained)
}

/// Does what [`contain`] does, as a part of the caller's transaction.
///
/// # Errors
/// Fails when Postgres does not answer.
pub async fn contain_in(fleet: &Fleet, tx: &mut Tx, found: Found) -> Result<Contained, Error> {
    let Found {
        kind,
        conversation,
        text,
        by,
    } = found;
    // If two schedulers found the same text, this lock makes them handle it one after the other.
    tx.lock_conversation(conversation).await?;
    let Some((guest, _)) = tx.guest_in(conversation).await? else {
        return Ok(Contained::Known);
    };
    if tx.knows_evidence(kind, conversation, text).await? {
        return Ok(Contained::Known);
    }
    // A repeated incident pauses again, because somebody may have ended the pause meanwhile.
    let actions = pause(tx, kind, conversation, by).await?;
    if tx
        .repeat_incident(kind, conversation, text, ONE_INCIDENT)
        .await?
    {
        return Ok(Contained::Repeated);
    }
    let new = NewIncident {
        incident_id: fleet.ids.uuid(),
        kind,
        by,
        conversation,
        guest,
        evidence: text,
        actions: &actions,
        escalation_id: fleet.ids.uuid(),
    };
    tx.add_incident(&new).await?;
    let case = OwnCase {
        id: new.escalation_id,
        severity: kind.case_severity(),
        source: CaseSource::Compliance,
        reason: kind.as_str(),
        subject: "",
        about: Some((conversation, guest)),
        actor: by,
    };
    open_own_case(tx, &case).await?;
    let count = metrics()
        .incidents
        .with_label_values(&[tx.casino().as_str(), kind.as_str()]);
    tx.once_committed(move || count.inc());
    tracing::error!(
        casino = %tx.casino(),
        incident_id = %new.incident_id,
        kind = kind.as_str(),
        text_id = %text,
        "an incident was found and contained"
    );
    Ok(Contained::New)
}

/// Silences the host towards the guest. For grave kinds of incident, also stops the casino's texts.
/// A pause without an end, such as a person's takeover, stays as it is.
async fn pause(
    tx: &mut Tx,
    kind: IncidentKind,
    conversation: ConversationId,
    by: &str,
) -> Result<Vec<Containment>, Error> {
    let mut actions = Vec::new();
    let standing = tx.paused(conversation).await?;
    if standing.is_none_or(|paused| paused.until.is_some()) {
        tx.pause(conversation, PAUSE, None).await?;
        tx.cancel_unsent(conversation, PAUSE).await?;
        actions.push(Containment::PausedGuest);
    }
    let switch = match kind.pauses() {
        Some(Containment::PausedProactive) => Switch::Proactive,
        Some(Containment::PausedSending) => Switch::Outbound,
        Some(Containment::PausedGuest) | None => return Ok(actions),
    };
    let order = Order {
        by,
        reason: kind.as_str(),
    };
    let casino = tx.casino().clone();
    tx.switch(Some(&casino), &[switch], true, order).await?;
    actions.extend(kind.pauses());
    Ok(actions)
}

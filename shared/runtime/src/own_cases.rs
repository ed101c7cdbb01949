//! Cases that are opened by the fleet's own checks and not because of a guest's text.

use seven_domain::{CaseSeverity, CaseSource, ConversationId, GuestId, IdSource};
use seven_guest::escalation::sla;
use seven_store::{Result, Tx, escalations::NewEscalation};
use uuid::Uuid;

use crate::counted;

/// The reason of the case that is opened when a phone of staff opts out of texts.
const STAFF_STOPPED: &str = "staff_stopped";

#[derive(Debug)]
pub struct OwnCase<'a> {
    pub id: Uuid,
    pub severity: CaseSeverity,
    pub source: CaseSource,
    pub reason: &'a str,
    /// The name of the thing or person that the case is about; empty if there is none.
    pub subject: &'a str,
    pub about: Option<(ConversationId, GuestId)>,
    /// The name of the worker that opens the case.
    pub actor: &'a str,
}

/// Opens the case; its due times follow from its severity. Returns true if the case is new.
///
/// # Errors
/// Fails when Postgres does not answer.
pub async fn open_own_case(tx: &mut Tx, case: &OwnCase<'_>) -> Result<bool> {
    let opened = NewEscalation {
        escalation_id: case.id,
        conversation_id: case.about.map(|(conversation, _)| conversation),
        guest_id: case.about.map(|(_, guest)| guest),
        guest: None,
        inbound_id: None,
        severity: case.severity,
        source: case.source,
        reason: case.reason,
        pattern_id: None,
        subject: case.subject,
        detail: None,
        ack_seconds: sla(case.severity).ack_seconds,
        respond_minutes: sla(case.severity).respond_minutes,
        actor: case.actor,
        trace: None,
    };
    counted::open_case(tx, &opened).await
}

/// Ends the contacts whose phone opted out. Opens a case for each of them, so that the casino names
/// another person (D28).
///
/// # Errors
/// Fails when Postgres does not answer.
pub async fn end_stopped_contacts(tx: &mut Tx, guest: GuestId, actor: &str) -> Result<()> {
    let ids = IdSource::default();
    for contact in tx.end_contacts_of(guest, actor).await? {
        let case = OwnCase {
            id: ids.uuid(),
            severity: CaseSeverity::Sev2,
            source: CaseSource::Compliance,
            reason: STAFF_STOPPED,
            subject: &contact.name,
            about: None,
            actor,
        };
        open_own_case(tx, &case).await?;
    }
    Ok(())
}

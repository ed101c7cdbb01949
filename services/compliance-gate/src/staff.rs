//! Handles a text from a verified phone of the casino's staff (D28): no guest wrote it, so the host
//! does not answer. STOP ends the phone's notices and tells the other contacts.

use seven_compliance::Intent;
use seven_domain::{CaseSeverity, CaseSource};
use seven_guest::escalation::sla;
use seven_runtime::{Error, counted};
use seven_store::{Tx, escalations::NewEscalation};

use crate::{
    canned, keywords,
    types::{Case, Gate, Next},
};

pub(crate) async fn answer(gate: &Gate, tx: &mut Tx, case: &Case<'_>) -> Result<Next, Error> {
    let keyword = case
        .decision
        .keyword
        .filter(|keyword| matches!(keyword.intent, Intent::OptOut | Intent::Help));
    let Some(keyword) = keyword else {
        return canned::close(tx, case, "staff").await;
    };
    if keyword.intent == Intent::OptOut {
        for contact in tx.end_contacts_of(case.party.guest_id).await? {
            tell_others(gate, tx, case, &contact.name).await?;
        }
    }
    let next = keywords::keyword(gate, tx, case, &keyword).await?;
    Ok(next.unwrap_or_default())
}

/// Opens the case that a contact is gone, so that somebody else is named.
async fn tell_others(gate: &Gate, tx: &mut Tx, case: &Case<'_>, name: &str) -> Result<(), Error> {
    let severity = CaseSeverity::Sev2;
    let opened = NewEscalation {
        escalation_id: gate.fleet.ids.uuid(),
        conversation_id: None,
        guest_id: None,
        guest: None,
        inbound_id: None,
        severity,
        source: CaseSource::Compliance,
        reason: "staff_stopped",
        pattern_id: None,
        subject: name,
        detail: None,
        ack_seconds: sla(severity).ack_seconds,
        respond_minutes: None,
        actor: "compliance-gate",
        trace: Some(&case.trace),
    };
    counted::open_case(tx, &opened).await?;
    Ok(())
}

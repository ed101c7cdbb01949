//! Opens the case for a cry for help that the scheduler read because the gate had not read it.

use seven_compliance::Layer;
use seven_domain::{GuestHash, GuestId};
use seven_guest::escalation::{self, Origin, Severity};
use seven_runtime::{Error, counted};
use seven_store::{Tx, escalations::NewEscalation};
use uuid::Uuid;

/// Opens the case under `id`. Returns false if the conversation already has such a case. Without
/// `guest_id`, the guest is looked up by hash.
pub(crate) async fn open_case(
    tx: &mut Tx,
    id: Uuid,
    guest: &GuestHash,
    guest_id: Option<GuestId>,
    layer: Layer,
) -> Result<bool, Error> {
    let (severity, known) = (Severity::Sev0, tx.conversation_of_guest(guest).await?);
    let case = NewEscalation {
        escalation_id: id,
        conversation_id: known.map(|(_, conversation)| conversation),
        guest_id: guest_id.or(known.map(|(guest, _)| guest)),
        guest: Some(guest),
        inbound_id: None,
        severity,
        source: Origin::Guardrail,
        reason: layer.as_str(),
        pattern_id: None,
        subject: "",
        detail: None,
        ack_seconds: escalation::sla(severity).ack_seconds,
        respond_minutes: escalation::sla(severity).respond_minutes,
        actor: "scheduler",
        trace: None,
    };
    Ok(counted::open_case(tx, &case).await?)
}

//! Opens a case for a person if a cry for help is answered later than [`LATE_AFTER`], or never.

use chrono::TimeDelta;
use seven_guest::escalation::{self, Origin, Severity};
use seven_runtime::{Error, counted};
use seven_store::{Tx, escalations::NewEscalation};

use crate::{
    line,
    types::{Job, Sender},
};

/// A cry for help that waits longer than this for its answer opens a case.
const LATE_AFTER: TimeDelta = TimeDelta::minutes(5);

/// Opens a case if the answer that was just sent is a late answer to a cry.
pub(crate) async fn note_late_help(sender: &Sender, job: &Job) -> Result<(), Error> {
    let late = job
        .answers_at
        .is_some_and(|asked| sender.fleet.clock.now() - asked > LATE_AFTER);
    if line::rank(job.class) > 0 || !late {
        return Ok(());
    }
    let mut tx = sender.fleet.store.bind(&job.casino).await?;
    open_case(sender, &mut tx, job, "help_came_late", Severity::Sev1).await?;
    Ok(tx.commit().await?)
}

/// Opens a case if the text that will never be sent is an answer to a cry.
pub(crate) async fn note_lost_help(sender: &Sender, tx: &mut Tx, job: &Job) -> Result<(), Error> {
    if line::rank(job.class) > 0 {
        return Ok(());
    }
    open_case(sender, tx, job, "help_never_left", Severity::Sev0).await
}

async fn open_case(
    sender: &Sender,
    tx: &mut Tx,
    job: &Job,
    reason: &str,
    severity: Severity,
) -> Result<(), Error> {
    let Some((guest_id, conversation)) = tx.conversation_of_guest(&job.guest).await? else {
        return Ok(());
    };
    let case = NewEscalation {
        escalation_id: sender.fleet.ids.uuid(),
        conversation_id: Some(conversation),
        guest_id: Some(guest_id),
        guest: Some(&job.guest),
        inbound_id: None,
        severity,
        source: Origin::Guardrail,
        reason,
        pattern_id: None,
        subject: "",
        detail: None,
        ack_seconds: escalation::sla(severity).ack_seconds,
        respond_minutes: escalation::sla(severity).respond_minutes,
        actor: "outbound-sender",
        trace: None,
    };
    counted::open_case(tx, &case).await?;
    tracing::error!(
        casino = %job.casino,
        outbound_id = %job.outbound_id,
        reason,
        "the answer to an urgent text was late or was never sent"
    );
    Ok(())
}

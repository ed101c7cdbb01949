//! Delivers a message to the website (D33): the pre-send check's commit is the delivery. There is no
//! provider, no attempt and no doubt; a gateway that gets the hint shows the message.

use std::time::Duration;

use seven_bus::Outcome;
use seven_domain::{AuditEvent, ConversationId, WEB};
use seven_faults::failpoint;
use seven_runtime::Error;
use seven_store::{audit::Entry, presend_check::PresendCheck};
use seven_telemetry::{metrics, trace};

use crate::{
    late, measure, refusal,
    types::{Job, Sender},
};

pub(crate) async fn show(
    sender: &Sender,
    job: &Job,
    conversation: ConversationId,
) -> Result<Outcome, Error> {
    let mut span = trace::step("seven.node.presend_check", "");
    let check = PresendCheck {
        outbound_id: job.outbound_id,
        attempt_id: sender.fleet.ids.next(),
        provider: WEB,
        sender: None,
        deadline: Duration::ZERO,
        grace: Duration::ZERO,
        window_open: true,
        exclusion_list_needed: false,
        called_at: sender.fleet.clock.now(),
        refused_as_of: None,
        risk: None,
    };
    let subject = job.outbound_id.to_string();
    let detail = serde_json::json!({ "class": job.class, "provider": WEB });
    let sent = Entry::of(AuditEvent::WebOutbound, "outbound-sender", &subject, detail);
    let sent = Entry {
        guest: Some(&job.guest),
        ..sent
    };
    // Not batched with others: it locks the conversation first, and two transactions that lock
    // several conversations could wait for each other.
    let mut tx = sender.fleet.store.bind(&job.casino).await?;
    let verdict = tx.show_on_web(conversation, &check).await?;
    if verdict.is_ok() {
        tx.record_disclosure(job.outbound_id).await?;
        tx.audit(&sent).await?;
    }
    tx.commit().await?;
    failpoint!("sender.after_show");
    let label = verdict
        .as_ref()
        .map_or_else(|refusal| refusal.as_str(), |_| "sent");
    let casino = job.casino.as_str();
    metrics()
        .presend_check
        .with_label_values(&[casino, job.class.as_str(), label])
        .inc();
    span.set("seven.verdict", label);
    drop(span);
    if let Err(refusal) = verdict {
        return refusal::refused(sender, job, refusal).await;
    }
    sender.fleet.bus.hint(&job.casino, &job.guest.bytes).await;
    measure::reply(&sender.fleet, job);
    metrics()
        .texts
        .outcomes
        .with_label_values(&[casino, WEB, "sent"])
        .inc();
    late::note_late_help(sender, job).await?;
    Ok(Outcome::Done)
}

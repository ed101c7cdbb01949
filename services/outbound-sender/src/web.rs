//! Delivers a message to the website if the worker that wrote the message has not delivered it
//! (D33). No provider is called, so there is no attempt and no doubt. The gateway shows the message
//! once it gets the hint.

use seven_bus::Outcome;
use seven_domain::ConversationId;
use seven_faults::failpoint;
use seven_runtime::{Error, web::Shown};
use seven_telemetry::{metrics, trace};

use crate::{
    late, refusal,
    types::{Job, Sender},
};

pub(crate) async fn show(
    sender: &Sender,
    job: &Job,
    conversation: ConversationId,
) -> Result<Outcome, Error> {
    let mut span = trace::step("seven.node.presend_check", "");
    let fleet = &sender.fleet;
    let check = fleet.web_check(job.outbound_id);
    // This check is not batched with others. It locks the conversation, and two transactions that
    // lock several conversations could wait for each other.
    let mut tx = fleet.store.bind(&job.casino).await?;
    let verdict = tx.show_on_web(conversation, &check).await?;
    if verdict.is_ok() {
        let shown = Shown {
            outbound_id: job.outbound_id,
            class: job.class,
            guest: &job.guest,
            asked: job.answers_at.filter(|_| job.tries == 0),
            by: "outbound-sender",
        };
        fleet.note_shown(&mut tx, shown).await?;
    }
    tx.commit().await?;
    failpoint!("sender.after_show");
    let Err(refusal) = verdict else {
        span.set("seven.verdict", "sent");
        drop(span);
        fleet.bus.hint(&job.casino, &job.guest.bytes).await;
        late::note_late_help(sender, job).await?;
        return Ok(Outcome::Done);
    };
    metrics()
        .presend_check
        .with_label_values(&[job.casino.as_str(), job.class.as_str(), refusal.as_str()])
        .inc();
    span.set("seven.verdict", refusal.as_str());
    drop(span);
    refusal::refused(sender, job, refusal).await
}

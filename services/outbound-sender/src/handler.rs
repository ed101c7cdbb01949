//! Handles one queued text: waits for its delay and its rate limits, checks, sends and records.

use std::time::Duration;

use seven_bus::{Delivery, Handler, Outcome, events::OutboundReady};
use seven_domain::{CasinoId, Channel, ConversationId, OutboundId, OutboundState, Stage};
use seven_runtime::{Error, outcome_of};
use seven_store::{connections::Lent, due::DueKind, outbound::PendingSend};
use seven_telemetry::trace;

use crate::{
    attempt, numbers, pace,
    types::{Job, MAX_HELD_WAIT, Sender},
    web,
};

impl Handler for Sender {
    type Event = OutboundReady;
    const STAGE: Stage = Stage::Sender;

    async fn handle(&self, delivery: Delivery<OutboundReady>) -> Outcome {
        match process(self, &delivery).await {
            Ok(outcome) => outcome,
            Err(error) => outcome_of(&error, delivery.tries),
        }
    }

    async fn ready(&self) -> bool {
        self.fleet.store.ready().await
    }
}

async fn process(sender: &Sender, delivery: &Delivery<OutboundReady>) -> Result<Outcome, Error> {
    let outbound_id: OutboundId = seven_bus::id(&delivery.event.outbound_id)?;
    let casino = &delivery.casino;
    let found = sender
        .reads
        .ask(
            casino,
            outbound_id,
            || sender.lend(),
            |lent, texts| read(sender, lent, casino, texts),
        )
        .await?;
    let Some(PendingSend {
        pending,
        config,
        stops,
    }) = found.filter(|found| found.pending.state == OutboundState::Queued)
    else {
        trace::ended("done", true);
        return Ok(Outcome::Done);
    };
    trace::adopt(&pending.trace);
    let wait = Duration::try_from_secs_f64(pending.wait).unwrap_or_default();
    if wait > MAX_HELD_WAIT {
        let mut tx = sender.fleet.store.bind_repeatable(casino).await?;
        tx.put_due(DueKind::Send, outbound_id.0, wait).await?;
        tx.commit().await?;
        trace::set("seven.put_off_ms", wait.as_millis() as i64);
        return Ok(Outcome::Done);
    }
    let mut job = Job::new(&delivery.casino, config, outbound_id, &pending, stops)?;
    trace::tell("seven.message_class", &job.class);
    if trace::on() {
        trace::set("seven.guest_phone_hash", job.guest.tag());
    }
    let hold = trace::step("seven.node.hold", "");
    if wait.is_zero() {
        hold.forget();
    }
    if !sender.held(wait).await {
        return Ok(Outcome::Wait {
            after: wait,
            why: "shutting_down",
        });
    }
    if pending.channel == Channel::Web {
        return web::show(sender, &job, ConversationId(pending.conversation_id)).await;
    }
    let pace = trace::step("seven.node.pace", "");
    if let Some(after) = pace::paced(sender, &job).await {
        pace.forget();
        return Ok(Outcome::Wait { after, why: "pace" });
    }
    drop(pace);
    numbers::check_number(sender, &job).await?;
    attempt::look_and_send(sender, &mut job).await
}

async fn read(
    sender: &Sender,
    lent: Lent,
    casino: &CasinoId,
    texts: Vec<OutboundId>,
) -> Result<Vec<Option<PendingSend>>, Error> {
    let mut tx = sender.fleet.store.bind_repeatable_on(lent, casino).await?;
    let found = tx.pending_here(&texts).await?;
    drop(tx.commit_meanwhile());
    // The same text may be in the batch twice, because signals are repeated.
    Ok(texts.iter().map(|text| found.get(text).cloned()).collect())
}

//! Handles a conversation signal. Answers the conversation's open texts, unless it is too early or
//! another worker is answering.

use seven_bus::{Delivery, Handler, Outcome, events::ConversationSignal};
use seven_domain::{ConversationId, Stage};
use seven_runtime::{Error, outcome_of};
use seven_telemetry::trace;

use crate::{
    lease::{self, LeaseGuard, Lookup},
    turn,
    types::Swarm,
};

impl Handler for Swarm {
    type Event = ConversationSignal;
    const STAGE: Stage = Stage::Swarm;

    async fn handle(&self, delivery: Delivery<ConversationSignal>) -> Outcome {
        match process(self, &delivery).await {
            Ok(outcome) => outcome,
            Err(error) => outcome_of(&error, delivery.tries),
        }
    }

    async fn ready(&self) -> bool {
        self.fleet.ready().await
    }
}

async fn process(swarm: &Swarm, delivery: &Delivery<ConversationSignal>) -> Result<Outcome, Error> {
    let conversation: ConversationId = seven_bus::id(&delivery.event.conversation_id)?;
    match lease::look(swarm, delivery, conversation).await? {
        Lookup::Nothing => {
            repeat_drafts(swarm, delivery, conversation).await?;
            Ok(Outcome::Done)
        }
        Lookup::Early(after, why) => Ok(Outcome::Wait { after, why }),
        Lookup::Leased(work, leasing) => {
            let mut guard = LeaseGuard::of(&swarm.fleet, &work);
            let outcome = turn::turn(swarm, *work, leasing).await;
            guard.ended = outcome.is_ok();
            outcome
        }
        // The signal is done, but the guest's texts stay open. When the operator's switch ends, the
        // texts are signalled again.
        Lookup::Silenced(queued, trace) => {
            trace::adopt(&trace);
            let queued: Vec<_> = queued.into_iter().collect();
            swarm
                .fleet
                .signal_queued(&delivery.casino, &queued, None, &trace)
                .await?;
            Ok(Outcome::Done)
        }
    }
}

/// Announces committed drafts again after a redelivered signal, because the first announcement may
/// have been lost (D3).
async fn repeat_drafts(
    swarm: &Swarm,
    delivery: &Delivery<ConversationSignal>,
    conversation: ConversationId,
) -> Result<(), Error> {
    if delivery.deliveries < 2 {
        return Ok(());
    }
    let mut tx = swarm.fleet.store.bind(&delivery.casino).await?;
    let drafts = tx.drafted_turns(conversation).await?;
    tx.commit().await?;
    for (turn, trace) in drafts {
        let copy = Some(format!(
            "dup:{}:{}",
            delivery.stream_seq, delivery.deliveries
        ));
        swarm
            .fleet
            .bus
            .signal_draft(&delivery.casino, turn, copy, &trace)
            .await?;
    }
    Ok(())
}

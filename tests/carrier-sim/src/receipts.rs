//! Changes the status of an accepted message step by step. Webhooks report each change, unless a
//! rule prevents this.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use serde_json::Value;
use tokio::{
    sync::oneshot,
    time::{Instant, sleep_until},
};

use crate::{
    core::Core,
    dialect::{Dialect, injected},
    record::{Delivery, Entry, Outbound, Receipt},
    rules::Fault,
    twilio_webhook,
    webhook::{self, Job, Says, event_data},
};

/// Delay of each webhook under the fault `late_receipt`. It is multiplied by the time scale, but is
/// at least `LEAST_LATE`.
const LATE: Duration = Duration::from_secs(30);
const LEAST_LATE: Duration = Duration::from_millis(400);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Sent,
    Finalized,
}

/// One status event of a message. It may be delivered twice.
struct Event {
    id: String,
    step: Step,
    status: String,
    occurred_at: DateTime<Utc>,
    payload: Value,
}

/// Starts the status changes of an accepted message.
pub(crate) fn start(core: &Arc<Core>, message: Outbound, fault: Option<Fault>) {
    let background = core.clone();
    core.spawn(async move { follow(&background, message, fault).await });
}

async fn follow(core: &Arc<Core>, message: Outbound, fault: Option<Fault>) {
    let (sent_after, finalized_after) = core.settings.receipt_delays;
    let accepted = Instant::now();
    let due = |delay: Duration| accepted + core.scale.of(delay);
    let late = if fault == Some(Fault::LateReceipt) {
        core.scale.at_least(LATE, LEAST_LATE)
    } else {
        Duration::ZERO
    };

    sleep_until(due(sent_after)).await;
    let sent = advance(core, &message, Step::Sent, &fault);
    if fault == Some(Fault::ReorderReceipts) {
        sleep_until(due(finalized_after)).await;
        let finalized = advance(core, &message, Step::Finalized, &fault);
        tell(core, &message, finalized, &fault).await;
        tell(core, &message, sent, &fault).await;
        return;
    }
    tokio::time::sleep(late).await;
    // `tell` returns after the first webhook call, so `message.sent` comes first at any time scale.
    // It does not wait for retries, so a failing webhook does not delay `message.finalized`.
    tell(core, &message, sent, &fault).await;
    sleep_until(due(finalized_after) + late).await;
    let finalized = advance(core, &message, Step::Finalized, &fault);
    tell(core, &message, finalized, &fault).await;
}

/// Records the message's next status at the carrier and returns the event for its webhook.
fn advance(core: &Core, message: &Outbound, step: Step, fault: &Option<Fault>) -> Option<Event> {
    let (status, errors) = match (step, fault) {
        (Step::Sent, _) => ("sent", Vec::new()),
        (Step::Finalized, Some(Fault::FinalizedError(code))) => {
            ("delivery_failed", vec![injected(code).item()])
        }
        (Step::Finalized, _) => ("delivered", Vec::new()),
    };
    let occurred_at = core.now();
    let (message_id, status) = (message.id.clone(), status.to_owned());
    core.ledger.record(Entry::Status {
        message_id,
        status: status.clone(),
        at: occurred_at,
        errors,
    });
    // The message is missing only if the ledger was cleared meanwhile. In that case, nobody waits
    // for this receipt.
    let payload = core.ledger.outbound(&message.id)?.payload();
    Some(Event {
        id: core.ids.uuid().to_string(),
        step,
        status,
        occurred_at,
        payload,
    })
}

/// Starts the webhook calls about the event, and returns after the first call. Later tries go on in
/// the background. Calls the message's own webhook URL, or the default URL if the message has none.
async fn tell(core: &Arc<Core>, message: &Outbound, event: Option<Event>, fault: &Option<Fault>) {
    let Some(event) = event.filter(|_| *fault != Some(Fault::LostReceipt)) else {
        return;
    };
    let times = if *fault == Some(Fault::DoubleReceipt) {
        2
    } else {
        1
    };
    for _ in 0..times {
        tell_once(core, message, &event).await;
    }
}

async fn tell_once(core: &Arc<Core>, message: &Outbound, event: &Event) {
    let event_type = match event.step {
        Step::Sent => "message.sent",
        Step::Finalized => "message.finalized",
    };
    let (default, says) = if message.provider == Dialect::Twilio.name() {
        (
            core.settings.twilio.webhook_url.clone(),
            Says::Twilio(twilio_webhook::status(
                core,
                message,
                &event.status,
                &event.payload,
            )),
        )
    } else {
        let data = event_data(&event.id, event_type, event.occurred_at, &event.payload);
        (core.settings.webhook_url.clone(), Says::Telnyx(data))
    };
    let mut urls = vec![message.webhook_url.clone().unwrap_or(default)];
    urls.extend(message.webhook_failover_url.clone());
    let delivery = Delivery::new(core.ids.uuid(), urls.clone());
    let (first_call, called) = oneshot::channel();
    let job = Job {
        delivery: delivery.id,
        says,
        urls,
        first_call: Some(first_call),
    };
    core.ledger.record(Entry::Receipt {
        message_id: message.id.clone(),
        receipt: Receipt {
            event_id: event.id.clone(),
            event_type: event_type.to_owned(),
            status: event.status.clone(),
            occurred_at: event.occurred_at,
            delivery,
        },
    });
    let background = core.clone();
    core.spawn(async move {
        webhook::deliver(&background, job).await;
    });
    // An error means only that the simulator is stopping.
    let _called = called.await;
}

//! Processing of one delivered message, up to its acknowledgement.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use async_nats::jetstream::{self, AckKind};
use futures::FutureExt;
use prost::Message;
use seven_domain::{CasinoId, Clock, Queue, TraceContext};
use seven_telemetry::{metrics, trace};
use tokio::time::{Instant, sleep};

use super::{Delivery, Handler, Outcome, Shared};
use crate::{
    Error, Outgoing,
    client::{KEY_HEADER, trace_of},
    events,
};

impl<H: Handler> Shared<H> {
    /// Handles one message within the stage's span, a child of the span that published the message
    /// (OBS-6). No other code opens the stage's span.
    pub(super) async fn process(
        self: Arc<Self>,
        casino: CasinoId,
        queue: Option<Queue>,
        message: jetstream::Message,
    ) {
        let from = trace_of(message.headers.as_ref());
        let handled = self.handled(&casino, queue, &message, from);
        trace::consume(
            H::STAGE.as_str(),
            &casino,
            from,
            trace::Kind::Consumer,
            handled,
        )
        .await;
    }

    async fn handled(
        &self,
        casino: &CasinoId,
        queue: Option<Queue>,
        message: &jetstream::Message,
        from: TraceContext,
    ) {
        describe(message);
        let started = Instant::now();
        let work = self.work(casino, queue, message, from);
        tokio::pin!(work);
        // Sends a progress acknowledgement every `ack_wait` / 3. The server then does not redeliver
        // the message while it waits for a permit or is handled.
        let beat = self.bus.limits.ack_wait / 3;
        let outcome = loop {
            tokio::select! {
                outcome = &mut work => break outcome,
                () = sleep(beat) => self.acknowledge(message, AckKind::Progress).await,
            }
        };
        if let Ok(info) = message.info() {
            match outcome {
                Outcome::Retry { .. } => self.tries.failed(info.stream_sequence),
                Outcome::Done | Outcome::Park { .. } => self.tries.forget(info.stream_sequence),
                // A wait between two failures neither counts as a failure nor clears the count.
                Outcome::Wait { .. } | Outcome::Unavailable { .. } => {}
            }
        }
        metrics()
            .handling
            .with_label_values(&[H::STAGE.as_str()])
            .observe(started.elapsed().as_secs_f64());
        self.conclude(casino, message, outcome).await;
    }

    async fn work(
        &self,
        casino: &CasinoId,
        queue: Option<Queue>,
        message: &jetstream::Message,
        from: TraceContext,
    ) -> Outcome {
        let permit = tokio::select! {
            permit = self.reserve(queue).permits.acquire() => permit,
            () = self.shutdown.cancelled() => return Outcome::Wait {
                after: Duration::ZERO,
                why: "shutting_down",
            },
        };
        let Ok(_permit) = permit else {
            return Outcome::Wait {
                after: Duration::ZERO,
                why: "shutting_down",
            };
        };
        let (stream_seq, deliveries) = message
            .info()
            .map_or((0, 1), |i| (i.stream_sequence, i.delivered));
        let event = match H::Event::decode(message.payload.clone()) {
            Ok(event) => event,
            Err(error) => {
                return Outcome::Park {
                    reason: "undecodable".into(),
                    error: error.to_string(),
                    attempts: 1,
                };
            }
        };
        let (casino, key, tries) = (casino.clone(), key_of(message), self.tries.next(stream_seq));
        let delivery = Delivery {
            casino,
            event,
            trace: from,
            key,
            stream_seq,
            deliveries,
            tries,
        };
        let handled = AssertUnwindSafe(self.handler.handle(delivery)).catch_unwind();
        match tokio::time::timeout(self.settings.deadline, handled).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => failed(tries, "panicked"),
            Err(_) => failed(tries, "deadline"),
        }
    }

    async fn conclude(&self, casino: &CasinoId, message: &jetstream::Message, outcome: Outcome) {
        let waits = matches!(outcome, Outcome::Wait { .. });
        match &outcome {
            Outcome::Done => {}
            // Discards the span before a copy is published. The copy then keeps the original's
            // trace.
            Outcome::Wait { .. } => trace::discard(),
            Outcome::Retry { .. } => trace::fail("retry"),
            Outcome::Unavailable { .. } => trace::fail("unavailable"),
            Outcome::Park { reason, .. } => trace::fail(reason),
        }
        let (label, ack) = match outcome {
            Outcome::Done => ("done", AckKind::Ack),
            Outcome::Retry { after, why } => {
                tracing::warn!(
                    stage = %H::STAGE,
                    %casino,
                    why,
                    "message failed; it will be tried again"
                );
                ("retry", AckKind::Nak(Some(after)))
            }
            Outcome::Wait { after, why } => {
                tracing::debug!(stage = %H::STAGE, %casino, why, "message waits");
                ("wait", self.wait_ack(message, after).await)
            }
            Outcome::Unavailable { what } => {
                self.close_until_ready(&what);
                (
                    "unavailable",
                    self.wait_ack(message, Duration::from_secs(1)).await,
                )
            }
            Outcome::Park {
                reason,
                error,
                attempts,
            } => {
                tracing::error!(
                    stage = %H::STAGE,
                    %casino,
                    reason,
                    error,
                    "message parked as a dead letter"
                );
                match self.park(casino, message, reason, error, attempts).await {
                    Ok(()) => ("park", AckKind::Ack),
                    Err(_) => ("retry", AckKind::Nak(Some(Duration::from_secs(5)))),
                }
            }
        };
        metrics()
            .messages
            .with_label_values(&[H::STAGE.as_str(), label, casino.as_str()])
            .inc();
        trace::ended(label, waits);
        self.acknowledge(message, ack).await;
    }

    /// Returns the acknowledgement of a message that waits. Near the delivery limit, a fresh copy
    /// replaces the message. So only messages that crash workers reach `max_deliver`.
    async fn wait_ack(&self, message: &jetstream::Message, after: Duration) -> AckKind {
        let deliveries = message.info().map_or(1, |i| i.delivered);
        if self.bus.limits.max_deliver > 0
            && deliveries >= self.bus.limits.max_deliver - self.bus.limits.max_deliver / 4
        {
            let key = key_of(message);
            let sequence = message.info().map_or(0, |i| i.stream_sequence);
            let trace = trace_of(message.headers.as_ref()).to_string();
            let copy = Outgoing {
                subject: message.subject.to_string(),
                key: &key,
                copy: Some(format!("wait:{sequence}")),
                trace: &trace,
                payload: message.payload.clone(),
            };
            if self
                .bus
                .publish(&copy, Duration::from_secs(2))
                .await
                .is_ok()
            {
                return AckKind::Ack;
            }
        }
        AckKind::Nak(Some(after))
    }

    async fn park(
        &self,
        casino: &CasinoId,
        message: &jetstream::Message,
        reason: String,
        error: String,
        attempts: u32,
    ) -> Result<(), Error> {
        let letter = events::DeadLetter {
            stage: H::STAGE.as_str().to_owned(),
            casino: casino.as_str().to_owned(),
            reason,
            error,
            attempts,
            subject: message.subject.to_string(),
            message_key: key_of(message),
            payload: message.payload.clone(),
            stream_seq: message.info().map_or(0, |i| i.stream_sequence),
            guest_hash: String::new(),
        };
        self.bus
            .dead_letter(
                H::STAGE,
                casino,
                &letter,
                &trace_of(message.headers.as_ref()).to_string(),
            )
            .await
    }

    pub(super) async fn acknowledge(&self, message: &jetstream::Message, kind: AckKind) {
        if let Err(error) = message.ack_with(kind).await {
            // A lost acknowledgement leads to a redelivery, which idempotency makes harmless.
            tracing::debug!(stage = %H::STAGE, %error, "acknowledgement not sent");
        }
    }
}

/// Sets the span attributes that OpenTelemetry requires for processing a message. Also sets how
/// long the message was in the stream.
fn describe(message: &jetstream::Message) {
    if !trace::on() {
        return;
    }
    trace::set("messaging.system", "nats");
    trace::set("messaging.operation.type", "process");
    trace::tell("messaging.destination.name", &message.subject);
    trace::set("messaging.message.id", key_of(message));
    if let Ok(info) = message.info() {
        trace::set("seven.deliveries", info.delivered);
        let lain = Clock::default().now().timestamp_millis() - info.published.timestamp_millis();
        trace::set("seven.queued_ms", lain.max(0));
    }
}

fn key_of(message: &jetstream::Message) -> String {
    message
        .headers
        .as_ref()
        .and_then(|h| h.get(KEY_HEADER))
        .map(|v| v.as_str().to_owned())
        .unwrap_or_default()
}

/// Decides about a message whose handler panicked or timed out: it is retried, and becomes a dead
/// letter after `MOST` tries.
fn failed(tries: u32, why: &str) -> Outcome {
    const MOST: u32 = 5;
    if tries >= MOST {
        Outcome::Park {
            reason: why.to_owned(),
            error: format!("{why} on every try"),
            attempts: tries,
        }
    } else {
        Outcome::Retry {
            after: Duration::from_secs(1),
            why: why.to_owned(),
        }
    }
}

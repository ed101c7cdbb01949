//! Durable, then 2xx (D2): publish with an 800 ms acknowledgement deadline, else the spool, else 503. A STOP's suppression is
//! written before anything is answered (D7).

use std::time::Duration;

use bytes::Bytes;
use prost::Message;
use seven_bus::{Outgoing, events::DeadLetter, subject};
use seven_domain::{CasinoId, PhoneE164, Stage};
use seven_runtime::{Fleet, Mutant, failpoint, mutant, word_of};
use seven_store::{spool::Spooled, suppressions::Applied};
use seven_telemetry::metrics;

use crate::{answer::Answer, app::App, intake::Intake};

const PUBLISH_DEADLINE: Duration = Duration::from_millis(800);
/// With the publish and Redis this stays under the 1.5 s in which we answer (D2).
const STORE_DEADLINE: Duration = Duration::from_millis(500);

/// Waits for database work without ever cancelling it: a transaction dropped half begun would go back to the pool half begun.
async fn in_time<T: Send + 'static>(
    work: impl Future<Output = Result<T, seven_store::Error>> + Send + 'static,
) -> Option<T> {
    match tokio::time::timeout(STORE_DEADLINE, tokio::spawn(work)).await {
        Ok(Ok(Ok(value))) => Some(value),
        Ok(Ok(Err(_)) | Err(_)) | Err(_) => None,
    }
}

impl App {
    pub(crate) async fn accept(&self, intake: Intake, raw: &Bytes, trace: &str) -> Answer {
        if let Intake::Ignored { event_type } = intake {
            return Answer::Ignored { event_type };
        }
        let casino = match intake.number() {
            None => CasinoId::unknown(),
            Some(number) => match casino_of(&self.fleet, number).await {
                Some(casino) => casino,
                None => return Answer::NotStored,
            },
        };
        seven_telemetry::trace::concern(&casino);
        if let Intake::Text { event, stop, .. } = &intake {
            // Before anything else is said of the text (OBS-1).
            tracing::info!(%casino, provider = event.provider, stop = stop.is_some(), trace, "SMS inbound received");
        }
        match intake {
            Intake::Unusable { reason, ref error, .. } => self.bury(&casino, &intake, reason, error, raw, trace).await,
            _ if casino.is_unknown() => {
                self.bury(&casino, &intake, "unknown_number", "no casino has this number", raw, trace).await
            }
            Intake::Text { ref event, .. } if self.known(&casino, &intake, &event.provider_message_id).await => {
                metrics().duplicates.with_label_values(&[Stage::Ingress.as_str()]).inc();
                Answer::Duplicate { message_id: event.provider_message_id.clone() }
            }
            intake => self.deliver(&casino, &intake, trace).await,
        }
    }

    /// Only an ordinary text may end early on Redis's word; a STOP is always looked at.
    async fn known(&self, casino: &CasinoId, intake: &Intake, message_id: &str) -> bool {
        !matches!(intake, Intake::Text { stop: Some(_), .. })
            && self.fleet.cache.is_done(casino, &format!("in:{message_id}")).await
    }

    async fn deliver(&self, casino: &CasinoId, intake: &Intake, trace: &str) -> Answer {
        let Some((stage, key, payload)) = intake.message() else { return Answer::Accepted };
        let message = Outgoing { subject: subject(stage, casino, None), key: &key, copy: None, trace, payload };
        // Side by side: one after the other they could outlast the 1.5 s.
        let (suppressed, stored) = tokio::join!(self.suppress(casino, intake), self.make_durable(casino, &message));
        failpoint("ingress.after_publish");
        if stored && suppressed { Answer::Accepted } else { Answer::NotStored }
    }

    /// True unless a STOP could not be written to Postgres. Redis then refuses alone until Telnyx comes again.
    async fn suppress(&self, casino: &CasinoId, intake: &Intake) -> bool {
        let Intake::Text { from, stop: Some(keyword), occurred_at, event, .. } = intake else { return true };
        let word = word_of(keyword);
        let guest = self.fleet.keys.hash(casino, from);
        let (store, bound, at, event_id) =
            (self.fleet.store.clone(), casino.clone(), *occurred_at, event.event_id.clone());
        let written = async move {
            let mut tx = store.bind(&bound).await?;
            let applied = tx.stop(&guest, at, &event_id, word).await?;
            tx.commit().await?;
            Ok(applied)
        };
        let outcome = in_time(written).await;
        let seconds = (self.fleet.clock.now().timestamp_millis() - event.received_at).max(0) as f64 / 1_000.0;
        metrics().stop_seconds.with_label_values(&["suppression"]).observe(seconds);
        match outcome {
            Some(Applied::Superseded) => true,
            Some(Applied::Changed | Applied::Repeat) => {
                self.fleet.cache.refuse(casino, &guest, *occurred_at).await;
                failpoint("ingress.after_suppression");
                true
            }
            None => {
                metrics().stop_failures.with_label_values(&[casino.as_str(), "suppression"]).inc();
                tracing::error!(%casino, "a STOP could not be written; answering 503 so that it comes again");
                self.fleet.cache.refuse(casino, &guest, *occurred_at).await;
                false
            }
        }
    }

    async fn bury(
        &self,
        casino: &CasinoId,
        intake: &Intake,
        reason: &'static str,
        error: &str,
        raw: &Bytes,
        trace: &str,
    ) -> Answer {
        let key = self.fleet.ids.uuid().to_string();
        let guest_hash = match intake {
            Intake::Text { from, .. } => self.fleet.keys.hash(casino, from).tag(),
            Intake::Receipt { .. } | Intake::Ignored { .. } | Intake::Unusable { .. } => String::new(),
        };
        let letter = DeadLetter {
            stage: Stage::Ingress.as_str().into(),
            casino: casino.as_str().into(),
            reason: reason.into(),
            error: error.into(),
            attempts: 1,
            subject: String::new(),
            message_key: key.clone(),
            payload: raw.clone(),
            stream_seq: 0,
            guest_hash,
        };
        metrics().dead.with_label_values(&[Stage::Ingress.as_str(), casino.as_str(), reason]).inc();
        let subject = seven_bus::subject_for_dead(Stage::Ingress, casino);
        let message = Outgoing { subject, key: &key, copy: None, trace, payload: letter.encode_to_vec().into() };
        if self.make_durable(casino, &message).await { Answer::DeadLettered { reason } } else { Answer::NotStored }
    }

    async fn make_durable(&self, casino: &CasinoId, message: &Outgoing<'_>) -> bool {
        if mutant(Mutant::AckBeforePublish) {
            self.publish_later(message);
            return true;
        }
        match self.fleet.bus.publish(message, PUBLISH_DEADLINE).await {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%casino, error = &error as &dyn std::error::Error, "the bus did not take an event; spooling it");
                self.spool(casino, message).await
            }
        }
    }

    /// A mutant's: nobody hears whether it came to pass. Long enough for a kill to find something.
    fn publish_later(&self, message: &Outgoing<'_>) {
        let (bus, subject, key) = (self.fleet.bus.clone(), message.subject.clone(), message.key.to_owned());
        let (trace, payload) = (message.trace.to_owned(), message.payload.clone());
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(4)).await;
            let message = Outgoing { subject, key: &key, copy: None, trace: &trace, payload };
            bus.publish(&message, PUBLISH_DEADLINE).await.ok();
        });
    }

    async fn spool(&self, casino: &CasinoId, message: &Outgoing<'_>) -> bool {
        let spooled = Spooled {
            spool_id: self.fleet.ids.uuid(),
            subject: message.subject.clone(),
            message_key: message.key.to_owned(),
            headers: serde_json::json!({ "traceparent": message.trace }),
            payload: message.payload.to_vec(),
        };
        let (store, bound) = (self.fleet.store.clone(), casino.clone());
        let written = async move {
            let mut tx = store.bind(&bound).await?;
            tx.spool(&spooled).await?;
            tx.commit().await
        };
        in_time(written).await.is_some()
    }
}

/// Whose event is it? By the casino's number: from the roster, else from Postgres, so that a casino added a moment ago is found.
/// None: nobody could be asked. A number of no casino belongs to the unknown one.
async fn casino_of(fleet: &Fleet, number: &PhoneE164) -> Option<CasinoId> {
    if let Some(casino) = fleet.roster.casino_of(number.as_str()) {
        return Some(casino);
    }
    let (store, number) = (fleet.store.clone(), number.clone());
    let found = in_time(async move { store.casino_of_number(&number).await }).await?;
    Some(found.unwrap_or_else(CasinoId::unknown))
}

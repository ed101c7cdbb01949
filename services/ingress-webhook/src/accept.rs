//! Durable, then 2xx (D2): publish with an 800 ms acknowledgement deadline, else the spool, else 503. A STOP's suppression is
//! written before anything is answered (D7).

use std::time::Duration;

use bytes::Bytes;
use prost::Message;
use seven_bus::{Outgoing, events::DeadLetter, subject};
use seven_domain::{CasinoId, Stage};
use seven_runtime::failpoint;
use seven_store::{spool::Spooled, suppressions::Applied};
use seven_telemetry::metrics;

use crate::{answer::Answer, app::App, intake::Intake, route::casino_of};

const PUBLISH_DEADLINE: Duration = Duration::from_millis(800);
const STORE_DEADLINE: Duration = Duration::from_millis(600);

impl App {
    pub(crate) async fn accept(&self, intake: Intake, raw: &Bytes, trace: &str) -> Answer {
        if let Intake::Ignored { event_type } = intake {
            return Answer::Ignored { event_type };
        }
        let casino = match intake.number() {
            None => CasinoId::unknown(),
            Some(number) => match tokio::time::timeout(STORE_DEADLINE, casino_of(&self.fleet, number)).await {
                Ok(Ok(found)) => found.unwrap_or_else(CasinoId::unknown),
                Ok(Err(_)) | Err(_) => return Answer::NotStored,
            },
        };
        match intake {
            Intake::Unusable { reason, ref error, .. } => self.bury(&casino, reason, error, raw, trace).await,
            _ if casino.is_unknown() => self.bury(&casino, "unknown_number", "no casino has this number", raw, trace).await,
            Intake::Text { ref event, .. } if self.known(&casino, &intake, &event.provider_message_id).await => {
                metrics().duplicates.with_label_values(&[Stage::Ingress.as_str()]).inc();
                Answer::Duplicate { message_id: event.provider_message_id.clone() }
            }
            intake => self.deliver(&casino, &intake, trace).await,
        }
    }

    /// Only an ordinary text may end early on Redis's word; a STOP is always looked at.
    async fn known(&self, casino: &CasinoId, intake: &Intake, message_id: &str) -> bool {
        !matches!(intake, Intake::Text { stop: true, .. }) && self.fleet.cache.is_done(casino, &format!("in:{message_id}")).await
    }

    async fn deliver(&self, casino: &CasinoId, intake: &Intake, trace: &str) -> Answer {
        let suppressed = self.suppress(casino, intake).await;
        failpoint("ingress.after_suppression");
        let Some((stage, key, payload)) = intake.message() else { return Answer::Accepted };
        let message = Outgoing { subject: subject(stage, casino, None), key: &key, copy: None, trace, payload };
        let stored = self.make_durable(casino, &message).await;
        failpoint("ingress.after_publish");
        if stored && suppressed { Answer::Accepted } else { Answer::NotStored }
    }

    /// True unless a STOP could not be written to Postgres. Redis then refuses alone until Telnyx comes again.
    async fn suppress(&self, casino: &CasinoId, intake: &Intake) -> bool {
        let Intake::Text { from, stop: true, occurred_at, event, .. } = intake else { return true };
        let guest = self.fleet.keys.hash(casino, from);
        let written = async {
            let mut tx = self.fleet.store.bind(casino).await?;
            let applied = tx.stop(&guest, *occurred_at, &event.event_id).await?;
            tx.commit().await?;
            Ok::<_, seven_store::Error>(applied)
        };
        match tokio::time::timeout(STORE_DEADLINE, written).await {
            Ok(Ok(Applied::Superseded)) => true,
            Ok(Ok(Applied::Changed | Applied::Repeat)) => {
                self.fleet.cache.refuse(casino, &guest, *occurred_at).await;
                true
            }
            Ok(Err(_)) | Err(_) => {
                tracing::error!(%casino, "a STOP could not be written; answering 503 so that it comes again");
                self.fleet.cache.refuse(casino, &guest, *occurred_at).await;
                false
            }
        }
    }

    async fn bury(&self, casino: &CasinoId, reason: &'static str, error: &str, raw: &Bytes, trace: &str) -> Answer {
        let key = self.fleet.ids.uuid().to_string();
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
        };
        metrics().dead.with_label_values(&[Stage::Ingress.as_str(), reason]).inc();
        let subject = seven_bus::subject_for_dead(Stage::Ingress, casino);
        let message = Outgoing { subject, key: &key, copy: None, trace, payload: letter.encode_to_vec().into() };
        if self.make_durable(casino, &message).await { Answer::DeadLettered { reason } } else { Answer::NotStored }
    }

    async fn make_durable(&self, casino: &CasinoId, message: &Outgoing<'_>) -> bool {
        match self.fleet.bus.publish(message, PUBLISH_DEADLINE).await {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%casino, error = &error as &dyn std::error::Error, "the bus did not take an event; spooling it");
                self.spool(casino, message).await
            }
        }
    }

    async fn spool(&self, casino: &CasinoId, message: &Outgoing<'_>) -> bool {
        let spooled = Spooled {
            spool_id: self.fleet.ids.uuid(),
            subject: message.subject.clone(),
            message_key: message.key.to_owned(),
            headers: serde_json::json!({ "traceparent": message.trace }),
            payload: message.payload.to_vec(),
        };
        let written = async {
            let mut tx = self.fleet.store.bind(casino).await?;
            tx.spool(&spooled).await?;
            tx.commit().await
        };
        matches!(tokio::time::timeout(STORE_DEADLINE, written).await, Ok(Ok(())))
    }
}

//! Makes an event durable and only then answers 2xx (D2): publishes the event within 800 ms. If
//! that fails, spools the event; if that fails too, answers 503. A STOP's suppression is written
//! first (D7).

use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use prost::Message;
use seven_bus::{Outgoing, Route, events::DeadLetter, subject};
use seven_compliance::{Intent, Keyword, classify, echo};
use seven_domain::{CasinoId, PhoneE164, Stage, TWILIO};
use seven_faults::failpoint;
use seven_intake::Intake;
use seven_runtime::{Fleet, word_of};
use seven_store::suppressions::{Applied, Word};
use seven_telemetry::metrics;

use crate::{answer::Answer, app::App, mutant};

/// Reason of dead letters whose sender cannot be a guest. They are filed as settled, because nobody
/// has to act on them.
const ODD_SENDER: &str = "odd_sender";
const PUBLISH_TIMEOUT: Duration = Duration::from_millis(800);
/// Timeout of a call to Postgres. This timeout, the publish and the call to Redis together stay
/// under 1.5 s, the time within which we answer (D2).
const STORE_TIMEOUT: Duration = Duration::from_millis(500);

/// Waits for database work with a timeout, but does not cancel the work: a half-finished
/// transaction must not go back to the pool.
async fn in_time<T: Send + 'static>(
    work: impl Future<Output = Result<T, seven_store::Error>> + Send + 'static,
) -> Option<T> {
    match tokio::time::timeout(STORE_TIMEOUT, tokio::spawn(work)).await {
        Ok(Ok(Ok(value))) => Some(value),
        Ok(Ok(Err(_)) | Err(_)) | Err(_) => None,
    }
}

impl App {
    pub(crate) async fn accept(&self, intake: Intake, raw: &Bytes, trace: &str) -> Answer {
        if let Intake::Ignored { event_type } = intake {
            return Answer::Ignored { event_type };
        }
        let Some((route, intake)) = self.route_of(intake).await else {
            return Answer::NotStored;
        };
        let intake = self.at_its_first_call(route.first(), intake).await;
        let casino = match intake.written_at() {
            Some(written_at) => route.casino_at(written_at).clone(),
            None => route.casino,
        };
        seven_telemetry::trace::concern(&casino);
        if let Intake::Text { event, keyword, .. } = &intake {
            // This must be the first log line about the text.
            let stop = keyword.is_some_and(|keyword| keyword.intent == Intent::OptOut);
            tracing::info!(%casino, provider = event.provider, stop, trace, "SMS inbound received");
        }
        match intake {
            Intake::Unusable {
                reason, ref error, ..
            } => {
                self.dead_letter(&casino, &intake, reason, error, raw, trace)
                    .await
            }
            Intake::OddSender { ref error, .. } => {
                self.dead_letter(&casino, &intake, ODD_SENDER, error, raw, trace)
                    .await
            }
            _ if casino.is_unknown() => {
                if !self.stop_at_former(&intake).await {
                    return Answer::NotStored;
                }
                self.dead_letter(
                    &casino,
                    &intake,
                    "unknown_number",
                    "no casino has this number",
                    raw,
                    trace,
                )
                .await
            }
            Intake::Text { ref event, .. }
                if self
                    .known(&casino, &intake, &event.provider_message_id)
                    .await =>
            {
                metrics()
                    .duplicates
                    .with_label_values(&[Stage::Ingress.as_str()])
                    .inc();
                Answer::Duplicate {
                    message_id: event.provider_message_id.clone(),
                }
            }
            intake => self.deliver(&casino, &intake, trace).await,
        }
    }

    /// Returns the event's route. The first of the event's numbers that belongs to a casino
    /// decides; if there is none, the event's attempt decides. `None` if neither roster nor
    /// database could answer.
    async fn route_of(&self, intake: Intake) -> Option<(Route, Intake)> {
        for number in intake.numbers().into_iter().cloned().collect::<Vec<_>>() {
            let route = route_of(&self.fleet, &number).await?;
            if !route.casino.is_unknown() {
                return Some((route, intake.addressed_to(&number)));
            }
        }
        let Intake::Receipt {
            attempt: Some(attempt),
            ..
        } = intake
        else {
            return Some((Route::to(CasinoId::unknown()), intake));
        };
        let store = self.fleet.store.clone();
        let found = in_time(async move { store.casino_of_attempt(attempt).await }).await?;
        let casino = found.unwrap_or_else(CasinoId::unknown);
        Some((Route::to(casino), intake))
    }

    /// Sets the time of a Twilio text to the time of Twilio's first call about the text, because
    /// Twilio sends no time. The time of a repeated call would be too late: an old START could
    /// overrule a newer STOP (D7), and the text could go to a casino that took the number over
    /// after it was sent (D40). `casino` is the first casino that had the number, so it is the same
    /// at each call.
    async fn at_its_first_call(&self, casino: &CasinoId, mut intake: Intake) -> Intake {
        if let Intake::Text {
            occurred_at, event, ..
        } = &mut intake
            && event.provider == TWILIO
        {
            let first = self
                .fleet
                .cache
                .first_seen(casino, &event.provider_message_id, *occurred_at)
                .await;
            *occurred_at = first.min(*occurred_at);
            event.occurred_at = occurred_at.timestamp_millis();
        }
        intake
    }

    /// Returns whether Redis records the text as handled. Always returns false for a STOP: it must
    /// not be skipped on Redis's answer alone.
    async fn known(&self, casino: &CasinoId, intake: &Intake, message_id: &str) -> bool {
        !matches!(
            intake,
            Intake::Text {
                keyword: Some(Keyword {
                    intent: Intent::OptOut,
                    ..
                }),
                ..
            }
        ) && self
            .fleet
            .cache
            .is_done(casino, &format!("in:{message_id}"))
            .await
    }

    async fn deliver(&self, casino: &CasinoId, intake: &Intake, trace: &str) -> Answer {
        let Some((stage, key, payload)) = intake.message() else {
            return Answer::Accepted;
        };
        let message = Outgoing {
            subject: subject(stage, casino, None),
            key: &key,
            copy: None,
            trace,
            payload,
        };
        // Writes the suppression and publishes the event at the same time. One after the other, the
        // two could take longer than the 1.5 s within which we answer.
        let (suppressed, stored) = tokio::join!(
            self.suppress(casino, intake),
            self.make_durable(casino, &message)
        );
        failpoint!("ingress.after_publish");
        if stored && suppressed {
            Answer::Accepted
        } else {
            Answer::NotStored
        }
    }

    /// Writes the suppression of a STOP. Returns false if Postgres could not store the suppression.
    /// Only Redis then refuses texts to the guest, until the provider repeats its call.
    async fn suppress(&self, casino: &CasinoId, intake: &Intake) -> bool {
        let Intake::Text {
            to,
            from,
            keyword: Some(keyword),
            occurred_at,
            event,
            ..
        } = intake
        else {
            return true;
        };
        let is_ours = self.fleet.roster.casino_of(from.as_str()).is_some();
        if keyword.intent != Intent::OptOut || is_ours {
            return true;
        }
        let word = word_of(
            keyword,
            &event.provider,
            &event.text,
            !event.autoresponse.is_empty(),
        );
        let guest = self.fleet.keys.hash(casino, from);
        let (store, bound, at, event_id) = (
            self.fleet.store.clone(),
            casino.clone(),
            *occurred_at,
            event.event_id.clone(),
        );
        // The guest's last texts from us are read only if this text may quote one of them. A bare
        // STOP needs no such query.
        let may_be_ours = event.autoresponse.is_empty()
            && (keyword.pattern_id.contains(".nl.") || echo::may_quote(&event.text));
        let said = may_be_ours.then(|| event.text.clone());
        let (number, phone) = (to.clone(), from.clone());
        let former = StopToCarry {
            number,
            phone,
            at,
            event_id: event_id.clone(),
            method: word.method,
        };
        let fleet = self.fleet.clone();
        let written = async move {
            let mut tx = store.bind(&bound).await?;
            let quotes_us = match &said {
                Some(text) => tx
                    .last_texts(&guest, echo::TEXTS_REMEMBERED)
                    .await
                    .is_ok_and(|ours| says_ours(text, &ours)),
                None => false,
            };
            let applied = if quotes_us {
                Applied::Superseded
            } else {
                tx.stop(&guest, at, &event_id, word).await?
            };
            tx.commit().await?;
            if !quotes_us {
                former.reach(&fleet, &bound).await?;
            }
            Ok(applied)
        };
        let outcome = in_time(written).await;
        let seconds =
            (self.fleet.clock.now().timestamp_millis() - event.received_at).max(0) as f64 / 1_000.0;
        metrics()
            .stop_seconds
            .with_label_values(&["suppression"])
            .observe(seconds);
        match outcome {
            Some(Applied::Superseded) => true,
            Some(Applied::Changed | Applied::Repeat) => {
                self.fleet.cache.refuse(casino, &guest, *occurred_at).await;
                failpoint!("ingress.after_suppression");
                true
            }
            None => {
                metrics()
                    .stop_failures
                    .with_label_values(&[casino.as_str(), "suppression"])
                    .inc();
                tracing::error!(
                    %casino,
                    "a STOP could not be written; answering 503 so that it comes again"
                );
                self.fleet.cache.refuse(casino, &guest, *occurred_at).await;
                false
            }
        }
    }

    /// Stores a STOP to a number that no casino has now. It is stored for the casinos that had the
    /// number before (D40), because no gate will read the text. Returns false if the STOP could not
    /// be stored.
    async fn stop_at_former(&self, intake: &Intake) -> bool {
        let Intake::Text {
            to,
            from,
            keyword: Some(keyword),
            occurred_at,
            event,
            ..
        } = intake
        else {
            return true;
        };
        if keyword.intent != Intent::OptOut {
            return true;
        }
        let word = word_of(
            keyword,
            &event.provider,
            &event.text,
            !event.autoresponse.is_empty(),
        );
        let (number, phone, event_id) = (to.clone(), from.clone(), event.event_id.clone());
        let said = StopToCarry {
            number,
            phone,
            at: *occurred_at,
            event_id,
            method: word.method,
        };
        let fleet = self.fleet.clone();
        in_time(async move { said.reach(&fleet, &CasinoId::unknown()).await })
            .await
            .is_some()
    }

    async fn dead_letter(
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
            Intake::Receipt { .. }
            | Intake::OddSender { .. }
            | Intake::Ignored { .. }
            | Intake::Unusable { .. } => String::new(),
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
        metrics()
            .dead
            .with_label_values(&[Stage::Ingress.as_str(), casino.as_str(), reason])
            .inc();
        let subject = seven_bus::subject_for_dead(Stage::Ingress, casino);
        let message = Outgoing {
            subject,
            key: &key,
            copy: None,
            trace,
            payload: letter.encode_to_vec().into(),
        };
        if self.make_durable(casino, &message).await {
            Answer::DeadLettered { reason }
        } else {
            Answer::NotStored
        }
    }

    async fn make_durable(&self, casino: &CasinoId, message: &Outgoing<'_>) -> bool {
        if mutant::publishes_later(&self.fleet.bus, message) {
            return true;
        }
        match self.fleet.bus.publish(message, PUBLISH_TIMEOUT).await {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(
                    %casino,
                    error = &error as &dyn std::error::Error,
                    "publishing an event failed; it is spooled in Postgres"
                );
                self.spool(casino, message).await
            }
        }
    }

    async fn spool(&self, casino: &CasinoId, message: &Outgoing<'_>) -> bool {
        let spooled = self.fleet.spooled(message);
        let (store, bound) = (self.fleet.store.clone(), casino.clone());
        let written = async move {
            let mut tx = store.bind(&bound).await?;
            tx.spool(&spooled).await?;
            tx.commit().await
        };
        in_time(written).await.is_some()
    }
}

/// The parts of a STOP that are written for the casinos that had the number before.
struct StopToCarry {
    number: PhoneE164,
    phone: PhoneE164,
    at: DateTime<Utc>,
    event_id: String,
    method: &'static str,
}

impl StopToCarry {
    /// Writes the STOP for each casino that had the number before or has just taken it over. A
    /// casino is left out if it cannot have exchanged texts with the guest through the number.
    async fn reach(&self, fleet: &Fleet, casino: &CasinoId) -> Result<(), seven_store::Error> {
        // The worker of a single casino may not write rows of other casinos, so the scheduler
        // extends the STOP to them.
        if !fleet.roster.only().is_empty() {
            return Ok(());
        }
        for reached in fleet
            .store
            .stop_reaches(self.number.as_str(), casino, "")
            .await?
        {
            if mutant::forgets_former() {
                break;
            }
            let guest = fleet.keys.hash(&reached.casino, &self.phone);
            let mut tx = fleet.store.bind(&reached.casino).await?;
            if tx
                .may_have_spoken_over(&guest, self.number.as_str())
                .await?
            {
                // The provider blocks only the number that the guest wrote to, not this casino's
                // own number.
                let word = Word {
                    method: self.method,
                    provider_knows: false,
                };
                tx.stop(&guest, self.at, &self.event_id, word).await?;
                tx.commit().await?;
                fleet.cache.refuse(&reached.casino, &guest, self.at).await;
            }
        }
        Ok(())
    }
}

/// Returns whether the opt-out in a text is our own wording, quoted by the guest.
fn says_ours(text: &str, ours: &[String]) -> bool {
    let opts_out =
        |text: &str| classify(text).is_some_and(|keyword| keyword.intent == Intent::OptOut);
    echo::without_ours(text, ours)
        .is_some_and(|theirs| !opts_out(&theirs.whole()) && !opts_out(&theirs.added))
}

/// Returns the route of the number, from the roster or else from Postgres, which knows newer
/// casinos. A number without a casino leads to the unknown casino. `None` if the database could not
/// answer.
async fn route_of(fleet: &Fleet, number: &PhoneE164) -> Option<Route> {
    if let Some(route) = fleet.roster.route_of(number.as_str()) {
        return Some(route);
    }
    let (store, number) = (fleet.store.clone(), number.clone());
    let found = in_time(async move {
        let casino = store.casino_of_number(&number).await?;
        Ok((casino, store.former_of_number(&number).await?))
    });
    let (casino, former) = found.await?;
    Some(Route {
        former,
        ..Route::to(casino.unwrap_or_else(CasinoId::unknown))
    })
}

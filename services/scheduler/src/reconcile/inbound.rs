//! Recovers guests' texts: publishes texts whose webhook never came, as ingress would have.

use std::time::Duration;

use prost::Message as _;
use seven_bus::{Outgoing, RECOVERED, RECOVERED_AFTER_RESTORE, events::InboundText, subject};
use seven_compliance::{Intent, classify, provider};
use seven_domain::{PhoneE164, Stage, TraceContext};
use seven_providers::records::{Direction, Message, Span};
use seven_runtime::{Error, word_of};
use seven_store::reconcile::ReconciledAs;
use seven_store::suppressions::Applied;
use seven_telemetry::metrics;

use super::{Held, Run};

impl Run<'_> {
    pub(super) async fn texts(&mut self) -> Result<(), Error> {
        let records = self.records;
        for Held {
            number,
            since,
            until,
        } in self.numbers.clone()
        {
            let from = since.map_or(self.since, |since| since.max(self.since));
            let until = until.map_or(self.until, |until| until.min(self.until));
            let span = Span {
                direction: Direction::Inbound,
                number,
                from,
                until,
            };
            if span.from >= span.until {
                continue;
            }
            let listed = self
                .all(|page| {
                    Box::pin({
                        let span = span.clone();
                        async move { records.texts(&span, page).await }
                    })
                })
                .await?;
            self.report.texts_listed += listed.len();
            for chunk in listed.chunks(500) {
                let ids: Vec<String> = chunk
                    .iter()
                    .map(|record| record.message_id.clone())
                    .collect();
                let mut tx = self.fleet.store.bind(self.casino).await?;
                let unheard = tx.unheard(records.name(), &ids).await?;
                tx.commit().await?;
                // Keeps the provider's order of the ids.
                for id in ids.iter().filter(|id| unheard.contains(id)) {
                    if self.dry {
                        self.report.texts_recovered += 1;
                    } else if let Some(message) = self.ask(|| records.message(id)).await? {
                        self.recover(&message).await?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Handles a text as ingress does: if it is a STOP, writes the opt-out; then publishes the
    /// text. The mark that the text was recovered is committed last. If the process dies before
    /// that commit, the next run publishes the text again, and the gate recognises the duplicate.
    async fn recover(&mut self, message: &Message) -> Result<(), Error> {
        let (from, to): (PhoneE164, PhoneE164) = (message.from.parse()?, message.to.parse()?);
        let lost = self
            .restored_at
            .is_some_and(|restored_at| message.at <= restored_at);
        let found = if lost {
            RECOVERED_AFTER_RESTORE
        } else {
            RECOVERED
        };
        let event = InboundText {
            provider: self.records.name().into(),
            provider_message_id: message.message_id.clone(),
            event_id: format!("{found}{}", message.message_id),
            from: from.as_str().to_owned(),
            to: to.as_str().to_owned(),
            text: message
                .text
                .as_deref()
                .unwrap_or_default()
                .replace('\0', ""),
            media_count: u32::try_from(message.media_count).unwrap_or(u32::MAX),
            autoresponse: message.autoresponse.clone().unwrap_or_default(),
            occurred_at: message.at.timestamp_millis(),
            received_at: self.fleet.clock.now().timestamp_millis(),
            channel: "sms".into(),
        };
        let mut tx = self.fleet.store.bind(self.casino).await?;
        if !tx
            .mark_reconciled(
                self.records.name(),
                &message.message_id,
                ReconciledAs::Inbound,
            )
            .await?
        {
            return Ok(());
        }
        let word = provider::keyword(&event.autoresponse).or_else(|| classify(&event.text));
        if let Some(keyword) = word.filter(|keyword| keyword.intent == Intent::OptOut) {
            let guest = self.fleet.keys.hash(self.casino, &from);
            let mut stop = self.fleet.store.bind(self.casino).await?;
            let word = word_of(
                &keyword,
                &event.provider,
                &event.text,
                !event.autoresponse.is_empty(),
            );
            let applied = stop.stop(&guest, message.at, &event.event_id, word).await?;
            stop.commit().await?;
            if applied != Applied::Superseded {
                self.fleet
                    .cache
                    .refuse(self.casino, &guest, message.at)
                    .await;
            }
        }
        let outgoing = Outgoing {
            subject: subject(Stage::Gate, self.casino, None),
            key: &event.event_id,
            copy: None,
            trace: &TraceContext::of_text(&event.provider, &event.provider_message_id).to_string(),
            payload: event.encode_to_vec().into(),
        };
        self.fleet
            .bus
            .publish(&outgoing, Duration::from_secs(5))
            .await?;
        tx.commit().await?;
        metrics().swept.with_label_values(&["recovered_text"]).inc();
        self.report.texts_recovered += 1;
        Ok(())
    }
}

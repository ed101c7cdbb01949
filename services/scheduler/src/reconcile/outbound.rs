//! Settles sends whose outcome is unknown: by the provider's record, or because the provider never
//! got the text (D5).

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    time::Duration,
};

use chrono::TimeDelta;
use prost::Message as _;
use seven_bus::{Outgoing, events::Receipt, subject};
use seven_domain::{AttemptId, OutboundId, OutboundState, Stage, sending::by_receipt};
use seven_providers::records::{Direction, Message, Record, Span};
use seven_runtime::Error;
use seven_store::reconcile::{Unseen, Unsettled};
use uuid::Uuid;

use super::{Held, Run};

/// The provider's record may be this much older than our call, because clocks differ.
const CLOCK_SKEW: TimeDelta = TimeDelta::seconds(60);

impl Run<'_> {
    pub(super) async fn sends(&mut self) -> Result<(), Error> {
        let mut tx = self.fleet.store.bind(self.casino).await?;
        // Goes further back than the search for guests' texts, because a send stays in doubt until
        // it is settled.
        let since = self.fleet.clock.now() - super::MAX_LOOKBACK;
        let unsettled = tx
            .unsettled(
                self.records.name(),
                since,
                self.since,
                self.fleet.timing.records_margin(),
            )
            .await?;
        tx.commit().await?;
        self.report.sends_in_doubt = unsettled
            .iter()
            .map(|u| u.outbound_id)
            .collect::<HashSet<_>>()
            .len();
        let (named, nameless): (Vec<_>, Vec<_>) = unsettled
            .into_iter()
            .partition(|u| u.provider_message_id.is_some());
        for send in &named {
            let id = send.provider_message_id.as_deref().unwrap_or_default();
            let records = self.records;
            if let Some(message) = self.ask(|| records.message(id)).await? {
                self.settle(send, &message).await?;
            }
        }
        self.nameless(&nameless).await
    }

    /// Settles attempts whose call got no answer and hence no message id. The provider's record
    /// contains the webhook's address, which names the attempt.
    async fn nameless(&mut self, sends: &[Unsettled]) -> Result<(), Error> {
        let Some(oldest) = sends.iter().map(|send| send.started_at).min() else {
            return Ok(());
        };
        let mut found: HashMap<AttemptId, Message> = HashMap::new();
        for record in self.strangers(sends, oldest - CLOCK_SKEW).await? {
            let records = self.records;
            if let Some(message) = self.ask(|| records.message(&record.message_id)).await?
                && let Some(attempt) = message.attempt
            {
                found.insert(attempt, message);
            }
        }
        let mut texts: BTreeMap<Uuid, Vec<&Unsettled>> = BTreeMap::new();
        for send in sends {
            texts.entry(send.outbound_id).or_default().push(send);
        }
        for (outbound, attempts) in texts {
            let hits: Vec<_> = attempts
                .iter()
                .filter_map(|send| Some((*send, found.get(&AttemptId(send.attempt_id))?)))
                .collect();
            for (send, message) in &hits {
                self.settle(send, message).await?;
            }
            let listed = attempts.iter().all(|s| {
                self.numbers
                    .iter()
                    .any(|held| held.number.as_str() == s.casino_number)
            });
            if (self.dry || self.resend)
                && hits.is_empty()
                && listed
                && attempts
                    .iter()
                    .all(|send| send.state == OutboundState::Unknown)
            {
                self.unseen(OutboundId(outbound)).await?;
            }
        }
        Ok(())
    }

    /// Returns the provider's records of texts to the guests of these sends. Leaves out records
    /// whose message id we know.
    async fn strangers(
        &mut self,
        sends: &[Unsettled],
        from: chrono::DateTime<chrono::Utc>,
    ) -> Result<Vec<Record>, Error> {
        let guests: HashSet<&str> = sends.iter().map(|send| send.phone.as_str()).collect();
        let (records, until) = (self.records, self.fleet.clock.now() + CLOCK_SKEW);
        let mut strangers = Vec::new();
        for Held { number, .. } in self.numbers.clone() {
            let span = Span {
                direction: Direction::Outbound,
                number,
                from,
                until,
            };
            let listed = self
                .all(|page| {
                    Box::pin({
                        let span = span.clone();
                        async move { records.texts(&span, page).await }
                    })
                })
                .await?;
            strangers.extend(
                listed
                    .into_iter()
                    .filter(|record| guests.contains(record.guest.as_str())),
            );
        }
        let ids: Vec<String> = strangers
            .iter()
            .map(|record| record.message_id.clone())
            .collect();
        let mut tx = self.fleet.store.bind(self.casino).await?;
        let known = tx.known_sends(records.name(), &ids).await?;
        tx.commit().await?;
        strangers.retain(|record| !known.contains(&record.message_id));
        Ok(strangers)
    }

    /// Publishes the receipt that the missing webhook would have brought. The receipt goes to the
    /// same stage, so it has the same effects.
    async fn settle(&mut self, send: &Unsettled, message: &Message) -> Result<(), Error> {
        // Does nothing if the webhook may still come, or if the record contains no news.
        if message.status == "queued" || by_receipt(send.state, &message.status).is_none() {
            return Ok(());
        }
        self.report.sends_settled += 1;
        if self.dry {
            return Ok(());
        }
        let event = Receipt {
            provider: self.records.name().into(),
            provider_message_id: message.message_id.clone(),
            status: message.status.clone(),
            event_id: format!("reconcile:{}:{}", message.message_id, message.status),
            attempt_id: seven_bus::id_bytes(send.attempt_id),
            error_code: message.error_code.clone().unwrap_or_default(),
            carrier: String::new(),
            occurred_at: message.at.timestamp_millis(),
        };
        let outgoing = Outgoing {
            subject: subject(Stage::Receipts, self.casino, None),
            key: &event.event_id,
            copy: None,
            trace: "",
            payload: event.encode_to_vec().into(),
        };
        Ok(self
            .fleet
            .bus
            .publish(&outgoing, Duration::from_secs(5))
            .await?)
    }

    async fn unseen(&mut self, outbound: OutboundId) -> Result<(), Error> {
        let mut tx = self.fleet.store.bind(self.casino).await?;
        let unseen = tx.never_had(outbound).await?;
        match unseen {
            Unseen::Requeued(_) => self.report.sends_requeued += 1,
            Unseen::Ended => self.report.sends_ended += 1,
            Unseen::Gone => {}
        }
        if self.dry {
            // The transaction is dropped without a commit, so nothing changes.
            return Ok(());
        }
        tx.commit().await?;
        if let Unseen::Requeued(queued) = unseen {
            let copy = format!("reconcile:{}", self.fleet.ids.uuid());
            self.fleet
                .signal_queued(self.casino, &[queued], Some(&copy), "")
                .await?;
        }
        Ok(())
    }
}

//! Updates the states of attempts and texts from delivery receipts, which may come in any order and
//! any number of times.

use chrono::{TimeDelta, TimeZone, Utc};
use seven_bus::{Delivery, Handler, Outcome, events::Receipt};
use seven_domain::{AttemptId, AuditEvent, CasinoId, OutboundState, Stage};
use seven_faults::failpoint;
use seven_providers::{ErrorClass, verdict};
use seven_runtime::{Error, Fleet, outcome_of};
use seven_store::{
    Tx,
    audit::Entry,
    receipts::{Filed, NewReceipt, ReceiptOutcome},
};
use seven_telemetry::{metrics, trace};

use crate::stops;

#[derive(Debug)]
pub struct Receipts {
    pub(crate) fleet: Fleet,
}

impl Handler for Receipts {
    type Event = Receipt;
    const STAGE: Stage = Stage::Receipts;

    async fn handle(&self, delivery: Delivery<Receipt>) -> Outcome {
        match self.process(&delivery).await {
            Ok(()) => Outcome::Done,
            Err(error) => outcome_of(&error, delivery.tries),
        }
    }

    async fn ready(&self) -> bool {
        self.fleet.store.ready().await
    }
}

/// Maximum age of a receipt whose error code is acted on. After a restart of NATS, old receipts are
/// read again (D25); they must not repeat a stop that was lifted. Opt-outs are exempt, because
/// `opted_out::sync` compares times.
const ERROR_CODE_CURRENT_FOR: TimeDelta = TimeDelta::hours(1);

fn is_news(class: ErrorClass, age: TimeDelta) -> bool {
    class == ErrorClass::OptedOut || age < ERROR_CODE_CURRENT_FOR
}

impl Receipts {
    /// Records the receipt at the casino that made the attempt. This casino is not `by_number` if
    /// `by_number` has taken the number over since the attempt.
    async fn file(
        &self,
        by_number: &CasinoId,
        receipt: &NewReceipt,
    ) -> Result<(Tx, CasinoId, Filed), Error> {
        let mut tx = self.fleet.store.bind(by_number).await?;
        let filed = tx.record_receipt(receipt).await?;
        // A worker for one casino may not read other casinos' attempts.
        let may_look = self.fleet.roster.only().is_empty();
        if let (ReceiptOutcome::Stranger, Some(attempt), true) =
            (filed.outcome, receipt.attempt_id, may_look)
            && let Some(sender) = self.fleet.store.casino_of_attempt(attempt).await?
            && sender != *by_number
        {
            tx.rollback().await?;
            let mut tx = self.fleet.store.bind(&sender).await?;
            let filed = tx.record_receipt(receipt).await?;
            return Ok((tx, sender, filed));
        }
        Ok((tx, by_number.clone(), filed))
    }

    async fn process(&self, delivery: &Delivery<Receipt>) -> Result<(), Error> {
        let event = &delivery.event;
        let attempt_id = if event.attempt_id.is_empty() {
            None
        } else {
            Some(seven_bus::id::<AttemptId>(&event.attempt_id)?)
        };
        let receipt = NewReceipt {
            provider: event.provider.clone(),
            provider_message_id: event.provider_message_id.clone(),
            status: event.status.clone(),
            event_id: event.event_id.clone(),
            attempt_id,
            error_code: (!event.error_code.is_empty()).then(|| event.error_code.clone()),
            carrier: (!event.carrier.is_empty()).then(|| event.carrier.clone()),
            occurred_at: Utc
                .timestamp_millis_opt(event.occurred_at)
                .single()
                .ok_or_else(|| Error::Other("a receipt's time is out of range".into()))?,
        };
        let (
            mut tx,
            casino,
            Filed {
                outcome,
                attempt,
                trace,
            },
        ) = self.file(&delivery.casino, &receipt).await?;
        // The webhook knew only the attempt. From here on, spans go to the trace of the receipt's
        // text.
        trace::adopt(&trace);
        if let (
            ReceiptOutcome::Moved(outbound, OutboundState::Failed | OutboundState::Undelivered),
            Some(attempt),
        ) = (outcome, attempt)
        {
            let guest = tx.call_of(attempt).await?.map(|call| call.guest);
            let subject = outbound.to_string();
            let detail =
                serde_json::json!({ "status": receipt.status, "error_code": receipt.error_code });
            let entry = Entry::of(
                AuditEvent::SmsDeliveryFailed,
                "outbound-sender",
                &subject,
                detail,
            );
            tx.audit(&Entry {
                guest: guest.as_ref(),
                ..entry
            })
            .await?;
        }
        failpoint!("receipts.before_commit");
        tx.commit().await?;
        failpoint!("receipts.after_commit");
        if let (Some(code), Some(attempt)) = (receipt.error_code.as_deref(), attempt)
            && let class = verdict(&receipt.provider, code, 0).class
            && is_news(class, self.fleet.clock.now() - receipt.occurred_at)
        {
            stops::act_on(
                &self.fleet,
                &casino,
                &receipt.provider,
                code,
                class,
                attempt,
            )
            .await?;
        }
        let label = match outcome {
            ReceiptOutcome::Moved(..) => "moved",
            ReceiptOutcome::NoChange(_) => "no_change",
            ReceiptOutcome::Stranger => "stranger",
        };
        trace::tell("seven.receipt.status", &receipt.status);
        trace::set("seven.receipt.outcome", label);
        if let Some(code) = &receipt.error_code {
            trace::tell("error.type", code);
        }
        match outcome {
            ReceiptOutcome::Moved(_, OutboundState::Failed | OutboundState::Undelivered) => {
                trace::fail("undelivered");
            }
            ReceiptOutcome::Stranger => trace::discard(),
            ReceiptOutcome::Moved(..) | ReceiptOutcome::NoChange(_) => {}
        }
        tracing::info!(
            %casino,
            event_id = receipt.event_id,
            status = receipt.status,
            outcome = label,
            "receipt"
        );
        metrics().receipts.with_label_values(&[label]).inc();
        if let ReceiptOutcome::Moved(_, state) = outcome {
            let labels = [casino.as_str(), receipt.provider.as_str(), state.as_str()];
            metrics().texts.outcomes.with_label_values(&labels).inc();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // D25
    fn an_old_receipt_stops_nobody_but_for_a_guest() {
        for class in [
            ErrorClass::Account,
            ErrorClass::SpendLimit,
            ErrorClass::Permanent,
        ] {
            assert!(
                is_news(class, TimeDelta::minutes(59)) && !is_news(class, TimeDelta::hours(1)),
                "{class:?}"
            );
        }
        assert!(is_news(ErrorClass::OptedOut, TimeDelta::days(7)));
        assert!(
            is_news(ErrorClass::Account, TimeDelta::minutes(-1)),
            "the provider's clock is ahead"
        );
    }
}

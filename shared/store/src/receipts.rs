//! Delivery receipts from the provider's webhooks (D5): they may arrive out of order, repeatedly,
//! or for sends that we never made.

use chrono::{DateTime, Utc};
use seven_domain::{AttemptId, AttemptOutcome, OutboundId, OutboundState, sending::by_receipt};
use uuid::Uuid;

use crate::{Result, Tx, due::DueKind};

#[derive(Debug, Clone)]
pub struct NewReceipt {
    pub provider: String,
    pub provider_message_id: String,
    /// The provider's status: sent, delivered, delivery_failed ...
    pub status: String,
    pub event_id: String,
    pub attempt_id: Option<AttemptId>,
    pub error_code: Option<String>,
    /// The recipient's carrier, if the provider names it.
    pub carrier: Option<String>,
    pub occurred_at: DateTime<Utc>,
}

/// Effect of a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiptOutcome {
    Moved(OutboundId, OutboundState),
    /// The text is known, but the receipt changes nothing: it is repeated or outdated.
    NoChange(OutboundId),
    /// None of our attempts has this id.
    Stranger,
}

/// A receipt that was filed.
#[derive(Debug, Clone)]
pub struct Filed {
    pub outcome: ReceiptOutcome,
    /// The attempt that the receipt concerns.
    pub attempt: Option<AttemptId>,
    /// The trace of the attempt's text, or an empty string.
    pub trace: String,
}

impl Tx {
    /// Files the receipt, and sets the states of its attempt and text accordingly.
    pub async fn record_receipt(&mut self, receipt: &NewReceipt) -> Result<Filed> {
        let casino = self.casino_str();
        let attempt: Option<(Uuid, Uuid, String)> = sqlx::query_as(
            "select a.attempt_id, a.outbound_id, coalesce((select trace from outbound_messages o where o.outbound_id = a.outbound_id), '')
             from (select attempt_id, outbound_id, 1 as place from send_attempts where attempt_id = $1
               union all
               select attempt_id, outbound_id, 2 from send_attempts where provider = $2 and provider_message_id = $3) a
             order by place limit 1",
        )
        .bind(receipt.attempt_id.map(|a| a.0))
        .bind(&receipt.provider)
        .bind(&receipt.provider_message_id)
        .fetch_optional(self.conn())
        .await?;
        sqlx::query(
            "insert into receipts (casino_id, provider, provider_message_id, status, event_id, attempt_id, outbound_id, error_code, occurred_at, carrier)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing",
        )
        .bind(casino)
        .bind(&receipt.provider)
        .bind(&receipt.provider_message_id)
        .bind(&receipt.status)
        .bind(&receipt.event_id)
        .bind(attempt.as_ref().map(|a| a.0))
        .bind(attempt.as_ref().map(|a| a.1))
        .bind(&receipt.error_code)
        .bind(receipt.occurred_at)
        .bind(&receipt.carrier)
        .execute(self.conn())
        .await?;
        let Some((attempt_id, outbound_id, trace)) = attempt else {
            return Ok(Filed {
                outcome: ReceiptOutcome::Stranger,
                attempt: None,
                trace: String::new(),
            });
        };
        let outcome = self.apply_receipt(receipt, attempt_id, outbound_id).await?;
        Ok(Filed {
            outcome,
            attempt: Some(AttemptId(attempt_id)),
            trace,
        })
    }

    async fn apply_receipt(
        &mut self,
        receipt: &NewReceipt,
        attempt_id: Uuid,
        outbound_id: Uuid,
    ) -> Result<ReceiptOutcome> {
        let query = "select state from outbound_messages where outbound_id = $1 for update";
        let state = sqlx::query_scalar(query)
            .bind(outbound_id)
            .fetch_one(self.conn())
            .await?;
        let outbound = OutboundId(outbound_id);
        let Some(to) = by_receipt(state, &receipt.status) else {
            return Ok(ReceiptOutcome::NoChange(outbound));
        };
        let outcome = match to {
            OutboundState::Failed | OutboundState::Undelivered => AttemptOutcome::Rejected,
            _ => AttemptOutcome::Confirmed,
        };
        sqlx::query("update send_attempts set outcome = $2, provider_message_id = $3, error_code = coalesce($4, error_code), finished_at = coalesce(finished_at, now()) where attempt_id = $1")
            .bind(attempt_id)
            .bind(outcome)
            .bind(&receipt.provider_message_id)
            .bind(&receipt.error_code)
            .execute(self.conn())
            .await?;
        sqlx::query(
            "update outbound_messages set state = $2, error_code = coalesce($3, error_code), provider_message_id = coalesce(provider_message_id, $4),
               sent_at = coalesce(sent_at, now()), ended_at = case when $2 = 'sent' then null else now() end,
               reason = case when $2 in ('failed', 'undelivered') then coalesce($3, $5) else null end
             where outbound_id = $1",
        )
        .bind(outbound_id)
        .bind(to)
        .bind(&receipt.error_code)
        .bind(&receipt.provider_message_id)
        .bind(&receipt.status)
        .execute(self.conn())
        .await?;
        self.clear_due(DueKind::AttemptDoubt, attempt_id).await?;
        self.record_disclosure(outbound).await?;
        if matches!(to, OutboundState::Failed) {
            self.cancel_later_parts(outbound, "earlier_part_failed")
                .await?;
        }
        Ok(ReceiptOutcome::Moved(outbound, to))
    }
}

//! The end of an attempt and its effect on the text. A single statement writes both, which saves a
//! round trip for every text.

use std::time::Duration;

use seven_domain::{AttemptId, GuestHash, OutboundId, OutboundState};
use sqlx::FromRow;

use super::{AttemptEnd, Next};
use crate::{Result, Tx, audit::Entry, due::DueKind};

/// A text whose state changed because an attempt ended.
#[derive(FromRow)]
struct Ended {
    /// Whether the text carried a disclosure.
    discloses: bool,
}

/// Locks the text, then its attempt, then the attempt's due row. A receipt that arrives at the same
/// time takes its locks in the same order. An attempt in doubt keeps its due row.
const END_ATTEMPT: &str = include_str!("../../sql/end_attempt.sql");

impl Tx {
    /// Records how an attempt ended and moves its text to the next state. The text is not moved if
    /// a receipt arrived before the provider's answer, or if there is a newer attempt.
    pub async fn end_attempt(
        &mut self,
        outbound: OutboundId,
        attempt: AttemptId,
        end: &AttemptEnd,
        next: Next,
        entry: Option<&Entry<'_>>,
    ) -> Result<()> {
        let (state, delay) = match next {
            Next::Sent => (Some(OutboundState::Sent), None),
            Next::RetryNow => (Some(OutboundState::Queued), None),
            Next::RetryAfter(delay) => (Some(OutboundState::Queued), Some(delay)),
            Next::Failed => (Some(OutboundState::Failed), None),
            Next::InDoubt => (None, None),
        };
        let (casino, base) = (self.casino_str(), self.sweep_base());
        let moved: Option<Ended> = sqlx::query_as(END_ATTEMPT)
            .bind(outbound.0)
            .bind(state)
            .bind(&end.error_code)
            .bind(&end.provider_message_id)
            .bind(delay.unwrap_or_default().as_secs_f64())
            .bind(delay.is_some())
            .bind(base)
            .bind(attempt.0)
            .bind(end.outcome)
            .bind(end.http_status)
            .bind(&end.detail)
            .bind(casino)
            .bind(entry.map(|entry| entry.actor))
            .bind(entry.map(|entry| entry.event.as_str()))
            .bind(entry.map(|entry| entry.event.severity().as_str()))
            .bind(entry.map(|entry| entry.subject))
            .bind(entry.and_then(|entry| entry.guest).map(GuestHash::tag))
            .bind(entry.map(|entry| &entry.detail))
            .bind(entry.and_then(|entry| entry.trace))
            .fetch_optional(self.conn())
            .await?;
        let Some(moved) = moved else { return Ok(()) };
        if let Some(delay) = delay {
            self.put_due(DueKind::Send, outbound.0, delay).await?;
            self.lapse_before_retry(outbound, delay, end.error_code.as_deref())
                .await?;
        }
        if state == Some(OutboundState::Failed) {
            self.cancel_later_parts(outbound, "earlier_part_failed")
                .await?;
        }
        if state == Some(OutboundState::Sent) && moved.discloses {
            self.record_disclosure(outbound).await?;
        }
        Ok(())
    }

    /// Expires a text whose `useful_until` time is over before its next try. Otherwise, it would
    /// only delay the texts behind it.
    async fn lapse_before_retry(
        &mut self,
        outbound: OutboundId,
        delay: Duration,
        code: Option<&str>,
    ) -> Result<()> {
        let lapses: Option<bool> = sqlx::query_scalar(
            "select useful_until <= now() + make_interval(secs => $2) from outbound_messages where outbound_id = $1 and state = 'queued'",
        )
        .bind(outbound.0)
        .bind(delay.as_secs_f64())
        .fetch_optional(self.conn())
        .await?;
        if lapses == Some(true) {
            let reason = code.filter(|code| !code.is_empty()).unwrap_or("expired");
            self.end_queued(outbound, OutboundState::Expired, reason)
                .await?;
            self.cancel_later_parts(outbound, reason).await?;
            self.clear_due(DueKind::Send, outbound.0).await?;
        }
        Ok(())
    }
}

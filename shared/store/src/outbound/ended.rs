//! The end of an attempt and its effect on the text. It is a single statement, since every text
//! goes through it.

use std::time::Duration;

use seven_domain::{AttemptId, GuestHash, OutboundId, OutboundState};
use sqlx::FromRow;

use super::{AttemptEnd, Next};
use crate::{Result, Tx, audit::Entry};

/// A text whose state this end of an attempt changed.
#[derive(FromRow)]
struct Ended {
    /// Whether the text carried a disclosure.
    discloses: bool,
}

/// Writes the text before its attempt, and the attempt before its due row, each step waiting for
/// the previous one: a receipt that arrives at the same time locks them in this order. An attempt
/// in doubt keeps its due row. For `is not distinct from`, see the pre-send check.
const END_ATTEMPT: &str = "
with moved as (
  update outbound_messages m set state = $2, error_code = coalesce($3, m.error_code),
    reason = case when $2 = 'failed' then coalesce($3, 'failed') else m.reason end,
    provider_message_id = coalesce($4, m.provider_message_id),
    not_before = case when $2 = 'queued' then now() + make_interval(secs => $5) else m.not_before end,
    sent_at = case when $2 = 'sent' then now() else m.sent_at end, ended_at = case when $2 = 'failed' then now() else m.ended_at end,
    tries = m.tries + case when $6 then 1 else 0 end, next_sweep_at = now() + make_interval(secs => $5 + $7)
  where m.outbound_id = $1 and $2::text is not null and m.state is not distinct from 'sending' and not exists (
    select 1 from send_attempts a join send_attempts n on n.outbound_id = a.outbound_id and n.started_at > a.started_at
    where a.attempt_id = $8)
  returning m.part = 1 and exists (select 1 from turns t where t.turn_id = m.turn_id and t.disclosure) as discloses
), a as (
  update send_attempts t set outcome = case when t.outcome = 'pending' then $9 else t.outcome end, http_status = $10, error_code = $3,
    detail = $11, provider_message_id = coalesce(t.provider_message_id, $4), finished_at = now()
  from (select count(*) from moved) as text_first where t.attempt_id = $8
  returning t.attempt_id
), settled as (
  delete from due using (select count(*) from a) as attempt_first
  where $2::text is not null and casino_id = $12 and kind = 'attempt_doubt' and row_id = $8
), heard as (
  insert into audit_log (casino_id, actor, action, severity, subject, guest_hash, detail, trace)
  select $12, $13, $14, $15, $16, $17, $18, $19 where $14::text is not null
)
select discloses from moved";

impl Tx {
    /// Records how an attempt ended, with its audit entry, the text's next state and the disclosure
    /// it carried. If a receipt came first, it wins: a text that is already past `sending` keeps
    /// its state. An older attempt's answer does not affect the current attempt.
    pub async fn end_attempt(
        &mut self,
        outbound: OutboundId,
        attempt: AttemptId,
        end: &AttemptEnd,
        next: Next,
        heard: Option<&Entry<'_>>,
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
            .bind(state.map(OutboundState::as_str))
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
            .bind(heard.map(|entry| entry.actor))
            .bind(heard.map(|entry| entry.event.as_str()))
            .bind(heard.map(|entry| entry.event.severity().as_str()))
            .bind(heard.map(|entry| entry.subject))
            .bind(heard.and_then(|entry| entry.guest).map(GuestHash::tag))
            .bind(heard.map(|entry| &entry.detail))
            .bind(heard.and_then(|entry| entry.trace))
            .fetch_optional(self.conn())
            .await?;
        let Some(moved) = moved else { return Ok(()) };
        if let Some(delay) = delay {
            self.put_due("send", outbound.0, delay).await?;
            self.lapse_before_retry(outbound, delay, end.error_code.as_deref()).await?;
        }
        if state == Some(OutboundState::Failed) {
            self.cancel_later_parts(outbound, "earlier_part_failed").await?;
        }
        if state == Some(OutboundState::Sent) && moved.discloses {
            self.record_disclosure(outbound).await?;
        }
        Ok(())
    }

    /// Expires a text whose `useful_until` time is over before its next try, since it would only
    /// delay the texts behind it.
    async fn lapse_before_retry(&mut self, outbound: OutboundId, delay: Duration, code: Option<&str>) -> Result<()> {
        let lapses: Option<bool> = sqlx::query_scalar(
            "select useful_until <= now() + make_interval(secs => $2) from outbound_messages where outbound_id = $1 and state = 'queued'",
        )
        .bind(outbound.0)
        .bind(delay.as_secs_f64())
        .fetch_optional(self.conn())
        .await?;
        if lapses == Some(true) {
            let reason = code.filter(|code| !code.is_empty()).unwrap_or("expired");
            self.end_queued(outbound, OutboundState::Expired, reason).await?;
            self.cancel_later_parts(outbound, reason).await?;
            self.clear_due("send", outbound.0).await?;
        }
        Ok(())
    }
}

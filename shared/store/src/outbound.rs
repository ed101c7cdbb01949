//! Outbound texts (D5): queues them, reads the data that the sender needs, and records how each
//! send ends.

mod doubt;
mod ended;
mod new;
mod pending;

use std::time::Duration;

use chrono::{DateTime, Utc};
use seven_domain::{
    AttemptId, AttemptOutcome, ConversationId, GuestHash, GuestId, MessageClass, OutboundId,
    OutboundState, Queue,
};
use uuid::Uuid;

use crate::{Result, Tx, due::DueKind, mutant};

pub use new::{NewOutbound, Origin, Recipient};

pub use pending::{Pending, PendingSend};

/// The id and the queue of a queued text. A signal to the sender carries both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queued {
    pub outbound_id: OutboundId,
    pub queue: Queue,
}

impl Queued {
    pub fn new(outbound_id: OutboundId, class: MessageClass) -> Self {
        Self {
            outbound_id,
            queue: mutant::queue(class),
        }
    }
}

/// Result of deferring a text until its sending window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deferred {
    Waiting,
    /// The text's `useful_until` time is over before the window opens, or the window never opens.
    Lapsed,
    /// The text is not queued any more.
    Gone,
}

/// Data about a provider call. They are needed if the provider's answer reports an opt-out of the
/// guest.
#[derive(Debug, Clone)]
pub struct Call {
    pub guest: GuestHash,
    pub guest_id: GuestId,
    pub conversation_id: ConversationId,
    /// Time of the call, by the sender's clock.
    pub called_at: DateTime<Utc>,
}

/// The provider's answer to one attempt, as it is recorded.
#[derive(Debug, Clone)]
pub struct AttemptEnd {
    pub outcome: AttemptOutcome,
    pub http_status: Option<i32>,
    pub error_code: Option<String>,
    pub detail: Option<String>,
    pub provider_message_id: Option<String>,
}

/// The text's next step after an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    Sent,
    /// The text returns to `queued` and is due after the delay, when the scheduler signals it
    /// (D13).
    RetryAfter(Duration),
    /// The text returns to `queued`, and the sender makes another attempt while it handles the same
    /// signal.
    RetryNow,
    Failed,
    /// The text stays `sending` until the attempt's due row settles it.
    InDoubt,
}

impl Tx {
    /// Queues a text behind the conversation's earlier ones; returns `None` when it was queued
    /// before.
    pub async fn queue(&mut self, text: &NewOutbound) -> Result<Option<Queued>> {
        let (casino, base) = (self.casino_str(), self.sweep_base());
        let measure = seven_sms::measure(&text.body);
        let (turn_id, inbound_id, campaign_id) = text.origin.ids();
        // The row lock on the conversation serialises `seq`.
        let done = sqlx::query(
            "with s as (update conversations set next_seq = next_seq + 1 where conversation_id = $3 returning next_seq - 1 as seq, channel)
             insert into outbound_messages (casino_id, outbound_id, conversation_id, guest_id, turn_id, inbound_id, part, parts, kind, class, seq,
               body, encoding, units, segments, agent, answers_at, not_before, useful_until, trace, next_sweep_at, campaign_id)
             select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, s.seq, $11, $12, $13, case when s.channel = 'web' then 0 else $14 end, $15, $16, now() + make_interval(secs => $17),
               now() + make_interval(secs => $18), $19, now() + make_interval(secs => $17 + $20), $21 from s
             on conflict do nothing",
        )
        .bind(casino)
        .bind(text.outbound_id.0)
        .bind(text.to.conversation_id.0)
        .bind(text.to.guest_id.0)
        .bind(turn_id)
        .bind(inbound_id)
        .bind(text.part)
        .bind(text.parts)
        .bind(text.origin.kind())
        .bind(text.class)
        .bind(&text.body)
        .bind(measure.encoding.as_str())
        .bind(i32::try_from(measure.units).unwrap_or(i32::MAX))
        .bind(i32::try_from(measure.segments).unwrap_or(i32::MAX))
        .bind(&text.agent)
        .bind(text.answers_at)
        .bind(text.delay.as_secs_f64())
        .bind(text.useful_for.as_secs_f64())
        .bind(&text.trace)
        .bind(base)
        .bind(campaign_id)
        .execute(self.conn())
        .await?;
        Ok((done.rows_affected() == 1).then(|| Queued::new(text.outbound_id, text.class)))
    }

    /// Returns the queued texts of this turn, or the queued canned answers to this inbound text.
    /// The caller signals them once more.
    pub async fn queued_of(&mut self, row: Uuid) -> Result<Vec<Queued>> {
        let rows: Vec<(Uuid, MessageClass)> =
            sqlx::query_as("select outbound_id, class from outbound_messages where (turn_id = $1 or inbound_id = $1) and state = 'queued' order by seq")
                .bind(row)
                .fetch_all(self.conn())
                .await?;
        Ok(rows
            .into_iter()
            .map(|(id, class)| Queued::new(OutboundId(id), class))
            .collect())
    }

    /// Returns a text's state and reason, if the text exists.
    pub async fn outbound_state(
        &mut self,
        outbound: OutboundId,
    ) -> Result<Option<(OutboundState, Option<String>)>> {
        let query = "select state, reason from outbound_messages where outbound_id = $1";
        Ok(sqlx::query_as(query)
            .bind(outbound.0)
            .fetch_optional(self.conn())
            .await?)
    }

    /// Defers a queued text for `wait`, with a due row that wakes the text. Expires the text if its
    /// `useful_until` time is over by then. Also expires it if `wait` is `None`, which means that
    /// no sending window opens.
    pub async fn defer(
        &mut self,
        outbound: OutboundId,
        wait: Option<Duration>,
    ) -> Result<Deferred> {
        let row: Option<(bool,)> = sqlx::query_as(
            "select coalesce(now() + make_interval(secs => $2) >= useful_until, true) from outbound_messages where outbound_id = $1 and state = 'queued' for update",
        )
        .bind(outbound.0)
        .bind(wait.map(|wait| wait.as_secs_f64()))
        .fetch_optional(self.conn())
        .await?;
        match (row, wait) {
            (None, _) => Ok(Deferred::Gone),
            (Some((false,)), Some(wait)) => {
                sqlx::query(
                    "update outbound_messages set reason = 'quiet_hours', not_before = now() + make_interval(secs => $2),
                       next_sweep_at = now() + make_interval(secs => $2 + $3) where outbound_id = $1",
                )
                .bind(outbound.0)
                .bind(wait.as_secs_f64())
                .bind(self.sweep_base())
                .execute(self.conn())
                .await?;
                self.put_due(DueKind::Send, outbound.0, wait).await?;
                Ok(Deferred::Waiting)
            }
            (Some(_), _) => {
                self.end_queued(outbound, OutboundState::Expired, "reason_lapsed")
                    .await?;
                Ok(Deferred::Lapsed)
            }
        }
    }

    /// Returns the guest and conversation of an attempt, and the time of its provider call.
    pub async fn call_of(&mut self, attempt: AttemptId) -> Result<Option<Call>> {
        type Row = (i16, Vec<u8>, Uuid, Uuid, DateTime<Utc>);
        let row: Option<Row> = sqlx::query_as(
            "select g.key_id, g.phone_hash, g.guest_id, o.conversation_id, coalesce(a.called_at, a.started_at)
             from send_attempts a join outbound_messages o on o.outbound_id = a.outbound_id join guests g on g.guest_id = o.guest_id
             where a.attempt_id = $1",
        )
        .bind(attempt.0)
        .fetch_optional(self.conn())
        .await?;
        Ok(
            row.and_then(|(key_id, hash, guest, conversation, called_at)| {
                Some(Call {
                    guest: GuestHash {
                        key_id,
                        bytes: hash.try_into().ok()?,
                    },
                    guest_id: GuestId(guest),
                    conversation_id: ConversationId(conversation),
                    called_at,
                })
            }),
        )
    }

    /// Cancels the later parts of the same answer after a part failed (D5).
    pub async fn cancel_later_parts(&mut self, outbound: OutboundId, reason: &str) -> Result<()> {
        sqlx::query(
            "update outbound_messages o set state = 'suppressed', reason = $2, ended_at = now()
             from outbound_messages f where f.outbound_id = $1 and o.turn_id = f.turn_id and o.part > f.part and o.state = 'queued'",
        )
        .bind(outbound.0)
        .bind(reason)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Ends a queued text that must not or need not be sent any more.
    pub async fn end_queued(
        &mut self,
        outbound: OutboundId,
        state: OutboundState,
        reason: &str,
    ) -> Result<()> {
        sqlx::query("update outbound_messages set state = $2, reason = $3, ended_at = now() where outbound_id = $1 and state = 'queued'")
            .bind(outbound.0)
            .bind(state)
            .bind(reason)
            .execute(self.conn())
            .await?;
        Ok(())
    }
}

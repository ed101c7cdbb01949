//! Paused conversations: the host answers nothing, and texts are held for a person, who may take
//! the conversation over. Callers lock the conversation before anything else.

use std::time::Duration;

use chrono::{DateTime, Utc};
use seven_domain::{ConversationId, InboundId, Language, OutboundId};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Tx, due::DueKind};

/// A pause that is still in force.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct Paused {
    pub since: DateTime<Utc>,
    /// End of the pause; `None` if it lasts until a person ends it.
    pub until: Option<DateTime<Utc>>,
    /// The reason of the case that caused the pause, or `operator`.
    pub reason: String,
    /// True if the pause's first holding text was queued. Also true if a person has taken over,
    /// because then none is needed.
    pub held: bool,
}

/// A resumed conversation. `first` is the id and trace of the oldest text that was held, which the
/// caller must signal; `None` if no text was held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resumed {
    pub reason: String,
    pub released: u64,
    pub first: Option<(Uuid, String)>,
}

/// Result of [`Tx::wake`], which is called when a pause's due row falls due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wake {
    Resumed(Resumed),
    /// The pause was extended; the due row has to be checked again after this time.
    Later(Duration),
    /// The caller has nothing to signal: there is no pause, or only a person may end the pause, or
    /// the held texts stay with a person who acknowledged a case.
    Nothing,
}

/// A case whose deadline for writing to the guest has passed while the conversation waits for a
/// person.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct Overdue {
    pub escalation_id: Uuid,
    pub inbound_id: Uuid,
    pub guest_id: Uuid,
    pub language: Option<Language>,
    pub trace: String,
}

impl Tx {
    /// Pauses the host for `span`, or until a person ends the pause if `span` is `None`. A pause
    /// that is in force keeps its start, because [`Tx::wake`] compares acknowledgements with the
    /// start. The end never becomes earlier. A timed pause does not replace the reason of a pause
    /// that only a person ends.
    pub async fn pause(
        &mut self,
        conversation: ConversationId,
        reason: &str,
        span: Option<Duration>,
    ) -> Result<()> {
        sqlx::query(
            "update conversations set
               pause_held = pause_held and paused_at is not null and coalesce(paused_until > now(), true),
               paused_until = case when paused_at is not null and paused_until is null then null else greatest(paused_until, now() + make_interval(secs => $3)) end,
               pause_reason = case when paused_at is not null and paused_until is null and $3 is not null then pause_reason else $2 end,
               paused_at = case when paused_at is not null and coalesce(paused_until > now(), true) then paused_at else now() end
             where conversation_id = $1",
        )
        .bind(conversation.0)
        .bind(reason)
        .bind(span.map(|span| span.as_secs_f64()))
        .execute(self.conn())
        .await?;
        match span {
            Some(span) => self.put_due(DueKind::Resume, conversation.0, span).await,
            None => {
                sqlx::query(
                    "update conversations set paused_until = null where conversation_id = $1",
                )
                .bind(conversation.0)
                .execute(self.conn())
                .await?;
                self.clear_due(DueKind::Resume, conversation.0).await
            }
        }
    }

    /// Returns the pause in force for the conversation.
    pub async fn paused(&mut self, conversation: ConversationId) -> Result<Option<Paused>> {
        Ok(sqlx::query_as(
            "select paused_at as since, paused_until as until, coalesce(pause_reason, '') as reason, pause_held as held
             from conversations where conversation_id = $1 and paused_at is not null and coalesce(paused_until > now(), true)",
        )
        .bind(conversation.0)
        .fetch_optional(self.conn())
        .await?)
    }

    /// Lets the person `by` write in the host's place until the pause is ended. No holding text is
    /// sent, since the person answers the guest.
    pub async fn take_over(
        &mut self,
        conversation: ConversationId,
        reason: &str,
        by: &str,
    ) -> Result<()> {
        self.pause(conversation, reason, None).await?;
        sqlx::query("update conversations set pause_held = true where conversation_id = $1")
            .bind(conversation.0)
            .execute(self.conn())
            .await?;
        let casino = self.casino_str();
        sqlx::query(
            "insert into conversation_holders (casino_id, conversation_id, holder) values ($1, $2, $3)
             on conflict (casino_id, conversation_id) do update set holder = excluded.holder",
        )
        .bind(casino)
        .bind(conversation.0)
        .bind(by)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Gives a conversation that `by` has taken over to the colleague `to`, with the cases that
    /// `by` acknowledged. If `to` is `None`, nobody holds the conversation, and the time for
    /// acknowledging these cases starts anew.
    pub async fn hand_over(
        &mut self,
        conversation: ConversationId,
        by: &str,
        to: Option<&str>,
    ) -> Result<()> {
        if let Some(to) = to {
            let query = "update conversation_holders set holder = $2 where conversation_id = $1";
            sqlx::query(query)
                .bind(conversation.0)
                .bind(to)
                .execute(self.conn())
                .await?;
        } else {
            self.clear_holder(conversation).await?;
        }
        sqlx::query(
            "update escalations set acknowledged_by = $3,
               acknowledged_at = case when $3::text is null then null else acknowledged_at end,
               ack_due_at = case when $3::text is null then now() + (ack_due_at - created_at) else ack_due_at end
             where conversation_id = $1 and resolved_at is null and acknowledged_by = $2",
        )
        .bind(conversation.0)
        .bind(by)
        .bind(to)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Returns the conversations that `person` has taken over.
    pub async fn held_by(&mut self, person: &str) -> Result<Vec<ConversationId>> {
        let query = "select conversation_id from conversation_holders where holder = $1 order by conversation_id";
        let rows: Vec<Uuid> = sqlx::query_scalar(query)
            .bind(person)
            .fetch_all(self.conn())
            .await?;
        Ok(rows.into_iter().map(ConversationId).collect())
    }

    /// Marks the guest's held texts as answered by this text of a person; returns their number.
    pub async fn answer_held(
        &mut self,
        conversation: ConversationId,
        answer: OutboundId,
    ) -> Result<u64> {
        let done = sqlx::query(
            "update inbound_messages set disposition = 'canned', disposition_ref = $2, reason = 'person', closed_at = now()
             where conversation_id = $1 and disposition = 'held'",
        )
        .bind(conversation.0)
        .bind(answer.0)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected())
    }

    /// Ends a pause and reopens the texts that were held in it; returns `None` when there is no
    /// pause.
    pub async fn resume(&mut self, conversation: ConversationId) -> Result<Option<Resumed>> {
        let reason: Option<Option<String>> = sqlx::query_scalar(
            "with was as (select conversation_id, pause_reason from conversations where conversation_id = $1 and paused_at is not null for update)
             update conversations c set paused_at = null, paused_until = null, pause_reason = null, pause_held = false
             from was where c.conversation_id = was.conversation_id returning was.pause_reason",
        )
        .bind(conversation.0)
        .fetch_optional(self.conn())
        .await?;
        let Some(reason) = reason else {
            return Ok(None);
        };
        self.clear_due(DueKind::Resume, conversation.0).await?;
        self.clear_holder(conversation).await?;
        self.resolve_ticket(conversation, None, None).await?;
        let kept: Vec<(Uuid, String)> = sqlx::query_as(
            "with freed as (
               update inbound_messages set disposition = 'open', reason = null, released_at = now(), next_sweep_at = now() + make_interval(secs => $2)
               where conversation_id = $1 and disposition = 'held' returning inbound_id, trace, occurred_at, arrival)
             select inbound_id, trace from freed order by occurred_at, arrival",
        )
        .bind(conversation.0)
        .bind(self.sweep_base())
        .fetch_all(self.conn())
        .await?;
        let released = u64::try_from(kept.len()).unwrap_or(u64::MAX);
        Ok(Some(Resumed {
            reason: reason.unwrap_or_default(),
            released,
            first: kept.into_iter().next(),
        }))
    }

    /// Returns the unsettled case that paused the conversation, if the case's deadline for writing
    /// to the guest has passed. A takeover has no such deadline, so the result is `None` after a
    /// takeover.
    pub async fn overdue(&mut self, conversation: ConversationId) -> Result<Option<Overdue>> {
        Ok(sqlx::query_as(
            "select e.escalation_id, i.inbound_id, g.guest_id, g.language, i.trace
             from conversations c join escalations e on e.conversation_id = c.conversation_id
               join inbound_messages i on i.inbound_id = e.inbound_id join guests g on g.guest_id = c.guest_id
             where c.conversation_id = $1 and c.paused_until <= now() and e.reason = c.pause_reason and e.source <> 'guardrail'
               and e.created_at >= c.paused_at and e.resolved_at is null and e.respond_due_at <= now()
             order by e.severity, e.created_at limit 1",
        )
        .bind(conversation.0)
        .fetch_optional(self.conn())
        .await?)
    }

    /// Ends a pause whose time is over and releases its texts. If a person acknowledged a case of
    /// the conversation, the texts stay held for that person.
    pub async fn wake(&mut self, conversation: ConversationId) -> Result<Wake> {
        let row: Option<(Option<f64>, bool)> = sqlx::query_as(
            "select extract(epoch from c.paused_until - now())::float8,
               exists (select 1 from escalations e where e.conversation_id = c.conversation_id and e.acknowledged_at >= c.paused_at and e.resolved_at is null)
             from conversations c where c.conversation_id = $1 and c.paused_at is not null for update of c",
        )
        .bind(conversation.0)
        .fetch_optional(self.conn())
        .await?;
        Ok(match row {
            None | Some((None, _)) => Wake::Nothing,
            Some((Some(rest), _)) if rest > 0.0 => {
                Wake::Later(Duration::try_from_secs_f64(rest).unwrap_or_default())
            }
            Some((_, true)) => {
                self.end_pause(conversation).await?;
                Wake::Nothing
            }
            Some((_, false)) => self
                .resume(conversation)
                .await?
                .map_or(Wake::Nothing, Wake::Resumed),
        })
    }

    async fn end_pause(&mut self, conversation: ConversationId) -> Result<()> {
        sqlx::query("update conversations set paused_at = null, paused_until = null, pause_reason = null, pause_held = false where conversation_id = $1")
            .bind(conversation.0)
            .execute(self.conn())
            .await?;
        self.clear_holder(conversation).await
    }

    async fn clear_holder(&mut self, conversation: ConversationId) -> Result<()> {
        sqlx::query("delete from conversation_holders where conversation_id = $1")
            .bind(conversation.0)
            .execute(self.conn())
            .await?;
        Ok(())
    }

    /// Holds these open texts for a person. Returns true if the caller must send a holding text:
    /// the first time in a pause, and again when the last holding text is older than `again_after`.
    /// No holding text is sent again if `again_after` is `None` or if a person has taken over.
    pub async fn hold_texts(
        &mut self,
        conversation: ConversationId,
        ids: &[Uuid],
        again_after: Option<Duration>,
    ) -> Result<bool> {
        sqlx::query("update inbound_messages set disposition = 'held', reason = 'paused' where inbound_id = any($1) and disposition = 'open'")
            .bind(ids)
            .execute(self.conn())
            .await?;
        let due = sqlx::query(
            "update conversations c set pause_held = true where conversation_id = $1 and (not pause_held or (
               not exists (select 1 from conversation_holders h where h.conversation_id = c.conversation_id)
               and (select max(o.created_at) from outbound_messages o
                    where o.conversation_id = c.conversation_id and o.class = 'holding' and o.created_at >= c.paused_at)
                   < now() - make_interval(secs => $2)))",
        )
        .bind(conversation.0)
        .bind(again_after.map(|after| after.as_secs_f64()))
        .execute(self.conn())
        .await?;
        Ok(due.rows_affected() == 1)
    }

    /// Returns the conversation that `id` names: the id may be that of a conversation, a guest or
    /// an inbound text. `None` if the casino has no such row.
    pub async fn conversation_of(&mut self, id: Uuid) -> Result<Option<ConversationId>> {
        let found: Option<Uuid> = sqlx::query_scalar(
            "select conversation_id from conversations where conversation_id = $1 or guest_id = $1
             union all select conversation_id from inbound_messages where inbound_id = $1 limit 1",
        )
        .bind(id)
        .fetch_optional(self.conn())
        .await?;
        Ok(found.map(ConversationId))
    }

    /// Returns the held texts, oldest first, with their bodies, so that a person can read them
    /// before writing.
    pub async fn held_texts(
        &mut self,
        conversation: ConversationId,
    ) -> Result<Vec<(InboundId, String, DateTime<Utc>)>> {
        let rows: Vec<(Uuid, String, DateTime<Utc>)> = sqlx::query_as(
            "select inbound_id, body, received_at from inbound_messages where conversation_id = $1 and disposition = 'held' order by occurred_at, arrival",
        )
        .bind(conversation.0)
        .fetch_all(self.conn())
        .await?;
        Ok(rows
            .into_iter()
            .map(|(id, body, at)| (InboundId(id), body, at))
            .collect())
    }
}

//! Replies that wait until a person releases, edits or discards them (AGENT-15).

use std::time::Duration;

use chrono::{DateTime, Utc};
use seven_domain::{
    Channel, ConversationId, DisclosureKind, HeldDecision, Language, OutboundId, TurnId,
};
use sqlx::{AssertSqlSafe, FromRow};
use uuid::Uuid;

use crate::{Result, Tx, due::DueKind, escalations::REPLY_WAITS};

/// A reply that waits for a person.
#[derive(Debug, Clone, FromRow)]
pub struct HeldReply {
    pub turn_id: Uuid,
    pub conversation_id: Uuid,
    pub guest_id: Uuid,
    /// The host's words, without the disclosure.
    pub draft: String,
    pub disclosure_kind: Option<DisclosureKind>,
    pub language: Language,
    pub channel: Channel,
    pub agent: String,
    pub trace: String,
    pub held_at: DateTime<Utc>,
    /// When the reply expires unsent, because it is of no use any more.
    pub useful_until: DateTime<Utc>,
    /// The guest's texts that the reply answers, in their order.
    pub asked: String,
    pub last_four: Option<String>,
}

/// A text of a held reply.
#[derive(Debug, Clone, FromRow)]
pub struct HeldPart {
    pub outbound_id: Uuid,
    pub part: i32,
}

const HELD: &str = "select h.turn_id, h.conversation_id, t.guest_id, t.draft, t.disclosure_kind, t.language, talk.channel, t.agent, t.trace, h.held_at,
     min(o.useful_until) as useful_until,
     coalesce((select string_agg(i.body, E'\\n' order by i.arrival) from inbound_messages i
       where i.conversation_id = h.conversation_id and i.disposition_ref = h.turn_id), '') as asked,
     (select right(g.phone, 4) from guests g where g.guest_id = t.guest_id) as last_four
   from held_turns h join turns t on t.turn_id = h.turn_id
   join conversations talk on talk.conversation_id = h.conversation_id join outbound_messages o on o.turn_id = h.turn_id and o.state = 'queued'
   where h.decided_at is null and h.held_at > now() - interval '1 day' and ($1::uuid is null or h.turn_id = $1)
   group by h.casino_id, h.turn_id, h.conversation_id, h.held_at, t.guest_id, t.draft, t.disclosure_kind, t.language, talk.channel, t.agent, t.trace
   order by h.held_at limit $2";

/// Discards and cancels those held turns that have no decision yet. The guest never read their
/// words, so the host must not remember them.
const END: &str = "with ended as (
   update held_turns set decision = 'discarded', decided_at = now(), decided_by = $2 where decided_at is null and";
const ENDED: &str = " returning turn_id, conversation_id)
 update turns t set state = 'cancelled', reason = $2 from ended where t.turn_id = ended.turn_id returning ended.conversation_id";

impl Tx {
    /// Holds a turn's texts until a person decides. If nobody decides within `limit`, the turn's
    /// due row makes the scheduler tell people.
    pub async fn hold_turn(
        &mut self,
        turn: TurnId,
        conversation: ConversationId,
        limit: Duration,
    ) -> Result<()> {
        let casino = self.casino_str();
        sqlx::query(
            "insert into held_turns (casino_id, turn_id, conversation_id) values ($1, $2, $3) on conflict do nothing",
        )
        .bind(casino)
        .bind(turn.0)
        .bind(conversation.0)
        .execute(self.conn())
        .await?;
        self.put_due(DueKind::HeldReply, turn.0, limit).await
    }

    /// Returns the replies that wait for a person, oldest first.
    pub async fn held_replies(&mut self, most: i64) -> Result<Vec<HeldReply>> {
        Ok(sqlx::query_as(HELD)
            .bind(None::<Uuid>)
            .bind(most)
            .fetch_all(self.conn())
            .await?)
    }

    /// Returns one reply that waits for a person.
    pub async fn held_reply(&mut self, turn: TurnId) -> Result<Option<HeldReply>> {
        Ok(sqlx::query_as(HELD)
            .bind(turn.0)
            .bind(1_i64)
            .fetch_optional(self.conn())
            .await?)
    }

    /// Returns the turn's texts that are still queued.
    pub async fn held_parts(&mut self, turn: TurnId) -> Result<Vec<HeldPart>> {
        Ok(sqlx::query_as(
            "select outbound_id, part from outbound_messages where turn_id = $1 and state = 'queued' order by part for update",
        )
        .bind(turn.0)
        .fetch_all(self.conn())
        .await?)
    }

    /// Replaces the words of a queued text.
    pub async fn reword(&mut self, text: OutboundId, body: &str, parts: i32) -> Result<()> {
        let measure = seven_sms::measure(body);
        sqlx::query(
            "update outbound_messages set body = $2, encoding = $3, units = $4, segments = case when segments = 0 then 0 else $5 end, parts = $6 where outbound_id = $1 and state = 'queued'",
        )
        .bind(text.0)
        .bind(body)
        .bind(measure.encoding.as_str())
        .bind(i32::try_from(measure.units).unwrap_or(i32::MAX))
        .bind(i32::try_from(measure.segments).unwrap_or(i32::MAX))
        .bind(parts)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Records the decision about a held turn. Returns false if the turn already has a decision.
    pub async fn decide_held(
        &mut self,
        turn: TurnId,
        decision: HeldDecision,
        by: &str,
    ) -> Result<bool> {
        let done = sqlx::query(
            "update held_turns set decision = $2, decided_at = now(), decided_by = $3 where turn_id = $1 and decided_at is null",
        )
        .bind(turn.0)
        .bind(decision)
        .bind(by)
        .execute(self.conn())
        .await?;
        self.clear_due(DueKind::HeldReply, turn.0).await?;
        Ok(done.rows_affected() == 1)
    }

    /// Discards the conversation's held replies, whose texts were cancelled for the reason `why`.
    pub(crate) async fn end_held(&mut self, conversation: ConversationId, why: &str) -> Result<()> {
        let ended = sqlx::query(AssertSqlSafe(format!("{END} conversation_id = $1{ENDED}")))
            .bind(conversation.0)
            .bind(why)
            .execute(self.conn())
            .await?;
        if ended.rows_affected() > 0 {
            self.withdraw_cases(conversation, REPLY_WAITS, why).await?;
        }
        Ok(())
    }

    /// Discards the held reply to which this expired text belongs.
    pub(crate) async fn end_held_text(&mut self, text: OutboundId) -> Result<()> {
        let whose = "turn_id = (select turn_id from outbound_messages where outbound_id = $1)";
        let ended: Option<Uuid> =
            sqlx::query_scalar(AssertSqlSafe(format!("{END} {whose}{ENDED}")))
                .bind(text.0)
                .bind("expired")
                .fetch_optional(self.conn())
                .await?;
        if let Some(conversation) = ended.map(ConversationId)
            && !self.has_held(conversation).await?
        {
            self.withdraw_cases(conversation, REPLY_WAITS, "expired")
                .await?;
        }
        Ok(())
    }

    /// Returns whether an earlier reply of the same conversation also waits for a person.
    pub async fn waits_behind(&mut self, held: &HeldReply) -> Result<bool> {
        Ok(sqlx::query_scalar(
            "select exists (select 1 from held_turns h join outbound_messages o on o.turn_id = h.turn_id and o.state = 'queued'
               where h.conversation_id = $1 and h.decided_at is null and h.held_at < $2)",
        )
        .bind(held.conversation_id)
        .bind(held.held_at)
        .fetch_one(self.conn())
        .await?)
    }

    /// Returns whether a reply of the conversation waits for a person.
    pub async fn has_held(&mut self, conversation: ConversationId) -> Result<bool> {
        Ok(sqlx::query_scalar(
            "select exists (select 1 from held_turns h join outbound_messages o on o.turn_id = h.turn_id and o.state = 'queued'
               where h.conversation_id = $1 and h.decided_at is null)",
        )
        .bind(conversation.0)
        .fetch_one(self.conn())
        .await?)
    }

    /// Replaces the turn's words with those that a person sent instead. `None` cancels the turn,
    /// because nothing was sent. Both keep the host from remembering words that the guest never
    /// read.
    pub async fn correct_turn(&mut self, turn: TurnId, said: Option<&str>) -> Result<()> {
        let query = match said {
            Some(words) => sqlx::query("update turns set draft = $2 where turn_id = $1")
                .bind(turn.0)
                .bind(words),
            None => sqlx::query(
                "update turns set state = 'cancelled', reason = 'discarded' where turn_id = $1",
            )
            .bind(turn.0),
        };
        query.execute(self.conn()).await?;
        Ok(())
    }

    /// Makes a turn's queued texts due to be sent now.
    pub async fn let_go(&mut self, turn: TurnId) -> Result<()> {
        sqlx::query("update outbound_messages set not_before = now(), sweeps = 0, next_sweep_at = now() + make_interval(secs => $2) where turn_id = $1 and state = 'queued'")
            .bind(turn.0)
            .bind(self.sweep_base())
            .execute(self.conn())
            .await?;
        Ok(())
    }

    /// Records that people were told that this reply still waits. Returns its conversation, or
    /// `None` if the reply does not wait any more or people were told before.
    pub async fn tell_held(&mut self, turn: Uuid) -> Result<Option<ConversationId>> {
        let conversation: Option<Uuid> = sqlx::query_scalar(
            "update held_turns h set told_at = now() where turn_id = $1 and decided_at is null and told_at is null
               and exists (select 1 from outbound_messages o where o.turn_id = h.turn_id and o.state = 'queued')
             returning conversation_id",
        )
        .bind(turn)
        .fetch_optional(self.conn())
        .await?;
        Ok(conversation.map(ConversationId))
    }

    /// Sets whether a person reads this conversation's replies before they are sent.
    pub async fn set_reviewed(
        &mut self,
        conversation: ConversationId,
        on: bool,
        by: &str,
    ) -> Result<()> {
        let casino = self.casino_str();
        let query = match on {
            true => sqlx::query(
                "insert into reviewed_conversations (casino_id, conversation_id, set_by) values ($1, $2, $3) on conflict do nothing",
            )
            .bind(casino)
            .bind(conversation.0)
            .bind(by),
            false => sqlx::query("delete from reviewed_conversations where conversation_id = $1")
                .bind(conversation.0),
        };
        query.execute(self.conn()).await?;
        Ok(())
    }

    pub async fn is_reviewed(&mut self, conversation: ConversationId) -> Result<bool> {
        Ok(sqlx::query_scalar(
            "select exists (select 1 from reviewed_conversations where conversation_id = $1)",
        )
        .bind(conversation.0)
        .fetch_one(self.conn())
        .await?)
    }
}

//! The lease that lets only one turn at a time work on a guest's conversation (D4). A newer lease
//! raises `turn_epoch`, which makes the older lease's commit fail. The database's clock ends
//! leases.

mod list;
mod shown;

use std::time::Duration;

use seven_domain::{Channel, ConversationId, GuestId, Language, MaterialChange};
use sqlx::Row;
use uuid::Uuid;

pub use self::{
    list::{ListedConversation, TranscriptLine},
    shown::ShownConversation,
};
use crate::{Result, Tx, outbound::Recipient};

/// A held lease. The turn's commit must present the same epoch.
#[derive(Debug, Clone)]
pub struct Lease {
    pub conversation_id: ConversationId,
    pub guest_id: GuestId,
    pub channel: Channel,
    pub epoch: i64,
    pub disclosed: bool,
    /// Whether the disclosure was made in the current session.
    pub disclosed_this_session: bool,
    /// Whether the law requires the disclosure: the law of any US state to which the guest's number
    /// may belong. Always true for a visitor of the website.
    pub disclosure_required: bool,
    /// A material change that the guest has not been told of yet (SEC-53).
    pub redisclose: Option<MaterialChange>,
    pub language: Option<Language>,
    /// Whether the guest ever wrote a cry for help about gambling, or wrote any cry for help in
    /// this session. If so, replies mention no gambling (CONV-36).
    pub responsible_gaming: bool,
}

impl Lease {
    pub fn recipient(&self) -> Recipient {
        Recipient {
            conversation_id: self.conversation_id,
            guest_id: self.guest_id,
        }
    }
}

impl Tx {
    /// Takes the lease and raises the epoch; returns `None` while another worker holds the lease.
    pub async fn lease(
        &mut self,
        conversation: ConversationId,
        for_: Duration,
    ) -> Result<Option<Lease>> {
        let row = sqlx::query(
            "update conversations c set turn_epoch = c.turn_epoch + 1, leased_until = now() + make_interval(secs => $2)
             from guests g
             where c.conversation_id = $1 and g.guest_id = c.guest_id and (c.leased_until is null or c.leased_until < now())
             returning c.turn_epoch, c.guest_id, c.channel, g.disclosed_at is not null as disclosed, g.language, g.disclosure_required, g.redisclose,
               g.disclosed_session is not distinct from c.session_started_at as disclosed_this_session,
               (g.responsible_gaming_at is not null or coalesce(c.cried_at >= c.session_started_at, false)) as responsible_gaming",
        )
        .bind(conversation.0)
        .bind(for_.as_secs_f64())
        .fetch_optional(self.conn())
        .await?;
        row.map(|r| {
            Ok(Lease {
                conversation_id: conversation,
                guest_id: GuestId(r.try_get::<Uuid, _>("guest_id")?),
                channel: r.try_get("channel")?,
                epoch: r.try_get("turn_epoch")?,
                disclosed: r.try_get("disclosed")?,
                disclosed_this_session: r.try_get("disclosed_this_session")?,
                disclosure_required: r.try_get("disclosure_required")?,
                redisclose: r.try_get("redisclose")?,
                language: r.try_get("language")?,
                responsible_gaming: r.try_get("responsible_gaming")?,
            })
        })
        .transpose()
    }

    /// Extends the lease until `for_` from now. Returns false if the epoch has changed; the turn
    /// must then not answer.
    pub async fn renew_lease(
        &mut self,
        conversation: ConversationId,
        epoch: i64,
        for_: Duration,
    ) -> Result<bool> {
        let done = sqlx::query("update conversations set leased_until = now() + make_interval(secs => $3) where conversation_id = $1 and turn_epoch = $2")
            .bind(conversation.0)
            .bind(epoch)
            .bind(for_.as_secs_f64())
            .execute(self.conn())
            .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Releases the lease; returns false, without any effect, if the lease was lost.
    pub async fn release_lease(
        &mut self,
        conversation: ConversationId,
        epoch: i64,
    ) -> Result<bool> {
        let done =
            sqlx::query("update conversations set leased_until = null where conversation_id = $1 and turn_epoch = $2")
                .bind(conversation.0)
                .bind(epoch)
                .execute(self.conn())
                .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Locks the conversation without writing to it. A transaction must take this lock before all
    /// others.
    pub async fn lock_conversation(&mut self, conversation: ConversationId) -> Result<()> {
        sqlx::query("select 1 from conversations where conversation_id = $1 for update")
            .bind(conversation.0)
            .execute(self.conn())
            .await?;
        Ok(())
    }

    /// Returns the conversation's guest and the guest's language; `None` when the casino has no
    /// such conversation.
    pub async fn guest_in(
        &mut self,
        conversation: ConversationId,
    ) -> Result<Option<(GuestId, Option<Language>)>> {
        let guest: Option<(Uuid, Option<Language>)> = sqlx::query_as(
            "select g.guest_id, g.language from conversations c join guests g on g.guest_id = c.guest_id where c.conversation_id = $1",
        )
        .bind(conversation.0)
        .fetch_optional(self.conn())
        .await?;
        Ok(guest.map(|(guest, language)| (GuestId(guest), language)))
    }

    /// Invalidates any turn in progress. The turn's commit fails because the epoch has changed, and
    /// the guest's texts wait for the next signal or sweep.
    pub async fn restart_turn(&mut self, conversation: ConversationId) -> Result<()> {
        sqlx::query(
            "update conversations set turn_epoch = turn_epoch + 1, leased_until = null where conversation_id = $1",
        )
        .bind(conversation.0)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Invalidates any turn in progress, as [`Self::restart_turn`] does. Also cancels drafted
    /// turns and queued replies. Returns how many queued texts were cancelled.
    pub async fn cancel_unsent(
        &mut self,
        conversation: ConversationId,
        reason: &str,
    ) -> Result<u64> {
        self.restart_turn(conversation).await?;
        sqlx::query(
            "update turns set state = 'cancelled', reason = $2 where conversation_id = $1 and state = 'drafted'",
        )
        .bind(conversation.0)
        .bind(reason)
        .execute(self.conn())
        .await?;
        let cancelled = sqlx::query(
            "update outbound_messages o set state = 'suppressed', reason = $2, ended_at = now()
             from send_policy p where p.class = o.class and p.lane <> 'safety' and o.conversation_id = $1 and o.state = 'queued'",
        )
        .bind(conversation.0)
        .bind(reason)
        .execute(self.conn())
        .await?;
        self.end_held(conversation, reason).await?;
        Ok(cancelled.rows_affected())
    }
}

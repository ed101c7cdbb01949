//! The lease of D4: one turn at a time per guest, fenced by `turn_epoch`, on the database's clock.

mod shown;

use std::time::Duration;

use seven_domain::{ConversationId, GuestId};
use sqlx::Row;
use uuid::Uuid;

pub use self::shown::ShownConversation;
use crate::{Result, Tx};

/// A held lease. The commit of the turn must present the same epoch.
#[derive(Debug, Clone)]
pub struct Lease {
    pub conversation_id: ConversationId,
    pub guest_id: GuestId,
    pub epoch: i64,
    pub disclosed: bool,
    /// The disclosure was made in the session that is under way.
    pub disclosed_this_session: bool,
    /// A law of the guest's states leaves no choice.
    pub disclosure_required: bool,
    /// A material change the guest was not told of yet (SEC-53).
    pub redisclose: Option<String>,
    pub language: Option<String>,
    /// The guest cried for help about gambling once, or for anything in this session: nothing to gamble with is named (CONV-36).
    pub responsible_gaming: bool,
}

impl Tx {
    /// Takes the lease and raises the epoch; none while another worker holds it.
    pub async fn lease(&mut self, conversation: ConversationId, for_: Duration) -> Result<Option<Lease>> {
        let row = sqlx::query(
            "update conversations c set turn_epoch = c.turn_epoch + 1, leased_until = now() + make_interval(secs => $2)
             from guests g
             where c.conversation_id = $1 and g.guest_id = c.guest_id and (c.leased_until is null or c.leased_until < now())
             returning c.turn_epoch, c.guest_id, g.disclosed_at is not null as disclosed, g.language, g.disclosure_required, g.redisclose,
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

    /// Keeps the lease for another `for_`; false when the epoch moved on and the turn must not speak.
    pub async fn renew_lease(&mut self, conversation: ConversationId, epoch: i64, for_: Duration) -> Result<bool> {
        let done = sqlx::query("update conversations set leased_until = now() + make_interval(secs => $3) where conversation_id = $1 and turn_epoch = $2")
            .bind(conversation.0)
            .bind(epoch)
            .bind(for_.as_secs_f64())
            .execute(self.conn())
            .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Gives the lease back; a lease that was lost stays lost.
    pub async fn release_lease(&mut self, conversation: ConversationId, epoch: i64) -> Result<bool> {
        let done =
            sqlx::query("update conversations set leased_until = null where conversation_id = $1 and turn_epoch = $2")
                .bind(conversation.0)
                .bind(epoch)
                .execute(self.conn())
                .await?;
        Ok(done.rows_affected() == 1)
    }

    /// The first of a transaction's locks, where one is needed before it is written.
    pub async fn lock_conversation(&mut self, conversation: ConversationId) -> Result<()> {
        sqlx::query("select 1 from conversations where conversation_id = $1 for update")
            .bind(conversation.0)
            .execute(self.conn())
            .await?;
        Ok(())
    }

    /// Ends any turn in progress: its commit will find another epoch. Also stops answers that are written but not shaped,
    /// and queued replies. Returns how many queued texts were cancelled.
    pub async fn cancel_unsent(&mut self, conversation: ConversationId, reason: &str) -> Result<u64> {
        sqlx::query(
            "update conversations set turn_epoch = turn_epoch + 1, leased_until = null where conversation_id = $1",
        )
        .bind(conversation.0)
        .execute(self.conn())
        .await?;
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
        Ok(cancelled.rows_affected())
    }
}

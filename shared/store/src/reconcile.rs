//! Reconciliation (D5): finds inbound texts that the provider has and we never received, and
//! settles our sends that are in doubt.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::Value;
use seven_domain::{
    ConversationId, GuestHash, GuestId, MessageClass, OutboundId, OutboundState, text_enum,
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Tx, outbound::Queued};

/// One of our attempts whose final outcome is unknown.
#[derive(Debug, Clone, FromRow)]
pub struct Unsettled {
    pub attempt_id: Uuid,
    pub outbound_id: Uuid,
    /// `Sending`, `Unknown` or `Sent`.
    pub state: OutboundState,
    pub provider_message_id: Option<String>,
    pub started_at: DateTime<Utc>,
    /// The guest's phone number.
    pub phone: String,
    /// The casino's phone number.
    pub casino_number: String,
}

text_enum! {
    /// The way in which reconciliation dealt with a text.
    ReconciledAs {
        /// An inbound text that we never received was taken from the provider's records.
        Inbound => "inbound",
        /// An outbound text that the provider has no record of was queued again.
        Requeued => "requeued",
    }
}

/// Result for a text that the provider has no record of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unseen {
    /// The text's `useful_until` time is not over. The text is queued again, and the caller has to
    /// signal it.
    Requeued(Queued),
    /// Ended as `failed`: its `useful_until` time is over, or it was requeued once before.
    Ended,
    /// The text was settled in another way meanwhile.
    Gone,
}

impl Tx {
    /// Claims the reconciliation of this casino with a provider; returns `None` if it was claimed
    /// within the last `every`. Otherwise returns the time up to which all texts have been
    /// compared; the inner `None` means that none were compared yet.
    pub async fn claim_reconciliation(
        &mut self,
        provider: &str,
        every: Duration,
    ) -> Result<Option<Option<DateTime<Utc>>>> {
        let casino = self.casino_str();
        Ok(sqlx::query_scalar(
            "insert into reconciliations as r (casino_id, provider) values ($1, $2)
             on conflict (casino_id, provider) do update set claimed_at = now() where r.claimed_at < now() - make_interval(secs => $3)
             returning done_until",
        )
        .bind(casino)
        .bind(provider)
        .bind(every.as_secs_f64())
        .fetch_optional(self.conn())
        .await?)
    }

    /// Records that everything up to `until` was compared. Also deletes marks of
    /// [`Tx::mark_reconciled`] that are older than 30 days.
    pub async fn note_reconciliation(
        &mut self,
        provider: &str,
        until: DateTime<Utc>,
        result: &Value,
    ) -> Result<()> {
        let casino = self.casino_str();
        sqlx::query(
            "insert into reconciliations as r (casino_id, provider, done_until, result) values ($1, $2, $3, $4)
             on conflict (casino_id, provider) do update set done_until = greatest(r.done_until, excluded.done_until), result = excluded.result",
        )
        .bind(casino)
        .bind(provider)
        .bind(until)
        .bind(result)
        .execute(self.conn())
        .await?;
        sqlx::query("delete from reconciled where at < now() - interval '30 days'")
            .execute(self.conn())
            .await?;
        Ok(())
    }

    /// Returns which of these inbound texts are neither stored nor marked as reconciled.
    pub async fn unheard(&mut self, provider: &str, ids: &[String]) -> Result<Vec<String>> {
        Ok(sqlx::query_scalar(
            "select id from unnest($2::text[]) as id
             where not exists (select 1 from inbound_messages i where i.provider = $1 and i.provider_message_id = id)
               and not exists (select 1 from reconciled r where r.provider = $1 and r.provider_message_id = id and r.kind = 'inbound')",
        )
        .bind(provider)
        .bind(ids)
        .fetch_all(self.conn())
        .await?)
    }

    /// Returns whether a gate has stored this text.
    pub async fn is_stored(&mut self, provider: &str, id: &str) -> Result<bool> {
        let query = "select exists (select 1 from inbound_messages where provider = $1 and provider_message_id = $2)";
        Ok(sqlx::query_scalar(query)
            .bind(provider)
            .bind(id)
            .fetch_one(self.conn())
            .await?)
    }

    /// Marks a text as reconciled; returns false when it was marked before.
    pub async fn mark_reconciled(
        &mut self,
        provider: &str,
        id: &str,
        kind: ReconciledAs,
    ) -> Result<bool> {
        let casino = self.casino_str();
        let done = sqlx::query(
            "insert into reconciled (casino_id, provider, provider_message_id, kind) values ($1, $2, $3, $4) on conflict do nothing",
        )
        .bind(casino)
        .bind(provider)
        .bind(id)
        .bind(kind)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Returns attempts without a final outcome that are older than `margin`. Attempts in doubt
    /// that began after `since` come first. Then come attempts that the provider accepted after
    /// `taken_since`: the carrier may never report their delivery.
    pub async fn unsettled(
        &mut self,
        provider: &str,
        since: DateTime<Utc>,
        taken_since: DateTime<Utc>,
        margin: Duration,
    ) -> Result<Vec<Unsettled>> {
        Ok(sqlx::query_as(include_str!("../sql/unsettled.sql"))
            .bind(provider)
            .bind(since)
            .bind(margin.as_secs_f64())
            .bind(taken_since)
            .fetch_all(self.conn())
            .await?)
    }

    /// Returns which of these provider message ids belong to attempts of ours.
    pub async fn known_sends(&mut self, provider: &str, ids: &[String]) -> Result<Vec<String>> {
        Ok(
            sqlx::query_scalar("select distinct provider_message_id from send_attempts where provider = $1 and provider_message_id = any($2)")
                .bind(provider)
                .bind(ids)
                .fetch_all(self.conn())
                .await?,
        )
    }

    /// Settles a text in doubt of which the provider has no record. If its `useful_until` time is
    /// not over, the text is queued again, but only once (D5). The sender then repeats the pre-send
    /// check.
    pub async fn never_had(&mut self, outbound: OutboundId) -> Result<Unseen> {
        let row: Option<(MessageClass, String, bool)> = sqlx::query_as(
            "select class, coalesce(provider, ''), useful_until > now() from outbound_messages where outbound_id = $1 and state = 'unknown' for update",
        )
        .bind(outbound.0)
        .fetch_optional(self.conn())
        .await?;
        let Some((class, provider, useful)) = row else {
            return Ok(Unseen::Gone);
        };
        let again = useful
            && self
                .mark_reconciled(&provider, &outbound.to_string(), ReconciledAs::Requeued)
                .await?;
        sqlx::query(
            "update send_attempts set outcome = 'transient', detail = 'the provider has no record of it' where outbound_id = $1 and outcome in ('pending', 'ambiguous')",
        )
        .bind(outbound.0)
        .execute(self.conn())
        .await?;
        sqlx::query(
            "update outbound_messages set state = $2, reason = 'provider_never_had_it', not_before = now(), next_sweep_at = now() + make_interval(secs => $3),
               ended_at = case when $2 = 'failed' then now() end where outbound_id = $1",
        )
        .bind(outbound.0)
        .bind(if again { OutboundState::Queued } else { OutboundState::Failed }.as_str())
        .bind(self.sweep_base())
        .execute(self.conn())
        .await?;
        Ok(if again {
            Unseen::Requeued(Queued::new(outbound, class))
        } else {
            Unseen::Ended
        })
    }

    /// Returns the guest and conversation that belong to a hash, if the guest is known.
    pub async fn conversation_of_guest(
        &mut self,
        guest: &GuestHash,
    ) -> Result<Option<(GuestId, ConversationId)>> {
        let row: Option<(Uuid, Uuid)> = sqlx::query_as(
            "select g.guest_id, c.conversation_id from guests g join conversations c on c.guest_id = g.guest_id
             where g.key_id = $1 and g.phone_hash = $2 limit 1",
        )
        .bind(guest.key_id)
        .bind(&guest.bytes[..])
        .fetch_optional(self.conn())
        .await?;
        Ok(row.map(|(guest, conversation)| (GuestId(guest), ConversationId(conversation))))
    }
}

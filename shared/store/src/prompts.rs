//! Opt-in questions and the YES that answers them (CONV-9, C-8, C-16).

use std::time::Duration;

use chrono::{DateTime, Utc};
use seven_domain::{ConsentTier, GuestId, OutboundId, PromptState};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Tx};

/// A question that we asked, with the data that the evidence of consent needs.
#[derive(Debug, Clone, FromRow)]
pub struct Prompt {
    pub outbound_id: Uuid,
    pub tier: ConsentTier,
    pub wording: String,
    pub wording_hash: String,
}

impl Tx {
    /// Records that this queued text asks for consent in these words.
    pub async fn put_prompt(
        &mut self,
        outbound: OutboundId,
        guest: GuestId,
        prompt: &Prompt,
        open_for: Duration,
    ) -> Result<()> {
        let casino = self.casino_str();
        sqlx::query(
            "insert into consent_prompts (casino_id, outbound_id, guest_id, tier, wording, wording_hash, expires_at)
             values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7)) on conflict do nothing",
        )
        .bind(casino)
        .bind(outbound.0)
        .bind(guest.0)
        .bind(prompt.tier)
        .bind(&prompt.wording)
        .bind(&prompt.wording_hash)
        .bind(open_for.as_secs_f64())
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Returns the question that a YES written at `written_at` answers. The question must be our
    /// last text. The provider must have accepted it, and it must not have expired. It must have
    /// been sent before the YES; the clocks may differ by two seconds.
    pub async fn pending_prompt(
        &mut self,
        guest: GuestId,
        written_at: DateTime<Utc>,
    ) -> Result<Option<Prompt>> {
        Ok(sqlx::query_as(
            "select p.outbound_id, p.tier, p.wording, p.wording_hash from consent_prompts p join outbound_messages o on o.outbound_id = p.outbound_id
             where p.guest_id = $1 and p.state = 'pending' and p.expires_at > now() and o.state in ('sent', 'delivered')
               and o.sent_at <= $2 + interval '2 seconds'
               and not exists (select 1 from outbound_messages later where later.conversation_id = o.conversation_id and later.seq > o.seq
                               and later.state not in ('suppressed', 'expired', 'failed'))
             order by o.seq desc limit 1 for update of p",
        )
        .bind(guest.0)
        .bind(written_at)
        .fetch_optional(self.conn())
        .await?)
    }

    /// Closes every pending opt-in question that we asked this guest: as `Granted` after a YES to
    /// one, as `Declined` after a STOP.
    pub async fn close_prompts(&mut self, guest: GuestId, state: PromptState) -> Result<()> {
        sqlx::query(
            "update consent_prompts set state = $2 where guest_id = $1 and state = 'pending'",
        )
        .bind(guest.0)
        .bind(state)
        .execute(self.conn())
        .await?;
        Ok(())
    }
}

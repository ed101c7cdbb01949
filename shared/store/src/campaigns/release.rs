//! Turns a campaign's list into queued texts, one guest per transaction. A guest's conversation is
//! locked first, as the lock order of ARCHITECTURE.md demands.

use std::time::Duration;

use seven_domain::{
    CampaignId, CasinoId, ConversationId, GuestHash, GuestId, Language, OutboundId, text_enum,
};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Store, Tx, outbound::Recipient};

/// The recipient of a campaign text, and what is known about them before the pre-send check.
#[derive(Debug, Clone, FromRow)]
pub struct Addressee {
    pub guest_id: Uuid,
    pub conversation_id: Uuid,
    pub phone: String,
    key_id: i16,
    phone_hash: Vec<u8>,
    pub language: Option<Language>,
    /// The time zone of the guest's home, from the guest's profile.
    pub zone: Option<String>,
    pub guest_state: Option<String>,
    /// A permanent reason for which this guest gets no text.
    pub refusal: Option<ListingRefusal>,
    /// The conversation has work in progress, or a person has taken it over: the text has to wait.
    pub busy: bool,
}

text_enum! {
    /// Why a guest gets no text of a campaign, no matter when the text would be released.
    ListingRefusal {
        DeletionPending => "deletion_pending",
        SafetyStateMissing => "safety_state_missing",
        Suppressed => "guest_suppressed",
        ConsentTier => "consent_tier",
    }
}

/// A guest whose text may be released next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Next {
    pub campaign_id: CampaignId,
    pub guest_id: GuestId,
}

// === impl Addressee ===

impl Addressee {
    /// Returns `None` if the hash in the row is malformed.
    pub fn hash(&self) -> Option<GuestHash> {
        Some(GuestHash {
            key_id: self.key_id,
            bytes: self.phone_hash.clone().try_into().ok()?,
        })
    }

    pub fn guest(&self) -> GuestId {
        GuestId(self.guest_id)
    }

    pub fn recipient(&self) -> Recipient {
        Recipient {
            conversation_id: ConversationId(self.conversation_id),
            guest_id: self.guest(),
        }
    }
}

const ADDRESSEE: &str = include_str!("../../sql/addressee.sql");

impl Store {
    /// Returns the active casinos with a running campaign.
    pub async fn campaigning(&self) -> Result<Vec<CasinoId>> {
        let rows: Vec<String> = sqlx::query_scalar("select casino_id from fleet_campaigns()")
            .fetch_all(&mut *self.fleet().await?)
            .await?;
        rows.iter()
            .map(|casino| Ok(CasinoId::trusted(casino)?))
            .collect()
    }
}

impl Tx {
    /// Returns true if no other scheduler is releasing for this casino. In this case no other
    /// scheduler can do so until this transaction ends.
    pub async fn lead_campaigns(&mut self) -> Result<bool> {
        let casino = self.casino_str();
        Ok(sqlx::query_scalar(
            "select pg_try_advisory_xact_lock(hashtextextended('campaigns of ' || $1, 0))",
        )
        .bind(casino)
        .fetch_one(self.conn())
        .await?)
    }

    /// Returns two numbers of segments: of campaign texts released within `window`, and of queued
    /// bulk texts that neither quiet hours nor a paused campaign hold back.
    pub async fn campaign_load(&mut self, window: Duration) -> Result<(i64, i64)> {
        Ok(sqlx::query_as(
            "select
               (select coalesce(sum(o.segments), 0) from campaign_guests g join outbound_messages o on o.casino_id = g.casino_id and o.outbound_id = g.outbound_id
                where g.state = 'released' and g.released_at > now() - make_interval(secs => $1)),
               (select coalesce(sum(o.segments), 0) from outbound_messages o join send_policy p on p.class = o.class and p.lane = 'bulk'
                left join campaigns q on q.campaign_id = o.campaign_id
                where o.state = 'queued' and (o.not_before <= now() or o.reason is distinct from 'quiet_hours')
                  and coalesce(q.state, 'running') <> 'paused')",
        )
        .bind(window.as_secs_f64())
        .fetch_one(self.conn())
        .await?)
    }

    /// Returns guests whose text is due, those of the oldest campaign first; locks nothing.
    pub async fn next_listed(&mut self, most: i64) -> Result<Vec<Next>> {
        let rows: Vec<(Uuid, Uuid)> = sqlx::query_as(
            "select g.campaign_id, g.guest_id from campaign_guests g join campaigns p on p.campaign_id = g.campaign_id
             where p.state = 'running' and g.state = 'listed' and g.not_before <= now()
             order by p.created_at, g.not_before, g.guest_id limit $1",
        )
        .bind(most)
        .fetch_all(self.conn())
        .await?;
        Ok(rows
            .into_iter()
            .map(|(campaign, guest)| Next {
                campaign_id: CampaignId(campaign),
                guest_id: GuestId(guest),
            })
            .collect())
    }

    /// Locks the guest's conversation. Then returns the guest, with the reasons why the guest may
    /// get no text now; `None` if the guest has no conversation.
    pub async fn addressee(&mut self, guest: GuestId) -> Result<Option<Addressee>> {
        sqlx::query("select 1 from conversations where guest_id = $1 for update")
            .bind(guest.0)
            .execute(self.conn())
            .await?;
        Ok(sqlx::query_as(ADDRESSEE)
            .bind(guest.0)
            .fetch_optional(self.conn())
            .await?)
    }

    /// Returns the campaign's texts (EN, ES). Returns `None` if the campaign is not running, the
    /// guest does not wait for the release any more, or another process is releasing the guest's
    /// text.
    pub async fn take_listed(&mut self, next: Next) -> Result<Option<(String, String)>> {
        Ok(sqlx::query_as(
            "select p.text_en, p.text_es from campaign_guests g join campaigns p on p.campaign_id = g.campaign_id
             where g.campaign_id = $1 and g.guest_id = $2 and g.state = 'listed' and p.state = 'running' for update of g skip locked",
        )
        .bind(next.campaign_id.0)
        .bind(next.guest_id.0)
        .fetch_optional(self.conn())
        .await?)
    }

    /// Records that the guest's text was queued under this id.
    pub async fn mark_released(&mut self, next: Next, outbound: OutboundId) -> Result<()> {
        sqlx::query(
            "update campaign_guests set state = 'released', reason = null, outbound_id = $3, released_at = now()
             where campaign_id = $1 and guest_id = $2",
        )
        .bind(next.campaign_id.0)
        .bind(next.guest_id.0)
        .bind(outbound.0)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Postpones this guest's release by `wait`.
    pub async fn put_off(&mut self, next: Next, wait: Duration, reason: &str) -> Result<()> {
        sqlx::query(
            "update campaign_guests set reason = $3, not_before = now() + make_interval(secs => $4) where campaign_id = $1 and guest_id = $2",
        )
        .bind(next.campaign_id.0)
        .bind(next.guest_id.0)
        .bind(reason)
        .bind(wait.as_secs_f64())
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Records that this guest gets no text.
    pub async fn refuse_listed(&mut self, next: Next, reason: &str) -> Result<()> {
        sqlx::query(
            "update campaign_guests set state = 'refused', reason = $3 where campaign_id = $1 and guest_id = $2",
        )
        .bind(next.campaign_id.0)
        .bind(next.guest_id.0)
        .bind(reason)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Marks running campaigns as done once none of their guests is left to release; returns them.
    pub async fn finish_campaigns(&mut self) -> Result<Vec<CampaignId>> {
        let rows: Vec<Uuid> = sqlx::query_scalar(
            "update campaigns p set state = 'done', ended_at = now()
             where p.state = 'running' and not exists (
               select 1 from campaign_guests g where g.casino_id = p.casino_id and g.campaign_id = p.campaign_id and g.state = 'listed')
             returning p.campaign_id",
        )
        .fetch_all(self.conn())
        .await?;
        Ok(rows.into_iter().map(CampaignId).collect())
    }
}

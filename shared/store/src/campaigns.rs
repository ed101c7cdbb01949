//! Campaigns: one text to many guests who agreed to marketing texts. The scheduler releases the
//! texts at the casino's pace ([`release`]); the pre-send check decides on each.

pub mod release;

use std::{collections::BTreeMap, time::Duration};

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use seven_domain::{CampaignId, CampaignState, GuestHash, GuestId, MessageClass};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Tx};

/// A campaign to store.
#[derive(Debug, Clone)]
pub struct NewCampaign<'a> {
    pub campaign_id: CampaignId,
    pub name: &'a str,
    pub text_en: &'a str,
    pub text_es: &'a str,
    pub by: &'a str,
    /// Counts of the plan, as shown to the operator.
    pub plan: &'a Value,
    /// True if the campaign stays paused until a second person approves it.
    pub awaits_approval: bool,
}

/// A guest of a new campaign.
#[derive(Debug, Clone)]
pub struct NewListed {
    pub guest_id: GuestId,
    /// Why this guest gets no text; `None` if the guest is listed.
    pub refused: Option<String>,
    /// Delay before the release and its reason; `None` if the text may be released at once.
    pub wait: Option<(Duration, String)>,
}

/// The current state of a campaign.
#[derive(Debug, Clone, FromRow, Serialize)]
pub struct Campaign {
    pub campaign_id: Uuid,
    pub name: String,
    pub class: MessageClass,
    pub text_en: String,
    pub text_es: String,
    pub state: CampaignState,
    pub plan: Value,
    pub created_by: String,
    pub created_at: DateTime<Utc>,
    pub awaits_approval: bool,
    /// The second person, who approved the campaign; `None` if no approval was needed or none was
    /// given yet.
    pub approved_by: Option<String>,
    pub approved_at: Option<DateTime<Utc>>,
    pub ended_at: Option<DateTime<Utc>>,
    /// Numbers of guests not yet released, released, and refused before their release.
    pub listed: i64,
    pub released: i64,
    pub refused: i64,
}

const CAMPAIGN: &str = "select p.campaign_id, p.name, p.class, p.text_en, p.text_es, p.state, p.plan, p.created_by, p.created_at, p.ended_at, p.awaits_approval, p.approved_by, p.approved_at,
   count(*) filter (where g.state = 'listed') as listed, count(*) filter (where g.state = 'released') as released,
   count(*) filter (where g.state = 'refused') as refused
 from campaigns p left join campaign_guests g on g.campaign_id = p.campaign_id
 where $1::text is null or p.name = $1 or p.campaign_id::text = $1
 group by p.casino_id, p.campaign_id order by p.created_at desc limit $2";

impl Tx {
    /// Returns campaigns, newest first.
    pub async fn campaigns(&mut self, most: i64) -> Result<Vec<Campaign>> {
        Ok(sqlx::query_as(CAMPAIGN)
            .bind(None::<&str>)
            .bind(most)
            .fetch_all(self.conn())
            .await?)
    }

    /// Returns the campaign with this name or id.
    pub async fn campaign(&mut self, named: &str) -> Result<Option<Campaign>> {
        Ok(sqlx::query_as(CAMPAIGN)
            .bind(named)
            .bind(1_i64)
            .fetch_optional(self.conn())
            .await?)
    }

    /// Counts a campaign's guests by state and reason. Until a guest's text is released, the state
    /// is that of the guest in the campaign's list; afterwards it is the text's state. A key is the
    /// state, followed by `: ` and the reason if there is one.
    pub async fn campaign_counts(&mut self, campaign: CampaignId) -> Result<BTreeMap<String, i64>> {
        let rows: Vec<(String, i64)> = sqlx::query_as(
            "select concat_ws(': ', case when g.state = 'released' then coalesce(o.state, 'released') else g.state end,
                      case when g.state = 'released' then o.reason else g.reason end), count(*)
             from campaign_guests g left join outbound_messages o on o.outbound_id = g.outbound_id
             where g.campaign_id = $1 group by 1",
        )
        .bind(campaign.0)
        .fetch_all(self.conn())
        .await?;
        Ok(rows.into_iter().collect())
    }

    /// Stores a campaign with its guests; returns false when the name is taken. Guests deleted
    /// meanwhile are left out.
    pub async fn create_campaign(
        &mut self,
        new: &NewCampaign<'_>,
        guests: &[NewListed],
    ) -> Result<bool> {
        let casino = self.casino_str();
        let created = sqlx::query(
            "insert into campaigns (casino_id, campaign_id, name, class, text_en, text_es, plan, created_by, awaits_approval, state)
             values ($1, $2, $3, 'marketing', $4, $5, $6, $7, $8, case when $8 then 'paused' else 'running' end) on conflict (casino_id, name) do nothing",
        )
        .bind(&casino)
        .bind(new.campaign_id.0)
        .bind(new.name)
        .bind(new.text_en)
        .bind(new.text_es)
        .bind(new.plan)
        .bind(new.by)
        .bind(new.awaits_approval)
        .execute(self.conn())
        .await?;
        if created.rows_affected() == 0 {
            return Ok(false);
        }
        let waits = guests.iter().map(|guest| guest.wait.as_ref());
        sqlx::query(
            "insert into campaign_guests (casino_id, campaign_id, guest_id, state, reason, not_before)
             select $1, $2, g.guest_id, case when l.refused is null then 'listed' else 'refused' end, coalesce(l.refused, l.waits_for),
               now() + make_interval(secs => l.wait)
             from unnest($3::uuid[], $4::text[], $5::text[], $6::float8[]) as l (guest_id, refused, waits_for, wait)
             join guests g on g.guest_id = l.guest_id
             on conflict do nothing",
        )
        .bind(casino)
        .bind(new.campaign_id.0)
        .bind(
            guests
                .iter()
                .map(|guest| guest.guest_id.0)
                .collect::<Vec<_>>(),
        )
        .bind(
            guests
                .iter()
                .map(|guest| guest.refused.clone())
                .collect::<Vec<_>>(),
        )
        .bind(
            waits
                .clone()
                .map(|wait| wait.map(|(_, why)| why.clone()))
                .collect::<Vec<_>>(),
        )
        .bind(
            waits
                .map(|wait| wait.map_or(0.0, |(span, _)| span.as_secs_f64()))
                .collect::<Vec<_>>(),
        )
        .execute(self.conn())
        .await?;
        Ok(true)
    }

    /// Adds all guests with marketing consent to the campaign's list. Leaves out guests who are on
    /// the list already or have a deletion pending.
    pub async fn list_all_consenting(&mut self, campaign: CampaignId) -> Result<()> {
        let casino = self.casino_str();
        sqlx::query(
            "insert into campaign_guests (casino_id, campaign_id, guest_id)
             select casino_id, $2, guest_id from guests
             where casino_id = $1 and consent_tier = 'marketing' and status <> 'pending_deletion' on conflict do nothing",
        )
        .bind(casino)
        .bind(campaign.0)
        .execute(self.conn())
        .await?;
        Ok(())
    }

    /// Records who approved a campaign.
    pub async fn approve_campaign(&mut self, campaign: CampaignId, by: &str) -> Result<()> {
        let query = "update campaigns set awaits_approval = false, approved_by = $2, approved_at = now() where campaign_id = $1";
        sqlx::query(query)
            .bind(campaign.0)
            .bind(by)
            .execute(self.conn())
            .await?;
        Ok(())
    }

    /// Moves a campaign from one of these states to another; returns false when it is in none of
    /// them.
    pub async fn move_campaign(
        &mut self,
        campaign: CampaignId,
        from: &[CampaignState],
        to: CampaignState,
    ) -> Result<bool> {
        let done = sqlx::query(
            "update campaigns set state = $3, ended_at = case when $3 in ('done', 'cancelled') then now() end
             where campaign_id = $1 and state = any($2)",
        )
        .bind(campaign.0)
        .bind(from.iter().map(|state| state.as_str()).collect::<Vec<_>>())
        .bind(to)
        .execute(self.conn())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Ends the unsent part of a cancelled campaign: its queued texts, then the guests not released
    /// yet. Returns the number of each.
    pub async fn drop_unsent(&mut self, campaign: CampaignId) -> Result<(u64, u64)> {
        let texts = sqlx::query(
            "update outbound_messages set state = 'suppressed', reason = 'campaign_cancelled', ended_at = now()
             where campaign_id = $1 and state = 'queued'",
        )
        .bind(campaign.0)
        .execute(self.conn())
        .await?;
        let guests = sqlx::query(
            "update campaign_guests set state = 'refused', reason = 'campaign_cancelled' where campaign_id = $1 and state = 'listed'",
        )
        .bind(campaign.0)
        .execute(self.conn())
        .await?;
        Ok((texts.rows_affected(), guests.rows_affected()))
    }

    /// Returns every guest who agreed to marketing texts and whose deletion is not pending.
    pub async fn consenting_guests(&mut self) -> Result<Vec<GuestHash>> {
        let rows: Vec<(i16, Vec<u8>)> = sqlx::query_as(
            "select key_id, phone_hash from guests where consent_tier = 'marketing' and status <> 'pending_deletion' order by guest_id",
        )
        .fetch_all(self.conn())
        .await?;
        Ok(rows
            .into_iter()
            .filter_map(|(key_id, hash)| {
                Some(GuestHash {
                    key_id,
                    bytes: hash.try_into().ok()?,
                })
            })
            .collect())
    }
}

//! Offers made to guests, and the audit of every call about them (AGENT-46, CONV-35, CONV-36).

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use seven_domain::{AuditEvent, GuestHash, GuestId, Offer, OfferCall, OfferId, TurnId};
use sqlx::FromRow;
use uuid::Uuid;

use crate::{Result, Tx, audit::Entry};

#[derive(FromRow)]
struct Row {
    offer_id: Uuid,
    turn_id: Uuid,
    item: String,
    tier: String,
    dollars: i32,
    status: String,
    issued_at: DateTime<Utc>,
    expires_at: DateTime<Utc>,
    redeemed_at: Option<DateTime<Utc>>,
}

impl Row {
    fn read(self) -> Result<Offer> {
        Ok(Offer {
            id: OfferId(self.offer_id),
            turn: TurnId(self.turn_id),
            tier: self.tier.parse()?,
            status: self.status.parse()?,
            item: self.item,
            dollars: u32::try_from(self.dollars).unwrap_or_default(),
            issued_at: self.issued_at,
            expires_at: self.expires_at,
            redeemed_at: self.redeemed_at,
        })
    }
}

impl Tx {
    /// Returns all offers of a guest, oldest first.
    pub async fn offers_of(&mut self, guest: GuestId) -> Result<Vec<Offer>> {
        let rows: Vec<Row> = sqlx::query_as(
            "select offer_id, turn_id, item, tier, dollars, status, issued_at, expires_at, redeemed_at
             from offers where guest_id = $1 order by issued_at, offer_id",
        )
        .bind(guest.0)
        .fetch_all(self.conn())
        .await?;
        rows.into_iter().map(Row::read).collect()
    }

    /// Counts the offers issued for each content row, without revoked offers.
    pub async fn issued(&mut self) -> Result<BTreeMap<String, u32>> {
        let rows: Vec<(String, i64)> = sqlx::query_as(
            "select item, count(*) from offers where status <> 'revoked' group by item",
        )
        .fetch_all(self.conn())
        .await?;
        Ok(rows
            .into_iter()
            .map(|(item, count)| (item, u32::try_from(count).unwrap_or(u32::MAX)))
            .collect())
    }

    /// Writes an offer for the guest of its turn; fails if that turn is not stored yet. Returns
    /// false when the offer was written before.
    pub async fn issue(&mut self, offer: &Offer) -> Result<bool> {
        let casino = self.casino_str();
        let (guest, conversation): (Uuid, Uuid) =
            sqlx::query_as("select guest_id, conversation_id from turns where turn_id = $1")
                .bind(offer.turn.0)
                .fetch_one(self.conn())
                .await?;
        let new = sqlx::query(
            "insert into offers (casino_id, offer_id, guest_id, conversation_id, turn_id, item, tier, dollars, status, issued_at, expires_at, redeemed_at)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) on conflict do nothing",
        )
        .bind(casino)
        .bind(offer.id.0)
        .bind(guest)
        .bind(conversation)
        .bind(offer.turn.0)
        .bind(&offer.item)
        .bind(offer.tier)
        .bind(i32::try_from(offer.dollars).unwrap_or(i32::MAX))
        .bind(offer.status)
        .bind(offer.issued_at)
        .bind(offer.expires_at)
        .bind(offer.redeemed_at)
        .execute(self.conn())
        .await?
        .rows_affected();
        Ok(new == 1)
    }

    /// Records that this guest used an offer at `at`. Returns false if the offer belongs to
    /// somebody else, was used before or has expired.
    pub async fn redeem(
        &mut self,
        guest: GuestId,
        offer: OfferId,
        at: DateTime<Utc>,
    ) -> Result<bool> {
        let done = sqlx::query(
            "update offers set status = 'redeemed', redeemed_at = $3
             where offer_id = $1 and guest_id = $2 and status = 'issued' and expires_at > $3",
        )
        .bind(offer.0)
        .bind(guest.0)
        .bind(at)
        .execute(self.conn())
        .await?
        .rows_affected();
        Ok(done == 1)
    }

    /// Adds one audit entry for each tool call about offers, so that a regulator can see why an
    /// offer was shown (AGENT-46). Calls whose offer the guest never saw are included.
    pub async fn audit_offer_calls(
        &mut self,
        turn: TurnId,
        guest: Option<&GuestHash>,
        calls: &[OfferCall],
        trace: &str,
    ) -> Result<()> {
        let subject = turn.to_string();
        for call in calls {
            self.audit(&Entry {
                event: AuditEvent::CompToolCall,
                actor: "agent-swarm",
                subject: &subject,
                guest,
                detail: serde_json::to_value(call)?,
                trace: Some(trace),
            })
            .await?;
        }
        Ok(())
    }
}

//! An offer made to a guest, and the audit of every call about offers.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::{OfferId, TurnId, text_enum};

text_enum! {
    /// The value tier of an offer, the lowest first.
    OfferTier {
        Dining => "dining",
        Freeplay => "freeplay",
        Hotel => "hotel",
        Vip => "vip",
    }
}

text_enum! {
    /// The state of an offer.
    OfferStatus {
        Issued => "issued",
        Redeemed => "redeemed",
        Expired => "expired",
        Revoked => "revoked",
    }
}

/// One offer that a turn made. The turn determines the guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// The id, derived from turn and item so that a repeated turn makes the same offer (D4).
    pub id: OfferId,
    pub turn: TurnId,
    /// The content row that is offered.
    pub item: String,
    pub tier: OfferTier,
    /// The offer's value in whole dollars, rounded up.
    pub dollars: u32,
    pub status: OfferStatus,
    pub issued_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
    pub redeemed_at: Option<DateTime<Utc>>,
}

impl Offer {
    /// Returns whether the offer was issued and can still be used at `now`.
    pub fn is_open(&self, now: DateTime<Utc>) -> bool {
        self.status == OfferStatus::Issued && now < self.expires_at
    }

    /// Returns whether the offer counts towards the caps on offers; every offer but a revoked one
    /// does.
    pub fn counts(&self) -> bool {
        self.status != OfferStatus::Revoked
    }
}

/// One call of a tool about offers, whether or not the guest was told of it. Contains no name,
/// phone or text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferCall {
    pub tool: String,
    /// Content rows the call was about.
    pub items: Vec<String>,
    /// The offers that the call made or looked up.
    pub offers: Vec<OfferId>,
    /// The reason for a refusal; `None` if the call was allowed.
    pub refusal: Option<String>,
    /// The completeness of the guest's profile, in percent.
    pub completeness: u8,
    pub millis: u64,
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test] // CONV-35
    fn an_offer_is_open_until_it_is_used_or_ends() {
        let at = |hour: u32| {
            format!("2026-11-22T{hour:02}:00:00Z")
                .parse::<DateTime<Utc>>()
                .unwrap()
        };
        let offer = |status| Offer {
            id: OfferId(Uuid::nil()),
            turn: TurnId(Uuid::nil()),
            item: "promotions_001".into(),
            tier: OfferTier::Dining,
            dollars: 10,
            status,
            issued_at: at(10),
            expires_at: at(20),
            redeemed_at: None,
        };
        for (status, hour, open, counts) in [
            (OfferStatus::Issued, 19, true, true),
            (OfferStatus::Issued, 20, false, true),
            (OfferStatus::Redeemed, 19, false, true),
            (OfferStatus::Expired, 19, false, true),
            (OfferStatus::Revoked, 19, false, false),
        ] {
            assert_eq!(
                (offer(status).is_open(at(hour)), offer(status).counts()),
                (open, counts),
                "{status} {hour}"
            );
        }
    }
}

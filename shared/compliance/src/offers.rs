//! Compares the offers in a reply with the casino's real ones before the guest reads the reply. A
//! reply with an unproven amount of money is rejected. A reply with other unproven wording is sent
//! and flagged.

mod amount;
mod catalogue;
mod extract;
mod phrase;
mod say;
#[cfg(test)]
mod tests;
mod verify;
mod vocabulary;
mod words;

use std::{borrow::Borrow, ops::Range};

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use serde::Serialize;

pub use self::catalogue::{Catalogue, Promotion, Row};
use self::{
    extract::{Claimed, extract},
    verify::{Campaign, Content},
};

/// Wording in a reply that a guest may take for an offer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Offer {
    #[serde(flatten)]
    pub kind: Kind,
    /// The byte range of the offer in the reply.
    pub span: Range<usize>,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Kind {
    Money {
        cents: u64,
        currency: Currency,
    },
    /// A percentage in hundredths: 12.5% is 1250.
    Percent {
        hundredths: u64,
    },
    FreeItem {
        item: Option<String>,
    },
    Comp {
        item: Option<String>,
    },
    Bogo {
        item: Option<String>,
    },
    Code {
        code: Option<String>,
    },
    /// Play that the guest must match with their own money: match play, bonus bet, deposit match.
    Match {
        on: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Currency {
    Usd,
    /// Any other currency. No casino uses one, so an amount in it cannot be proven.
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    Pass,
    /// Send the reply, and record [`OfferCheck::audit`] for a person to review.
    Flag,
    /// Do not send the reply; ask the model again with [`OfferCheck::feedback`].
    Reject,
}

/// The result of checking one reply for offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OfferCheck {
    pub has_offers: bool,
    pub verified: bool,
    pub offers_found: Vec<Offer>,
    pub unverified_offers: Vec<Offer>,
    /// The ids of the promotions that proved an offer.
    pub matched_campaigns: Vec<String>,
    pub action: Action,
    /// For a rejected reply: the instructions for the model's next draft.
    pub feedback: Option<String>,
    /// For a flagged reply: the wording for a person to review, logged with the event
    /// `offer_flagged`.
    pub audit: Option<String>,
}

/// Checks the final wording of a reply. The calendar day in the casino's time zone decides whether
/// a promotion is valid.
pub fn check(reply: &str, catalogue: &Catalogue, now: DateTime<Utc>, zone: Tz) -> OfferCheck {
    check_with(reply, || catalogue, now, zone)
}

/// Does the same as [`check`], but builds the catalogue only if the reply contains an offer.
pub fn check_with<C: Borrow<Catalogue>>(
    reply: &str,
    catalogue: impl FnOnce() -> C,
    now: DateTime<Utc>,
    zone: Tz,
) -> OfferCheck {
    let found = extract(reply);
    if found.is_empty() {
        return OfferCheck::new(Vec::new(), Vec::new(), Vec::new());
    }
    let catalogue = catalogue();
    let catalogue: &Catalogue = catalogue.borrow();
    let live = catalogue
        .promotions
        .iter()
        .filter(|promotion| promotion.is_live(now, zone));
    let campaigns: Vec<Campaign<'_>> = live.map(Campaign::read).collect();
    let content = Content::read(&catalogue.rows);
    let is_proven = |found: &Claimed| {
        content.proves(found) || campaigns.iter().any(|campaign| campaign.proves(found))
    };
    let offer = |found: &Claimed| Offer {
        kind: found.kind.clone(),
        span: found.span.clone(),
        text: reply[found.span.clone()].to_owned(),
    };
    let unverified = found
        .iter()
        .filter(|found| !is_proven(found))
        .map(offer)
        .collect();
    let matched = campaigns
        .iter()
        .filter(|campaign| found.iter().any(|found| campaign.proves(found)));
    let matched = matched.map(|campaign| campaign.id.to_owned()).collect();
    OfferCheck::new(found.iter().map(offer).collect(), unverified, matched)
}

// === impl OfferCheck ===

impl OfferCheck {
    fn new(
        offers_found: Vec<Offer>,
        unverified_offers: Vec<Offer>,
        matched_campaigns: Vec<String>,
    ) -> Self {
        let is_money = |offer: &Offer| matches!(offer.kind, Kind::Money { .. });
        let action = match &unverified_offers[..] {
            [] => Action::Pass,
            unverified if unverified.iter().any(is_money) => Action::Reject,
            _ => Action::Flag,
        };
        let feedback = (action == Action::Reject).then(|| {
            format!(
                "No current promotion or listed price supports {}. Remove it, put no other amount \
                 or gift in its place, and mention only the promotions and prices you were given.",
                quoted(&unverified_offers)
            )
        });
        let audit = (action == Action::Flag).then(|| {
            format!(
                "sent with wording that no current promotion supports: {}",
                quoted(&unverified_offers)
            )
        });
        Self {
            has_offers: !offers_found.is_empty(),
            verified: unverified_offers.is_empty(),
            offers_found,
            unverified_offers,
            matched_campaigns,
            action,
            feedback,
            audit,
        }
    }
}

/// Quotes the first few distinct offers; the model and the reviewer need examples, not a full list.
fn quoted(offers: &[Offer]) -> String {
    const MOST: usize = 5;
    let mut texts: Vec<String> = Vec::new();
    for offer in offers {
        let text = format!("\"{}\"", offer.text);
        if texts.len() < MOST && !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts.join(", ")
}

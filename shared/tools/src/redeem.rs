//! track_redemption: shows the state of a guest's offers, and records that one was used.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use seven_domain::{Offer, OfferId, OfferStatus};

use crate::{
    Effect, Toolbox,
    fault::{Answer, Fault, arguments},
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// One offer; without it all of this guest's are told.
    #[serde(default)]
    offer_id: Option<String>,
    /// The guest said that it was used.
    #[serde(default)]
    redeemed: bool,
}

impl Toolbox<'_> {
    pub(crate) fn track_redemption(&mut self, given: &Value) -> Answer {
        let Arguments { offer_id, redeemed } = arguments(given)?;
        let unknown = || {
            Fault::new(
                "unknown_offer",
                "this guest has no such offer",
                "call it without offer_id to see them",
            )
        };
        let wanted: Option<OfferId> = match offer_id
            .as_deref()
            .map(str::trim)
            .filter(|id| !id.is_empty())
        {
            Some(id) => Some(id.parse().map_err(|_| unknown())?),
            None if redeemed => {
                return Err(Fault::new(
                    "bad_arguments",
                    "which one was used?",
                    "give its offer_id",
                ));
            }
            None => None,
        };
        let all = self
            .guest
            .offers
            .iter()
            .filter(|offer| wanted.is_none_or(|id| offer.id == id));
        let offers: Vec<Offer> = all.cloned().collect();
        if wanted.is_some() && offers.is_empty() {
            let staged = self.staged().any(|offer| Some(offer.id) == wanted);
            let this_turn = || {
                Fault::new(
                    "too_soon",
                    "this offer is only being made now",
                    "nothing to do yet",
                )
            };
            return Err(if staged { this_turn() } else { unknown() });
        }
        self.about.offers = offers.iter().map(|offer| offer.id).collect();
        self.about.items = offers.iter().map(|offer| offer.item.clone()).collect();
        if let (true, Some(offer)) = (redeemed, offers.first()) {
            self.redeem(offer)?;
        }
        let told: Vec<Value> = offers.iter().map(|offer| self.status(offer)).collect();
        Ok(json!({ "offers": told }))
    }

    /// Stages the redemption of an open offer. Stages nothing if the offer is redeemed already;
    /// fails if the offer has ended.
    fn redeem(&mut self, offer: &Offer) -> Result<(), Fault> {
        if self.is_redeemed(offer) {
            return Ok(());
        }
        if !offer.is_open(self.given.now) {
            let fix = format!(
                "say honestly that it is no longer open; people answer at {}",
                self.phone()
            );
            return Err(Fault::new("not_open", "this offer has ended", fix));
        }
        self.effects.push(Effect::Redeemed {
            offer: offer.id,
            at: self.given.now,
        });
        Ok(())
    }

    fn is_redeemed(&self, offer: &Offer) -> bool {
        let now = |effect: &Effect| {
            matches!(
                effect,
                Effect::Redeemed { offer: id, .. } if *id == offer.id
            )
        };
        offer.status == OfferStatus::Redeemed || self.effects.iter().any(now)
    }

    fn status(&mut self, offer: &Offer) -> Value {
        let status = match offer.status {
            _ if self.is_redeemed(offer) => OfferStatus::Redeemed,
            OfferStatus::Issued if !offer.is_open(self.given.now) => OfferStatus::Expired,
            status => status,
        };
        let item = self.given.index.get(&offer.item).cloned();
        let name = item
            .as_ref()
            .map(|item| item.name(self.given.language).to_owned());
        if let Some(item) = item {
            self.used(&item.id, None);
            self.found(format!("The guest's offer {} is {status}.", item.name));
        }
        json!({
            "offer_id": offer.id,
            "item": offer.item,
            "name": name,
            "status": status,
            "expires": offer.expires_at,
        })
    }
}

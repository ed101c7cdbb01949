//! create_offer: stages an offer, at most one for each content row (D4).

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use seven_domain::{Offer, OfferStatus};

use crate::{
    Effect, Toolbox,
    deal::Deal,
    effect::offer_id,
    fault::{Answer, Fault, arguments},
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The item of get_eligible_offers.
    item: String,
}

impl Toolbox<'_> {
    pub(crate) fn create_offer(&mut self, given: &Value) -> Answer {
        let Arguments { item } = arguments(given)?;
        let Some(deal) = self.deals().into_iter().find(|deal| deal.item.id == item) else {
            let fix = "use an item that get_eligible_offers returned in this turn";
            return Err(Fault::new(
                "unknown_offer",
                "the content has no such offer now",
                fix,
            ));
        };
        self.about.items = vec![item];
        // If the guest already has an open offer of this row, the tool returns that offer and makes
        // no second one.
        let now = self.given.now;
        let open = |offer: &&Offer| offer.item == deal.item.id && offer.is_open(now);
        let held = self
            .guest
            .offers
            .iter()
            .chain(self.staged())
            .find(open)
            .cloned();
        let offer = match held {
            Some(offer) => offer,
            None => self.make(&deal)?,
        };
        self.about.offers = vec![offer.id];
        let mut told = self.tell(&deal);
        told["offer_id"] = json!(offer.id);
        told["status"] = json!(offer.status);
        Ok(told)
    }

    fn make(&mut self, deal: &Deal) -> Result<Offer, Fault> {
        let eligible = self.admits(deal)?;
        let offer = Offer {
            id: offer_id(self.given.turn, &deal.item.id),
            turn: self.given.turn,
            item: deal.item.id.clone(),
            tier: eligible.tier,
            dollars: deal.dollars,
            status: OfferStatus::Issued,
            issued_at: self.given.now,
            expires_at: self.ends(deal),
            redeemed_at: None,
        };
        self.effects.push(Effect::Offer(offer.clone()));
        Ok(offer)
    }
}

//! get_eligible_offers, and the rules that decide about an offer: policy, caps and stock.

use chrono::{Datelike, TimeDelta};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use seven_domain::Offer;
use seven_guest::offers::{Eligible, Facts, Refusal};

use crate::{
    Effect, Toolbox,
    deal::Deal,
    fault::{Answer, Fault, arguments},
};

/// For this long, an offer is counted for the cap on offers in one conversation. It is the length
/// of a session.
const ARC: TimeDelta = TimeDelta::hours(48);
const WEEK: TimeDelta = TimeDelta::days(7);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {}

impl Toolbox<'_> {
    pub(crate) fn get_eligible_offers(&mut self, given: &Value) -> Answer {
        let Arguments {} = arguments(given)?;
        let mut offers = Vec::new();
        let mut why = None;
        for deal in self.deals() {
            match self.admits(&deal) {
                Ok(_) => offers.push(deal),
                Err(fault) => why = why.or(Some(fault)),
            }
        }
        self.about.items = offers.iter().map(|deal| deal.item.id.clone()).collect();
        if offers.is_empty() {
            let fault = why.unwrap_or_else(|| refused(Refusal::NoTier));
            self.about.refusal = Some(fault.kind);
            return Ok(json!({"offers": [], "why_none": fault.to_json()["error"]}));
        }
        let shown: Vec<Value> = offers.iter().map(|deal| self.tell(deal)).collect();
        Ok(json!({ "offers": shown }))
    }

    /// Describes an offer to the model, without the rules that made it eligible.
    pub(crate) fn tell(&mut self, deal: &Deal) -> Value {
        let row = self.show(&deal.item, None);
        let ends = (self.ends(deal) - TimeDelta::minutes(1))
            .with_timezone(&self.zone())
            .date_naive();
        if let Some(redeem) = &deal.redeem {
            self.found(format!("{}: how to redeem: {redeem}.", deal.item.name));
        }
        let last = ends.format("%A %b %-d, %Y");
        self.found(format!(
            "{} is worth ${} and ends {last}.",
            deal.item.name, deal.dollars
        ));
        json!({
            "item": row["id"],
            "name": row["name"],
            "text": row["text"],
            "how_to_redeem": deal.redeem,
            "last_day": ends,
        })
    }

    /// Decides whether this offer may be made to this guest now.
    pub(crate) fn admits(&self, deal: &Deal) -> Result<Eligible, Fault> {
        if !self.given.casino.features.comp_agent_enabled {
            return Err(Fault::new(
                "offers_off",
                "this casino makes no offers here",
                "mention none",
            ));
        }
        let (policy, facts) = (self.given.policy, self.facts());
        let eligible = policy
            .allows(
                deal.dollars,
                deal.gaming,
                &self.profile,
                &facts,
                self.given.now,
            )
            .map_err(refused)?;
        if deal.from.is_some_and(|day| day > self.today()) {
            return Err(Fault::new(
                "not_yet_valid",
                "it has not begun",
                "mention it only as something that is coming",
            ));
        }
        let given_out = self.given.issued.get(&deal.item.id).copied().unwrap_or(0);
        let staged = self
            .staged()
            .filter(|offer| offer.item == deal.item.id)
            .count();
        let given_out = given_out.saturating_add(u32::try_from(staged).unwrap_or(u32::MAX));
        if deal.most.is_some_and(|most| given_out >= most) {
            return Err(Fault::new(
                "sold_out",
                "all of them are given out",
                "offer something else, or nothing",
            ));
        }
        if eligible.needs_approval {
            let fix = format!(
                "promise nothing; a person decides, who can be reached at {}",
                self.phone()
            );
            return Err(Fault::new(
                "needs_approval",
                "only a person may make this offer",
                fix,
            ));
        }
        Ok(eligible)
    }

    /// Returns the offers staged in this turn.
    pub(crate) fn staged(&self) -> impl Iterator<Item = &Offer> {
        self.effects.iter().filter_map(|effect| match effect {
            Effect::Offer(offer) => Some(offer),
            Effect::Observe(_) | Effect::Redeemed { .. } => None,
        })
    }

    /// Returns the facts about the guest. The counts include all offers, also those of this turn.
    /// Days and months are those of the casino's calendar.
    fn facts(&self) -> Facts {
        let given = self.guest.facts;
        let (now, zone) = (self.given.now, self.zone());
        let all: Vec<&Offer> = self
            .guest
            .offers
            .iter()
            .chain(self.staged())
            .filter(|offer| offer.counts())
            .collect();
        let count = |wanted: &dyn Fn(&&&Offer) -> bool| {
            u32::try_from(all.iter().filter(|offer| wanted(offer)).count()).unwrap_or(u32::MAX)
        };
        let day = |offer: &Offer| offer.issued_at.with_timezone(&zone).date_naive();
        let today = self.today();
        let week = all.iter().filter(|offer| now - offer.issued_at < WEEK);
        let dollars = week.fold(0u32, |sum, offer| sum.saturating_add(offer.dollars));
        let asked = self
            .guest
            .texts
            .iter()
            .any(|text| self.given.policy.is_asked(text));
        Facts {
            asked: given.asked || asked,
            readiness: self.readiness,
            offers_this_arc: given
                .offers_this_arc
                .max(count(&|offer| now - offer.issued_at < ARC)),
            offers_today: given.offers_today.max(count(&|offer| day(offer) == today)),
            offers_this_month: given.offers_this_month.max(count(&|offer| {
                let day = day(offer);
                (day.year(), day.month()) == (today.year(), today.month())
            })),
            dollars_this_week: given.dollars_this_week.max(dollars),
            ..given
        }
    }
}

/// Tells the model why an offer is refused and what to do. The guest must not be told.
fn refused(refusal: Refusal) -> Fault {
    let fix = match refusal {
        Refusal::TooFewExchanges
        | Refusal::NotReady
        | Refusal::WrongPhase
        | Refusal::Incomplete
        | Refusal::FieldMissing => {
            "make no offer; hand the turn back to the host, who learns more of the guest"
        }
        Refusal::ResponsibleGaming | Refusal::SelfExcluded => {
            "make no offer and speak of no gaming"
        }
        _ => "make no offer in this turn and promise none",
    };
    Fault::new(refusal.as_str(), refusal.to_string(), fix)
}

//! Decides the highest offer tier that a guest may get now, or why no offer may be made. The rules
//! are data that this code applies, never a prompt. Whether the casino has an offer of that tier
//! depends on its content.

#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, fmt};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::{Confidence, Key, Phase, Profile, completeness::completeness, extract};

pub use seven_domain::OfferTier as TierName;

/// One step of the offer ladder; later steps are worth more.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tier {
    pub name: TierName,
    pub dollars: u32,
    pub completeness_above: Confidence,
    /// The phases in which the offer may be made to a guest who did not ask for one.
    pub phases: Vec<Phase>,
    /// Minimum number of texts that the guest must have written before the offer.
    #[serde(default)]
    pub texts: u32,
    /// Paths of profile fields that must be known.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Whether the offer is for gambling; such an offer is never made to a guest with a gambling
    /// problem.
    #[serde(default)]
    pub gaming: bool,
    /// Whether a person must approve the offer.
    #[serde(default)]
    pub approval: bool,
}

/// A casino's rules for offers.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    pub substantive_exchanges: u32,
    pub readiness_above: Confidence,
    pub unprompted_readiness_above: Confidence,
    pub texts_after_rejection: u32,
    pub per_arc: u32,
    pub per_day: u32,
    pub per_month: u32,
    pub weekly_dollars: u32,
    /// Folded phrases. An offer whose name or description contains one is an offer for gambling.
    pub gaming_words: Vec<String>,
    /// Folded phrases with which a guest asks for an offer. A text that also contains one of
    /// `declining_words` does not ask for an offer.
    pub asking_words: Vec<String>,
    pub declining_words: BTreeSet<String>,
    /// Folded phrases with which a guest rejects the offer just made.
    pub rejecting_words: Vec<String>,
    #[serde(default)]
    /// From the least to the most valuable. A trade without offers has no tiers.
    pub tier: Vec<Tier>,
}

/// The facts, besides the profile, that decide about an offer. Fields whose names contain `offers`
/// count the offers made; days and months follow the casino's calendar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Facts {
    pub phase: Phase,
    /// Whether the guest asked for an offer.
    pub asked: bool,
    pub suppressed: bool,
    /// Whether the guest consented to the texts of this conversation.
    pub conversational_consent: bool,
    /// Whether the guest consented to marketing. An offer that the guest did not ask for needs this
    /// consent.
    pub marketing_consent: bool,
    /// Whether a case is open or the host is paused.
    pub paused: bool,
    pub self_excluded: bool,
    pub responsible_gaming: bool,
    pub readiness: Confidence,
    pub guest_texts: u32,
    pub substantive_exchanges: u32,
    /// How many texts the guest wrote after rejecting an offer; `None` if none was rejected.
    pub texts_since_rejection: Option<u32>,
    pub offers_this_arc: u32,
    pub offers_today: u32,
    pub offers_this_month: u32,
    /// The total value of the last seven days' offers, in dollars.
    pub dollars_this_week: u32,
}

/// An offer that may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Eligible {
    pub tier: TierName,
    pub dollars: u32,
    pub needs_approval: bool,
}

/// The reason why no offer may be made; its name goes into the audit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    Suppressed,
    NoConsent,
    NoMarketingConsent,
    SelfExcluded,
    Paused,
    ResponsibleGaming,
    DeletionPending,
    ArcCap,
    DailyCap,
    MonthlyCap,
    WeeklyValue,
    JustRejected,
    TooFewExchanges,
    NotReady,
    WrongPhase,
    Incomplete,
    FieldMissing,
    NoTier,
}

/// The maximum number of words in a text that is read as a rejection.
const MOST_OF_A_NO: usize = 8;

// === impl Policy ===

impl Policy {
    /// Reads a pack's `offers.toml`.
    ///
    /// # Errors
    ///
    /// Fails when a field is missing, unknown or of the wrong type.
    pub fn parse(text: &str) -> Result<Self, toml::de::Error> {
        let mut policy: Self = toml::from_str(text)?;
        policy.tier.sort_by_key(|tier| tier.dollars);
        Ok(policy)
    }

    /// Returns the most valuable offer that this guest may get now, or why even the smallest is
    /// refused.
    pub fn decide(
        &self,
        profile: &Profile,
        facts: &Facts,
        now: DateTime<Utc>,
    ) -> Result<Eligible, Refusal> {
        self.admits(profile, facts)?;
        let mut why = Refusal::NoTier;
        for tier in self.tier.iter().rev() {
            match self.tier_admits(tier, tier.dollars, profile, facts, now) {
                Ok(()) => {
                    return Ok(Eligible {
                        tier: tier.name,
                        dollars: tier.dollars,
                        needs_approval: tier.approval,
                    });
                }
                Err(refusal) => why = refusal,
            }
        }
        Err(why)
    }

    /// Returns whether the comp agent (the agent that makes offers) may take over: the guest asked
    /// for an offer, or is ready enough for one.
    pub fn hands_to_comp(&self, facts: &Facts) -> bool {
        facts.asked || facts.readiness > self.unprompted_readiness_above
    }

    /// Decides whether an offer of `dollars` may be made now. The tier that applies is the lowest
    /// one that covers the amount and admits the guest. A guest with a gambling problem gets no
    /// offer for gambling.
    pub fn allows(
        &self,
        dollars: u32,
        gaming: bool,
        profile: &Profile,
        facts: &Facts,
        now: DateTime<Utc>,
    ) -> Result<Eligible, Refusal> {
        self.admits(profile, facts)?;
        if gaming && (facts.responsible_gaming || profile.engagement.responsible_gaming_triggered) {
            return Err(Refusal::ResponsibleGaming);
        }
        let mut why = None;
        for tier in self.tier.iter().filter(|tier| tier.dollars >= dollars) {
            match self.tier_admits(tier, dollars, profile, facts, now) {
                Ok(()) => {
                    return Ok(Eligible {
                        tier: tier.name,
                        dollars,
                        needs_approval: tier.approval,
                    });
                }
                // The lowest tier gives the reason, because higher tiers have its conditions too.
                Err(refusal) => why = why.or(Some(refusal)),
            }
        }
        Err(why.unwrap_or(Refusal::NoTier))
    }

    /// Returns whether an offer's name or description makes it an offer for gambling.
    pub fn is_gaming(&self, text: &str) -> bool {
        says(&extract::words(text), &self.gaming_words)
    }

    /// Returns whether a text asks for an offer; a text with a declining word does not.
    pub fn is_asked(&self, text: &str) -> bool {
        let words = extract::words(text);
        says(&words, &self.asking_words)
            && !words.iter().any(|word| self.declining_words.contains(word))
    }

    /// Returns whether a text rejects the offer just made: it is short, asks no question, and
    /// contains a rejecting phrase.
    fn is_rejection(&self, text: &str) -> bool {
        let words = extract::words(text);
        words.len() <= MOST_OF_A_NO && !text.contains('?') && says(&words, &self.rejecting_words)
    }

    /// Returns whether one of the texts rejects the offer just made.
    pub fn is_any_rejection(&self, texts: &[String]) -> bool {
        texts.iter().any(|text| self.is_rejection(text))
    }

    fn admits(&self, profile: &Profile, f: &Facts) -> Result<(), Refusal> {
        let forgotten = profile.meta.lifecycle == crate::profile::Lifecycle::PendingDeletion;
        let too_soon = f
            .texts_since_rejection
            .is_some_and(|texts| texts < self.texts_after_rejection);
        let rules = [
            (f.suppressed, Refusal::Suppressed),
            (forgotten, Refusal::DeletionPending),
            (!f.conversational_consent, Refusal::NoConsent),
            (f.self_excluded, Refusal::SelfExcluded),
            (f.paused, Refusal::Paused),
            (
                !f.asked && !f.marketing_consent,
                Refusal::NoMarketingConsent,
            ),
            (f.offers_this_arc >= self.per_arc, Refusal::ArcCap),
            (f.offers_today >= self.per_day, Refusal::DailyCap),
            (f.offers_this_month >= self.per_month, Refusal::MonthlyCap),
            (too_soon, Refusal::JustRejected),
            (
                f.substantive_exchanges < self.substantive_exchanges,
                Refusal::TooFewExchanges,
            ),
            (
                !f.asked && f.readiness <= self.readiness_above,
                Refusal::NotReady,
            ),
        ];
        rules
            .iter()
            .find(|(hit, _)| *hit)
            .map_or(Ok(()), |(_, refusal)| Err(*refusal))
    }

    fn tier_admits(
        &self,
        tier: &Tier,
        dollars: u32,
        profile: &Profile,
        f: &Facts,
        now: DateTime<Utc>,
    ) -> Result<(), Refusal> {
        let known =
            |path: &String| Key::at(path).is_some_and(|key| profile.seen(key, now).is_some());
        let over =
            !tier.approval && f.dollars_this_week.saturating_add(dollars) > self.weekly_dollars;
        let rules = [
            (
                tier.gaming
                    && (f.responsible_gaming || profile.engagement.responsible_gaming_triggered),
                Refusal::ResponsibleGaming,
            ),
            (
                !f.asked && !tier.phases.contains(&f.phase),
                Refusal::WrongPhase,
            ),
            (
                completeness(profile, now) <= tier.completeness_above,
                Refusal::Incomplete,
            ),
            (!tier.needs.iter().all(known), Refusal::FieldMissing),
            (f.guest_texts < tier.texts, Refusal::TooFewExchanges),
            (over, Refusal::WeeklyValue),
        ];
        rules
            .iter()
            .find(|(hit, _)| *hit)
            .map_or(Ok(()), |(_, refusal)| Err(*refusal))
    }
}

/// Returns whether `words` contains one of the phrases as consecutive whole words.
fn says(words: &[String], phrases: &[String]) -> bool {
    phrases.iter().any(|phrase| {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        words.windows(phrase.len()).any(|window| {
            window
                .iter()
                .zip(&phrase)
                .all(|(said, wanted)| said == wanted)
        })
    })
}

impl Refusal {
    /// Returns the name used in results and in the audit log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Suppressed => "suppressed",
            Self::NoConsent => "no_consent",
            Self::NoMarketingConsent => "no_marketing_consent",
            Self::SelfExcluded => "self_excluded",
            Self::Paused => "paused",
            Self::ResponsibleGaming => "responsible_gaming",
            Self::DeletionPending => "deletion_pending",
            Self::ArcCap => "arc_cap",
            Self::DailyCap => "daily_cap",
            Self::MonthlyCap => "monthly_cap",
            Self::WeeklyValue => "weekly_value",
            Self::JustRejected => "just_rejected",
            Self::TooFewExchanges => "too_few_exchanges",
            Self::NotReady => "not_ready",
            Self::WrongPhase => "wrong_phase",
            Self::Incomplete => "incomplete",
            Self::FieldMissing => "field_missing",
            Self::NoTier => "no_tier",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Self::Suppressed => "the guest opted out",
            Self::NoConsent => "no consent to texts",
            Self::NoMarketingConsent => "no consent to marketing, and the guest did not ask",
            Self::SelfExcluded => "the guest is self-excluded",
            Self::Paused => "a person has the conversation",
            Self::ResponsibleGaming => "no gaming offer after a sign of problem gambling",
            Self::DeletionPending => "the guest asked to be forgotten",
            Self::ArcCap => "enough offers in this conversation",
            Self::DailyCap => "enough offers today",
            Self::MonthlyCap => "enough offers this month",
            Self::WeeklyValue => "the week's value is used up",
            Self::JustRejected => "an offer was just rejected",
            Self::TooFewExchanges => "too few exchanges",
            Self::NotReady => "not ready for an offer",
            Self::WrongPhase => "not in this phase",
            Self::Incomplete => "too little is known",
            Self::FieldMissing => "something this offer needs is unknown",
            Self::NoTier => "the casino has no offers",
        };
        f.write_str(words)
    }
}

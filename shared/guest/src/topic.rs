//! Chooses the topic about which the host asks next: by priority, never the same twice in a row,
//! and never while a question of the guest is open.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::{Confidence, Key, Phase, Profile, completeness::completeness};

/// A topic about which the profile should know something. The variants are in order of priority.
/// The host never asks about companions and learns about them only from what guests mention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    Name,
    VisitDate,
    PartySize,
    Dining,
    Entertainment,
    Gaming,
    Occasions,
    Companions,
}

/// The goal toward which the next reply may steer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "next", content = "topic")]
pub enum Next {
    Ask(Topic),
    /// Enough is known, so the comp agent (the agent that makes offers) may take over.
    OfferReady,
    /// The host asks nothing and stays on the guest's topic.
    Nothing(Silence),
}

/// The reason why the host asks nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Silence {
    /// The guest's question is not answered yet.
    GuestAsked,
    /// A person has taken over, or the host is paused.
    Paused,
    /// The visit is over.
    AfterVisit,
    /// Every remaining topic was just asked, was asked often enough, or must not be asked about
    /// now.
    NothingLeft,
}

/// The facts, besides the profile, that decide about the topic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Situation<'a> {
    pub phase: Phase,
    /// The topics that the host asked about in this session, oldest first.
    pub asked: &'a [Topic],
    pub guest_question_open: bool,
    pub paused: bool,
    /// How ready the guest is for an offer; only the planner sets it.
    pub offer_readiness: Confidence,
}

/// Maximum number of questions about one topic in a session.
const TRIES: usize = 2;
/// Above this readiness for an offer, the comp agent may take over even if the guest did not ask.
const READY: Confidence = Confidence::percent(80);
/// Above this completeness of the profile, the host may make an offer instead of asking about a
/// topic.
const COMPLETE: Confidence = Confidence::percent(60);

// === impl Topic ===

impl Topic {
    pub const ALL: [Self; 8] = [
        Self::Name,
        Self::VisitDate,
        Self::PartySize,
        Self::Dining,
        Self::Entertainment,
        Self::Gaming,
        Self::Occasions,
        Self::Companions,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::VisitDate => "visit_date",
            Self::PartySize => "party_size",
            Self::Dining => "dining",
            Self::Entertainment => "entertainment",
            Self::Gaming => "gaming",
            Self::Occasions => "occasions",
            Self::Companions => "companions",
        }
    }

    /// Returns the profile fields that answer a question about this topic.
    pub fn keys(self) -> &'static [Key] {
        match self {
            Self::Name => &[Key::Name],
            Self::VisitDate => &[Key::VisitDate],
            Self::PartySize => &[Key::PartySize],
            Self::Dining => &[Key::Dietary, Key::Cuisine, Key::Budget, Key::KidsMenu],
            Self::Entertainment => &[Key::Interests, Key::Accessibility, Key::Treatments],
            Self::Gaming => &[
                Key::GamingLevel,
                Key::Games,
                Key::TypicalSpend,
                Key::LoyaltyTier,
            ],
            Self::Occasions => &[Key::Occasion],
            Self::Companions => &[],
        }
    }

    /// Returns whether this is one of the five preferences. The number of known preferences is one
    /// of the facts for [`Phase::next`].
    pub fn is_preference(self) -> bool {
        matches!(
            self,
            Self::Dining | Self::Entertainment | Self::Gaming | Self::Occasions | Self::Companions
        )
    }

    /// Returns whether agents may now see a fact about this topic.
    pub fn is_known(self, profile: &Profile, now: DateTime<Utc>) -> bool {
        let companions = self == Self::Companions
            && profile
                .companions()
                .iter()
                .any(|c| c.fields().any(|(_, f)| f.is_visible(now)));
        companions
            || self
                .keys()
                .iter()
                .any(|key| profile.seen(*key, now).is_some())
    }

    fn may_be_asked(self, phase: Phase) -> bool {
        match self {
            Self::Companions => false,
            // The host asks about gaming only after the rapport phase.
            Self::Gaming => matches!(phase, Phase::Discovery | Phase::Offer),
            _ => true,
        }
    }
}

/// Returns the topics about which something is known.
pub fn known(profile: &Profile, now: DateTime<Utc>) -> Vec<Topic> {
    Topic::ALL
        .into_iter()
        .filter(|topic| topic.is_known(profile, now))
        .collect()
}

/// Returns the topic to ask about next, or the reason for asking nothing.
pub fn next(profile: &Profile, situation: &Situation<'_>, now: DateTime<Utc>) -> Next {
    let silence = match situation {
        s if s.paused => Some(Silence::Paused),
        s if s.guest_question_open => Some(Silence::GuestAsked),
        s if s.phase == Phase::PostVisit => Some(Silence::AfterVisit),
        _ => None,
    };
    if let Some(why) = silence {
        return Next::Nothing(why);
    }
    if completeness(profile, now) > COMPLETE && situation.offer_readiness > READY {
        return Next::OfferReady;
    }
    let tried = |topic: &Topic| {
        situation
            .asked
            .iter()
            .filter(|asked| *asked == topic)
            .count()
    };
    let fits = |topic: &Topic| {
        situation.asked.last() != Some(topic)
            && tried(topic) < TRIES
            && topic.may_be_asked(situation.phase)
            && !topic.is_known(profile, now)
    };
    Topic::ALL
        .into_iter()
        .find(fits)
        .map_or(Next::Nothing(Silence::NothingLeft), Next::Ask)
}

/// How the host resumes a conversation that was dormant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resume {
    /// The known topics, to which the host's text may refer.
    pub known: Vec<Topic>,
    pub last: Option<Topic>,
    /// The next topic by priority; the name if nothing is known yet.
    pub next: Next,
}

pub fn resume(profile: &Profile, now: DateTime<Utc>) -> Resume {
    let last = profile.engagement.last_profiling_topic;
    // The conversation was dormant, so the host may ask again about topics without an answer.
    let situation = Situation {
        phase: Phase::Active,
        asked: &[],
        guest_question_open: false,
        paused: false,
        offer_readiness: Confidence::ZERO,
    };
    Resume {
        known: known(profile, now),
        last,
        next: next(profile, &situation, now),
    }
}

#[cfg(test)]
mod tests;

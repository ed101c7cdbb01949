//! Chooses the topic to ask about next (CONV-25, CONV-27): by priority, never twice in a row, never
//! over the guest's own question.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::{Confidence, Key, Phase, Profile, completeness::completeness};

/// A topic of profiling, in order of priority. Companions are never asked about, only understood.
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

/// The goal the next text may steer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "next", content = "topic")]
pub enum Next {
    Ask(Topic),
    /// Enough is known: the comp agent may take over.
    OfferReady,
    /// Stay on the guest's topic.
    Nothing(Silence),
}

/// Why nothing is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Silence {
    /// The guest asked something that is not answered yet.
    GuestAsked,
    /// A person has taken over, or automation is paused.
    Paused,
    /// The visit is over.
    AfterVisit,
    /// Everything left was just asked, asked often enough, or is not to be asked.
    NothingLeft,
}

/// The facts beside the profile on which the choice depends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Situation<'a> {
    pub phase: Phase,
    /// Topics asked about in this session, oldest first.
    pub asked: &'a [Topic],
    pub guest_question_open: bool,
    pub paused: bool,
    /// Set by the planner alone (AGENT-54).
    pub offer_readiness: Confidence,
}

/// A guest who does not answer is not asked a third time.
const TRIES: usize = 2;
/// The planner's readiness from which the comp agent takes over unprompted (AGENT-54, C-8).
const READY: Confidence = Confidence::percent(80);
/// Completeness from which an offer is the topic (CONV-28).
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

    /// The fields that answer it.
    pub fn keys(self) -> &'static [Key] {
        match self {
            Self::Name => &[Key::Name],
            Self::VisitDate => &[Key::VisitDate],
            Self::PartySize => &[Key::PartySize],
            Self::Dining => &[Key::Dietary, Key::Cuisine, Key::Budget, Key::KidsMenu],
            Self::Entertainment => &[Key::Interests, Key::Accessibility, Key::Treatments],
            Self::Gaming => &[Key::GamingLevel, Key::Games, Key::TypicalSpend, Key::LoyaltyTier],
            Self::Occasions => &[Key::Occasion],
            Self::Companions => &[],
        }
    }

    /// One of the five that count towards an offer (CONV-30).
    pub fn is_preference(self) -> bool {
        matches!(self, Self::Dining | Self::Entertainment | Self::Gaming | Self::Occasions | Self::Companions)
    }

    /// Whether an agent knows something of it now.
    pub fn is_known(self, profile: &Profile, now: DateTime<Utc>) -> bool {
        let companions =
            self == Self::Companions && profile.companions().iter().any(|c| c.fields().any(|(_, f)| f.is_visible(now)));
        companions || self.keys().iter().any(|key| profile.seen(*key, now).is_some())
    }

    fn may_be_asked(self, phase: Phase) -> bool {
        match self {
            Self::Companions => false,
            // Only after rapport (CONV-25).
            Self::Gaming => matches!(phase, Phase::Discovery | Phase::Offer),
            _ => true,
        }
    }
}

/// The topics of which something is known.
pub fn known(profile: &Profile, now: DateTime<Utc>) -> Vec<Topic> {
    Topic::ALL.into_iter().filter(|topic| topic.is_known(profile, now)).collect()
}

/// The next topic.
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
    let tried = |topic: &Topic| situation.asked.iter().filter(|asked| *asked == topic).count();
    let fits = |topic: &Topic| {
        situation.asked.last() != Some(topic)
            && tried(topic) < TRIES
            && topic.may_be_asked(situation.phase)
            && !topic.is_known(profile, now)
    };
    Topic::ALL.into_iter().find(fits).map_or(Next::Nothing(Silence::NothingLeft), Next::Ask)
}

/// How to pick up a conversation that went dormant (CONV-32).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resume {
    /// To refer to.
    pub known: Vec<Topic>,
    pub last: Option<Topic>,
    /// The next by priority; the name when nothing is known.
    pub next: Next,
}

pub fn resume(profile: &Profile, now: DateTime<Utc>) -> Resume {
    let last = profile.engagement.last_profiling_topic;
    // After two days the topic that was left open may be asked again.
    let situation = Situation {
        phase: Phase::Active,
        asked: &[],
        guest_question_open: false,
        paused: false,
        offer_readiness: Confidence::ZERO,
    };
    Resume { known: known(profile, now), last, next: next(profile, &situation, now) }
}

#[cfg(test)]
mod tests;

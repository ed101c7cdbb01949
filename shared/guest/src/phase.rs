//! Determines the phase of a conversation (CONV-30, CONV-31) and detects when it goes in circles
//! (CONV-33, PROD-19).
//!
//! Goals are checked before time limits (C-26). Runs after every guest text, and on a timer,
//! because only a timer notices silence.

use serde::{Deserialize, Serialize};

use crate::Confidence;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    #[default]
    PreVisit,
    Active,
    Rapport,
    Discovery,
    Offer,
    PostVisit,
    Dormant,
}

/// The event after which the phase is determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    GuestText,
    Timer,
    /// A campaign that contacts dormant guests.
    Reengagement,
}

/// All facts that the phase depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Facts {
    pub event: Event,
    /// The guest has consented and is not suppressed.
    pub reachable: bool,
    /// A person is handling an open case.
    pub escalated: bool,
    pub exchanges_in_phase: u32,
    /// Those exchanges whose guest text was more than "ok" ([`Quality::Substantive`]).
    pub substantive_in_phase: u32,
    /// Number of known profile fields of any kind.
    pub fields: u32,
    /// Number of known topics among dining, entertainment, gaming, occasions and companions.
    pub preference_topics: u32,
    pub has_name_or_date: bool,
    /// The sentiment over the last three messages, as the planner read it.
    pub rapport: Confidence,
    pub offer_readiness: Confidence,
    pub hours_in_phase: u32,
    /// Hours since the guest's last text; `None` if the guest never wrote.
    pub hours_since_guest: Option<u32>,
    pub visit: Visit,
    /// Hours since the text that follows a visit; `None` if none was sent.
    pub hours_since_post_visit_text: Option<u32>,
    /// The guest mentioned coming again.
    pub next_visit_interest: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visit {
    Unknown,
    Ahead,
    /// Hours since the end of the visit's last day.
    Over(u32),
}

const DAY: u32 = 24;
/// Hours of silence after which a conversation becomes dormant.
const SILENCE: u32 = 2 * DAY;
const WEEK: u32 = 7 * DAY;

// === impl Phase ===

impl Phase {
    pub const ALL: [Self; 7] =
        [Self::PreVisit, Self::Active, Self::Rapport, Self::Discovery, Self::Offer, Self::PostVisit, Self::Dormant];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::PreVisit => "pre_visit",
            Self::Active => "active",
            Self::Rapport => "rapport",
            Self::Discovery => "discovery",
            Self::Offer => "offer",
            Self::PostVisit => "post_visit",
            Self::Dormant => "dormant",
        }
    }

    /// Returns the phase after this event, at most one step further. Nothing changes for a guest
    /// who must not be texted.
    #[must_use]
    pub fn next(self, facts: &Facts) -> Self {
        if !facts.reachable {
            return self;
        }
        self.by_goal(facts).or_else(|| self.by_time(facts)).unwrap_or(self)
    }

    fn by_goal(self, f: &Facts) -> Option<Self> {
        let text = f.event == Event::GuestText;
        let half = Confidence::percent(50);
        match self {
            Self::PreVisit | Self::Dormant if text => Some(Self::Active),
            Self::Active if f.substantive_in_phase >= 2 && !f.escalated => Some(Self::Rapport),
            Self::Rapport if f.rapport > Confidence::percent(60) && f.has_name_or_date => Some(Self::Discovery),
            Self::Discovery if f.preference_topics >= 3 && f.offer_readiness > half => Some(Self::Offer),
            Self::Offer if matches!(f.visit, Visit::Over(hours) if hours >= DAY) => Some(Self::PostVisit),
            Self::PostVisit if f.next_visit_interest => Some(Self::PreVisit),
            _ => None,
        }
    }

    fn by_time(self, f: &Facts) -> Option<Self> {
        let half = Confidence::percent(50);
        match self {
            Self::Active if f.exchanges_in_phase >= 5 && !f.escalated => Some(Self::Rapport),
            Self::Rapport if f.exchanges_in_phase >= 3 && f.has_name_or_date => Some(Self::Discovery),
            Self::Discovery if f.exchanges_in_phase >= 7 && f.fields >= 1 && f.offer_readiness > half => {
                Some(Self::Offer)
            }
            Self::Offer if f.hours_in_phase >= 14 * DAY && f.visit != Visit::Ahead => Some(Self::PostVisit),
            Self::PostVisit if f.hours_since_post_visit_text.is_some_and(|h| h >= WEEK) => Some(Self::PreVisit),
            Self::PostVisit if f.hours_in_phase >= 30 * DAY => Some(Self::PreVisit),
            Self::Dormant if f.event == Event::Reengagement && f.hours_in_phase >= WEEK => Some(Self::Active),
            _ if self.sleeps(f) => Some(Self::Dormant),
            _ => None,
        }
    }

    /// Returns whether 48 hours of silence within the phase make it dormant. A visit that is ahead
    /// or just over keeps it awake (C-26).
    fn sleeps(self, f: &Facts) -> bool {
        let waits = match self {
            Self::Dormant | Self::PostVisit => true,
            Self::Offer => f.visit != Visit::Unknown,
            Self::PreVisit | Self::Active | Self::Rapport | Self::Discovery => false,
        };
        let silent = f.hours_since_guest.is_some_and(|hours| hours.min(f.hours_in_phase) >= SILENCE);
        silent && !waits && f.event != Event::GuestText
    }
}

/// How much content a guest's text has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quality {
    Substantive,
    /// Only words such as "ok", "sure", "gracias".
    Minimal,
    /// The text contains no word.
    None,
}

const MINIMAL: &[&str] = &[
    "ok",
    "okay",
    "okey",
    "k",
    "kk",
    "yes",
    "y",
    "yeah",
    "yep",
    "yup",
    "sure",
    "no",
    "nope",
    "nah",
    "n",
    "maybe",
    "fine",
    "cool",
    "great",
    "good",
    "nice",
    "thanks",
    "thank",
    "you",
    "thx",
    "ty",
    "perfect",
    "awesome",
    "please",
    "hi",
    "hello",
    "hey",
    "lol",
    "haha",
    "si",
    "claro",
    "vale",
    "bueno",
    "bien",
    "gracias",
    "perfecto",
    "genial",
    "dale",
    "hola",
    "listo",
    "excelente",
    "muchas",
    "quizas",
    "jaja",
    "a",
    "the",
    "oh",
    "ah",
    "hmm",
    "sounds",
    "got",
    "it",
    "de",
    "acuerdo",
    "esta",
    "por",
    "supuesto",
    "favor",
];

/// Returns how much content a text has (CONV-30: "ok", "yes" and "sure" are minimal).
pub fn quality(text: &str) -> Quality {
    let said = crate::extract::words(text);
    match said.iter().any(|word| !MINIMAL.contains(&word.as_str())) {
        _ if said.is_empty() => Quality::None,
        true => Quality::Substantive,
        false => Quality::Minimal,
    }
}

/// The results of one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnFacts {
    /// The profile learned something ([`crate::Merged::is_news`]).
    pub news: bool,
    /// The guest's question was answered from content: the turn was useful although it gave no
    /// data.
    pub answered: bool,
    /// The router could not tell what the guest meant.
    pub ambiguous: bool,
}

/// Numbers of consecutive turns without progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Circles {
    pub without_data: u32,
    pub ambiguous: u32,
}

/// The remedy for consecutive turns without progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rescue {
    None,
    /// Ask in simple words the broad question "dining, shows, spa or gaming?"; the phase returns to
    /// discovery (CONV-33).
    Menu,
    /// Hand over to a person (CONV-33, PROD-19).
    Human,
}

// === impl Circles ===

impl Circles {
    const MENU: u32 = 3;
    const HUMAN: u32 = 5;

    /// Returns the counts after one more turn. An answered question neither raises nor resets the
    /// count: a guest who only asks is being served and is not stuck.
    #[must_use]
    pub fn after(self, turn: TurnFacts) -> Self {
        let without_data = match turn {
            TurnFacts { news: true, .. } => 0,
            TurnFacts { answered: true, ambiguous: false, .. } => self.without_data,
            _ => self.without_data.saturating_add(1),
        };
        Self { without_data, ambiguous: if turn.ambiguous { self.ambiguous.saturating_add(1) } else { 0 } }
    }

    pub fn rescue(self) -> Rescue {
        match self.without_data.max(self.ambiguous) {
            Self::HUMAN.. => Rescue::Human,
            Self::MENU.. => Rescue::Menu,
            _ => Rescue::None,
        }
    }
}

#[cfg(test)]
mod tests;

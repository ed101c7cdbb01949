//! Determines the phase of a conversation after every guest text, and also on a timer. The timer is
//! needed because a silent guest causes no other event. Also detects conversations that go in
//! circles.

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

/// The event after which the phase is determined again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    GuestText,
    Timer,
    /// A campaign that texts dormant guests again.
    Reengagement,
}

/// The facts that decide about the phase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Facts {
    pub event: Event,
    /// Whether the guest has consented and is not suppressed.
    pub reachable: bool,
    /// Whether a person handles an open case.
    pub escalated: bool,
    pub exchanges_in_phase: u32,
    /// How many of the exchanges in the phase had a guest text with more content than "ok"
    /// ([`Quality::Substantive`]).
    pub substantive_in_phase: u32,
    /// How many profile fields of any kind are known.
    pub fields: u32,
    /// How many of the topics dining, entertainment, gaming, occasions and companions are known.
    pub preference_topics: u32,
    pub has_name_or_date: bool,
    /// The mean mood of the guest's last three texts, as judged by the planner; 1 is the best.
    pub rapport: Confidence,
    pub offer_readiness: Confidence,
    pub hours_in_phase: u32,
    /// Hours since the guest's last text; `None` if the guest never wrote.
    pub hours_since_guest: Option<u32>,
    pub visit: Visit,
    /// Hours since the text that we send after a visit; `None` if none was sent.
    pub hours_since_post_visit_text: Option<u32>,
    /// Whether the guest mentioned coming again.
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
    pub const ALL: [Self; 7] = [
        Self::PreVisit,
        Self::Active,
        Self::Rapport,
        Self::Discovery,
        Self::Offer,
        Self::PostVisit,
        Self::Dormant,
    ];

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

    /// Returns the phase after this event, at most one step further. If the guest must not be
    /// texted, the phase does not change.
    #[must_use]
    pub fn next(self, facts: &Facts) -> Self {
        if !facts.reachable {
            return self;
        }
        self.by_goal(facts)
            .or_else(|| self.by_time(facts))
            .unwrap_or(self)
    }

    fn by_goal(self, f: &Facts) -> Option<Self> {
        let text = f.event == Event::GuestText;
        let half = Confidence::percent(50);
        match self {
            Self::PreVisit | Self::Dormant if text => Some(Self::Active),
            Self::Active if f.substantive_in_phase >= 2 && !f.escalated => Some(Self::Rapport),
            Self::Rapport if f.rapport > Confidence::percent(60) && f.has_name_or_date => {
                Some(Self::Discovery)
            }
            Self::Discovery if f.preference_topics >= 3 && f.offer_readiness > half => {
                Some(Self::Offer)
            }
            Self::Offer if matches!(f.visit, Visit::Over(hours) if hours >= DAY) => {
                Some(Self::PostVisit)
            }
            Self::PostVisit if f.next_visit_interest => Some(Self::PreVisit),
            _ => None,
        }
    }

    fn by_time(self, f: &Facts) -> Option<Self> {
        let half = Confidence::percent(50);
        match self {
            Self::Active if f.exchanges_in_phase >= 5 && !f.escalated => Some(Self::Rapport),
            Self::Rapport if f.exchanges_in_phase >= 3 && f.has_name_or_date => {
                Some(Self::Discovery)
            }
            Self::Discovery
                if f.exchanges_in_phase >= 7 && f.fields >= 1 && f.offer_readiness > half =>
            {
                Some(Self::Offer)
            }
            Self::Offer if f.hours_in_phase >= 14 * DAY && f.visit != Visit::Ahead => {
                Some(Self::PostVisit)
            }
            Self::PostVisit if f.hours_since_post_visit_text.is_some_and(|h| h >= WEEK) => {
                Some(Self::PreVisit)
            }
            Self::PostVisit if f.hours_in_phase >= 30 * DAY => Some(Self::PreVisit),
            Self::Dormant if f.event == Event::Reengagement && f.hours_in_phase >= WEEK => {
                Some(Self::Active)
            }
            _ if self.sleeps(f) => Some(Self::Dormant),
            _ => None,
        }
    }

    /// Returns whether the conversation becomes dormant after 48 hours of silence. This never
    /// happens in the phase `PostVisit`, nor in the phase `Offer` if the date of a visit is known.
    fn sleeps(self, f: &Facts) -> bool {
        let waits = match self {
            Self::Dormant | Self::PostVisit => true,
            Self::Offer => f.visit != Visit::Unknown,
            Self::PreVisit | Self::Active | Self::Rapport | Self::Discovery => false,
        };
        let silent = f
            .hours_since_guest
            .is_some_and(|hours| hours.min(f.hours_in_phase) >= SILENCE);
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

/// Returns how much content a text has; "ok", "yes" and "sure" are minimal.
pub fn quality(text: &str) -> Quality {
    let said = crate::extract::words(text);
    match said.iter().any(|word| !MINIMAL.contains(&word.as_str())) {
        _ if said.is_empty() => Quality::None,
        true => Quality::Substantive,
        false => Quality::Minimal,
    }
}

/// The results of one turn, from which turns without progress are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnFacts {
    /// Whether the profile learned something ([`crate::Merged::is_news`]).
    pub news: bool,
    /// Whether the guest's question was answered from content; such a turn was useful although it
    /// gave no facts.
    pub answered: bool,
    /// Whether the router, which chooses the agent, could not tell what the guest meant.
    pub ambiguous: bool,
}

/// Counts of turns in a row without progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Circles {
    pub without_data: u32,
    pub ambiguous: u32,
}

/// The remedy for a conversation that goes in circles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rescue {
    None,
    /// Ask the broad question "dining, shows, spa or gaming?"; the phase returns to discovery.
    Menu,
    /// Hand the conversation to a person.
    Human,
}

// === impl Circles ===

impl Circles {
    const MENU: u32 = 3;
    const HUMAN: u32 = 5;

    /// Returns the counts after one more turn. A turn that only answers a question leaves
    /// `without_data` unchanged, because a guest who gets answers is not stuck.
    #[must_use]
    pub fn after(self, turn: TurnFacts) -> Self {
        let without_data = match turn {
            TurnFacts { news: true, .. } => 0,
            TurnFacts {
                answered: true,
                ambiguous: false,
                ..
            } => self.without_data,
            _ => self.without_data.saturating_add(1),
        };
        Self {
            without_data,
            ambiguous: if turn.ambiguous {
                self.ambiguous.saturating_add(1)
            } else {
                0
            },
        }
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

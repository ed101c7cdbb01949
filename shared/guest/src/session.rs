//! A session: the exchanges of a guest and the host, until 48 hours of silence. Sessions are built
//! from rows and the profile; no model is needed.

mod phase;
mod summary;
#[cfg(test)]
mod tests;
mod window;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::{
    DialogueState, Phase,
    escalation::{self, Mood},
    phase::{Circles, Quality, TurnFacts, quality},
};

pub use phase::{Step, advance};
pub use summary::{MOST_CHARACTERS, Subject, Summary, tell};
pub use window::{Window, window};

/// The number of latest moods whose average is the rapport.
const MOODS: usize = 3;

/// One session, in the form stored in its row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    pub started_at: DateTime<Utc>,
    /// When the guest's newest text arrived.
    pub last_at: DateTime<Utc>,
    pub phase: Phase,
    /// How many turns the host has made in this session.
    pub turns: u32,
    #[serde(default)]
    pub summary: Summary,
    #[serde(default)]
    pub counts: Counts,
    #[serde(default)]
    pub dialogue: DialogueState,
}

/// The counters that decide about phases and cases. The counters of the phase, the moods and
/// `texts_since_rejection` carry over to the next session. The others restart.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    pub exchanges_in_phase: u32,
    pub substantive_in_phase: u32,
    /// The moods that the planner judged, newest last, at most three.
    pub moods: Vec<Mood>,
    pub negative_in_row: u32,
    pub frustrated_in_row: u32,
    pub fallbacks_in_row: u32,
    /// How many replies in a row could only say "I'll check".
    pub unanswered_in_row: u32,
    pub validation_failures: u32,
    pub circles: Circles,
    /// Whether the last reply contained an offer.
    pub offered: bool,
    /// How many texts the guest wrote after rejecting an offer; `None` if none was rejected.
    pub texts_since_rejection: Option<u32>,
}

/// The results of a turn that is about to be committed.
#[derive(Debug, Clone, Default)]
pub struct TurnSeen<'a> {
    pub texts: &'a [String],
    /// The content rows from which the reply was made, best first.
    pub about: Vec<Subject>,
    /// Whether the reply makes or mentions an offer.
    pub offers: bool,
    /// Whether one of the guest's texts rejects the offer of the previous reply.
    pub rejects: bool,
    /// Whether every question of the guest was answered.
    pub answered: bool,
    /// Whether the reply is the fixed fallback text with the casino's phone.
    pub fallback: bool,
    /// Whether the router, which chooses the agent, could not tell what the guest meant.
    pub ambiguous: bool,
    /// Whether the profile learned something.
    pub news: bool,
    pub mood: Option<Mood>,
    pub validation_failures: u32,
}

/// How a turn continues the conversation with the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// The turn continues the current session.
    Same,
    /// The turn is the first of a new session, after an earlier session has ended.
    Warm,
    /// There was no earlier session, but the profile knows something about the guest.
    Cold,
    NewGuest,
}

// === impl Session ===

impl Session {
    /// Opens a session at a guest's text. The session starts in the previous session's phase,
    /// because the phase belongs to the guest.
    pub fn begun(at: DateTime<Utc>, before: Option<&Self>) -> Self {
        let counts = before.map_or_else(Counts::default, |before| before.counts.carried());
        let phase = before.map_or(Phase::default(), |before| before.phase);
        Self {
            started_at: at,
            last_at: at,
            phase,
            turns: 0,
            summary: Summary::default(),
            counts,
            dialogue: DialogueState::default(),
        }
    }

    /// Returns whether the guest was silent for more than `timeout`; the next text then opens a new
    /// session.
    pub fn is_over(&self, now: DateTime<Utc>, timeout: TimeDelta) -> bool {
        now - self.last_at > timeout
    }

    /// Counts one more turn. [`advance`] determines the phase afterwards.
    pub fn take(&mut self, turn: &TurnSeen<'_>) {
        self.turns = self.turns.saturating_add(1);
        self.summary.note(&turn.about);
        self.counts.take(turn);
    }

    /// Sets the phase. If the phase changes, the phase's counters restart.
    pub fn enter(&mut self, phase: Phase) {
        if self.phase != phase {
            self.phase = phase;
            (
                self.counts.exchanges_in_phase,
                self.counts.substantive_in_phase,
            ) = (0, 0);
        }
    }
}

/// Returns how the next turn continues the conversation. `before` is the session before `session`,
/// and `known` says whether the profile knows something about the guest.
pub fn resume(session: Option<&Session>, before: Option<&Session>, known: bool) -> Resume {
    match (session, before) {
        (Some(session), _) if session.turns > 0 => Resume::Same,
        (_, Some(_)) => Resume::Warm,
        _ if known => Resume::Cold,
        _ => Resume::NewGuest,
    }
}

// === impl Counts ===

impl Counts {
    fn carried(&self) -> Self {
        Self {
            exchanges_in_phase: self.exchanges_in_phase,
            substantive_in_phase: self.substantive_in_phase,
            moods: self.moods.clone(),
            texts_since_rejection: self.texts_since_rejection,
            ..Self::default()
        }
    }

    /// Returns how many texts the guest wrote after rejecting an offer, `texts` included. `rejects`
    /// is true if one of `texts` rejects the latest offer.
    pub fn since_rejection(&self, texts: &[String], rejects: bool) -> Option<u32> {
        let count = u32::try_from(texts.len()).unwrap_or(u32::MAX);
        if self.offered && rejects {
            Some(0)
        } else {
            self.texts_since_rejection
                .map(|before| before.saturating_add(count))
        }
    }

    fn take(&mut self, turn: &TurnSeen<'_>) {
        self.texts_since_rejection = self.since_rejection(turn.texts, turn.rejects);
        self.offered = turn.offers;
        let counted = |before: u32, again: bool| if again { before.saturating_add(1) } else { 0 };
        let substantive = turn
            .texts
            .iter()
            .any(|text| quality(text) == Quality::Substantive);
        self.exchanges_in_phase = self.exchanges_in_phase.saturating_add(1);
        self.substantive_in_phase = self
            .substantive_in_phase
            .saturating_add(u32::from(substantive));
        if let Some(mood) = turn.mood {
            self.moods.push(mood);
            self.moods.drain(..self.moods.len().saturating_sub(MOODS));
            self.negative_in_row = counted(self.negative_in_row, mood == Mood::Negative);
        }
        self.frustrated_in_row = counted(
            self.frustrated_in_row,
            turn.texts.iter().any(|t| escalation::is_frustrated(t)),
        );
        self.fallbacks_in_row = counted(self.fallbacks_in_row, turn.fallback);
        self.unanswered_in_row = counted(self.unanswered_in_row, !turn.answered && !turn.fallback);
        self.validation_failures = self
            .validation_failures
            .saturating_add(turn.validation_failures);
        let facts = TurnFacts {
            news: turn.news,
            answered: turn.answered,
            ambiguous: turn.ambiguous,
        };
        self.circles = self.circles.after(facts);
    }
}

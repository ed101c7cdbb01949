//! A session: the exchanges of a guest and the host until 48 hours of silence end it (SMS-26,
//! DATA-25, C-53). Covers its subjects, its counters and the state with which the next session
//! begins. Built from rows and the profile alone; no model is asked.

mod phase;
mod summary;
#[cfg(test)]
mod tests;
mod window;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::{
    Phase,
    escalation::{self, Mood},
    offers::Policy,
    phase::{Circles, Quality, TurnFacts, quality},
};

pub use phase::{Step, advance};
pub use summary::{MOST_CHARACTERS, Subject, Summary, tell};
pub use window::{Window, window};

/// Moods of which rapport is the mean (CONV-30).
const MOODS: usize = 3;

/// One session, as its row keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    pub started_at: DateTime<Utc>,
    /// When the guest's newest text came.
    pub last_at: DateTime<Utc>,
    pub phase: Phase,
    /// Turns the host has made in it.
    pub turns: u32,
    #[serde(default)]
    pub summary: Summary,
    #[serde(default)]
    pub counts: Counts,
}

/// Counters on which phases and cases are decided. Those of the phase carry over to the next
/// session; the rest start anew.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    pub exchanges_in_phase: u32,
    pub substantive_in_phase: u32,
    /// The planner's readings, newest last, at most three.
    pub moods: Vec<Mood>,
    pub negative_in_row: u32,
    pub frustrated_in_row: u32,
    pub fallbacks_in_row: u32,
    /// Replies in a row that could only say "I'll check".
    pub unanswered_in_row: u32,
    pub validation_failures: u32,
    pub circles: Circles,
    /// The last reply offered something.
    pub offered: bool,
    /// Guest texts since an offer was turned down (CONV-36); goes on in the next session.
    pub texts_since_rejection: Option<u32>,
}

/// The results of a turn that is about to be committed.
#[derive(Debug, Clone, Default)]
pub struct TurnSeen<'a> {
    pub texts: &'a [String],
    /// Rows the reply was made from, best first.
    pub about: Vec<Subject>,
    /// The reply offers something, or tells of an offer.
    pub offers: bool,
    /// Everything asked was answered.
    pub answered: bool,
    /// The reply is the fixed one with the casino's phone.
    pub fallback: bool,
    /// The router could not tell what was meant.
    pub ambiguous: bool,
    /// The profile learnt something.
    pub news: bool,
    pub mood: Option<Mood>,
    pub validation_failures: u32,
}

/// How a conversation goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// In the same session.
    Same,
    /// After an earlier session.
    Warm,
    /// Something is known of the guest, but of no session.
    Cold,
    NewGuest,
}

// === impl Session ===

impl Session {
    /// The session a text opens. The place in the conversation is the guest's, not the session's, and goes on.
    pub fn begun(at: DateTime<Utc>, before: Option<&Self>) -> Self {
        let counts = before.map_or_else(Counts::default, |before| before.counts.carried());
        let phase = before.map_or(Phase::default(), |before| before.phase);
        Self { started_at: at, last_at: at, phase, turns: 0, summary: Summary::default(), counts }
    }

    /// More than `timeout` after the last text: a text then opens another session.
    pub fn is_over(&self, now: DateTime<Utc>, timeout: TimeDelta) -> bool {
        now - self.last_at > timeout
    }

    /// With one more turn. The phase is moved by [`advance`].
    pub fn take(&mut self, turn: &TurnSeen<'_>) {
        self.turns = self.turns.saturating_add(1);
        self.summary.note(&turn.about);
        self.counts.take(turn);
    }

    /// The counts of a phase begin with it.
    pub fn enter(&mut self, phase: Phase) {
        if self.phase != phase {
            self.phase = phase;
            (self.counts.exchanges_in_phase, self.counts.substantive_in_phase) = (0, 0);
        }
    }
}

/// Returns how the first turn of a session continues the conversation for the guest.
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

    /// Guest texts since an offer was turned down, these taken in.
    pub fn since_rejection(&self, texts: &[String]) -> Option<u32> {
        let count = u32::try_from(texts.len()).unwrap_or(u32::MAX);
        let turned_down = self.offered && texts.iter().any(|text| Policy::house().is_rejection(text));
        if turned_down { Some(0) } else { self.texts_since_rejection.map(|before| before.saturating_add(count)) }
    }

    fn take(&mut self, turn: &TurnSeen<'_>) {
        self.texts_since_rejection = self.since_rejection(turn.texts);
        self.offered = turn.offers;
        let counted = |before: u32, again: bool| if again { before.saturating_add(1) } else { 0 };
        let substantive = turn.texts.iter().any(|text| quality(text) == Quality::Substantive);
        self.exchanges_in_phase = self.exchanges_in_phase.saturating_add(1);
        self.substantive_in_phase = self.substantive_in_phase.saturating_add(u32::from(substantive));
        if let Some(mood) = turn.mood {
            self.moods.push(mood);
            self.moods.drain(..self.moods.len().saturating_sub(MOODS));
            self.negative_in_row = counted(self.negative_in_row, mood == Mood::Negative);
        }
        self.frustrated_in_row =
            counted(self.frustrated_in_row, turn.texts.iter().any(|t| escalation::is_frustrated(t)));
        self.fallbacks_in_row = counted(self.fallbacks_in_row, turn.fallback);
        self.unanswered_in_row = counted(self.unanswered_in_row, !turn.answered && !turn.fallback);
        self.validation_failures = self.validation_failures.saturating_add(turn.validation_failures);
        let facts = TurnFacts { news: turn.news, answered: turn.answered, ambiguous: turn.ambiguous };
        self.circles = self.circles.after(facts);
    }
}

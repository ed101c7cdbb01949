//! Decides whether an unsolicited text may be sent now and, if not, when. The time must be lawful
//! in every place where the guest may be (D15) and inside the casino's own hours. Replies need no
//! window (D6).

mod hours;
mod spans;
#[cfg(test)]
mod tests;
mod why;

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use serde::Serialize;
use seven_domain::PhoneE164;

pub use self::hours::{CasinoWindow, Hours, Week};
use self::spans::Span;
use crate::jurisdiction::{self, Basis, Candidate, Laws, Residence, State};

/// How far ahead the next opening is searched: every weekday once, and today's weekday again.
const SEARCH_AHEAD: TimeDelta = TimeDelta::days(8);

#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    pub to: &'a PhoneE164,
    pub at: DateTime<Utc>,
    /// The guest's home according to the profile; it takes precedence over the area code.
    pub profile: Option<Residence>,
    pub casino: CasinoWindow,
}

/// The answer to a [`Question`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Window {
    pub open: bool,
    /// `at` if the window is open, otherwise the first instant that is lawful in every place;
    /// `None` if there is none within 8 days.
    pub opens_at: Option<DateTime<Utc>>,
    /// The end of the window that is open now or opens at `opens_at`; `None` if no end is known.
    pub closes_at: Option<DateTime<Utc>>,
    pub basis: Basis,
    pub places: Vec<PlaceWindow>,
    /// The whole answer in one sentence, for operators.
    pub why: String,
}

/// The window in one place where the guest may be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlaceWindow {
    /// The state; `None` if several states are possible, whose common window is then used.
    pub state: Option<State>,
    pub zone: Tz,
    pub local_time: NaiveDateTime,
    pub open: bool,
    /// The lawful hours on this weekday; `None` if no text is lawful that day.
    pub lawful: Option<Hours>,
    /// The parts of `lawful` in which the casino sends texts.
    pub hours: Vec<Hours>,
    pub source: String,
}

/// Answers the question by the laws of this build.
pub fn check(question: &Question<'_>) -> Window {
    check_with(Laws::shipped(), question)
}

/// Does the same as [`check`], but with the given table of laws.
pub fn check_with(laws: &Laws, question: &Question<'_>) -> Window {
    let Question {
        to,
        at,
        profile,
        casino,
    } = *question;
    let whereabouts = jurisdiction::whereabouts(to, profile.as_ref());
    let mut common: Option<Vec<Span>> = None;
    let mut places = Vec::with_capacity(whereabouts.candidates.len());
    for candidate in &whereabouts.candidates {
        let week = laws.common_week(&candidate.states);
        let spans = spans::of_place(candidate.zone, &week, casino, at);
        places.push(place_window(laws, candidate, &week, &spans, question));
        common = Some(match common {
            Some(common) => spans::intersect(&common, &spans),
            None => spans,
        });
    }
    let mut common = common.unwrap_or_default();
    if why::no_law_known(&whereabouts) {
        // The windows of US states do not apply to a number from another country.
        common.clear();
    }
    let latest = at
        .checked_add_signed(SEARCH_AHEAD)
        .unwrap_or(DateTime::<Utc>::MAX_UTC);
    let next = common
        .iter()
        .find(|span| at < span.end && span.start <= latest);
    let mut window = Window {
        open: next.is_some_and(|span| span.start <= at),
        opens_at: next.map(|span| span.start.max(at)),
        // A span that reaches beyond the searched days has no known end.
        closes_at: next
            .map(|span| span.end)
            .filter(|end| *end <= latest + TimeDelta::days(1)),
        basis: whereabouts.basis,
        places,
        why: String::new(),
    };
    window.why = why::explain(&window, &whereabouts, casino);
    window
}

fn place_window(
    laws: &Laws,
    of: &Candidate,
    week: &Week,
    spans: &[Span],
    question: &Question<'_>,
) -> PlaceWindow {
    let local_time = spans::local(of.zone, question.at).unwrap_or(question.at.naive_utc());
    let lawful = week.on(chrono::Datelike::weekday(&local_time));
    let (state, source) = match of.states.as_slice() {
        [state] => (Some(*state), laws.of(*state).source.clone()),
        several => (None, format!("common window of {} states", several.len())),
    };
    PlaceWindow {
        state,
        zone: of.zone,
        local_time,
        open: spans
            .iter()
            .any(|span| span.start <= question.at && question.at < span.end),
        lawful,
        hours: lawful
            .into_iter()
            .flat_map(|hours| question.casino.narrow(hours))
            .collect(),
        source,
    }
}

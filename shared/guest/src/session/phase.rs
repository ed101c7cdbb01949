//! Computes the phase after a turn: collects the facts for [`Phase::next`] from session and
//! profile.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

use super::Session;
use crate::{
    Confidence, Key, Profile, Topic, Value,
    escalation::Mood,
    phase::{Event, Facts, Phase, Visit},
};

/// The facts of this turn that neither session nor profile holds.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// The current time.
    pub now: DateTime<Utc>,
    /// The date of `now` in the casino's time zone.
    pub today: NaiveDate,
    pub reachable: bool,
    pub escalated: bool,
    pub offer_readiness: Confidence,
    /// How long the guest was silent before this text; `None` for the guest's first text.
    pub silence: Option<TimeDelta>,
    /// Whether the texts mention a future visit.
    pub names_next_visit: bool,
}

/// Returns the phase after this turn. The session must have counted the turn. First applies the
/// silence before the text, as a timer would have done: the conversation may become dormant. Then
/// applies the text, which makes a dormant conversation active.
pub fn advance(session: &Session, profile: &Profile, step: &Step) -> Phase {
    let entered = profile
        .engagement
        .phase_entered_at
        .unwrap_or(session.started_at);
    let in_phase = hours(step.now - entered);
    let visit = visit(profile, step);
    let facts = Facts {
        event: Event::GuestText,
        reachable: step.reachable,
        escalated: step.escalated,
        exchanges_in_phase: session.counts.exchanges_in_phase,
        substantive_in_phase: session.counts.substantive_in_phase,
        fields: u32::try_from(profile.context(step.now).facts.len()).unwrap_or(u32::MAX),
        preference_topics: preferences(profile, step.now),
        has_name_or_date: [Key::Name, Key::VisitDate]
            .iter()
            .any(|key| profile.seen(*key, step.now).is_some()),
        rapport: rapport(&session.counts.moods),
        offer_readiness: step.offer_readiness,
        hours_in_phase: in_phase,
        hours_since_guest: Some(0),
        visit,
        hours_since_post_visit_text: None,
        next_visit_interest: step.names_next_visit && visit == Visit::Ahead,
    };
    let before = step.silence.map_or(session.phase, |silence| {
        let (zero, hours) = (Confidence::ZERO, Some(hours(silence)));
        // A timer would have run before this text arrived, so these facts do not include the text.
        let quiet = Facts {
            exchanges_in_phase: 0,
            substantive_in_phase: 0,
            rapport: zero,
            offer_readiness: zero,
            ..facts
        };
        session.phase.next(&Facts {
            event: Event::Timer,
            hours_since_guest: hours,
            next_visit_interest: false,
            ..quiet
        })
    });
    before.next(&facts)
}

fn hours(span: TimeDelta) -> u32 {
    u32::try_from(span.num_hours().max(0)).unwrap_or(u32::MAX)
}

fn preferences(profile: &Profile, now: DateTime<Utc>) -> u32 {
    let known = Topic::ALL
        .into_iter()
        .filter(|topic| topic.is_preference() && topic.is_known(profile, now));
    u32::try_from(known.count()).unwrap_or(u32::MAX)
}

/// Returns the mean of the last moods; zero if there are none.
fn rapport(moods: &[Mood]) -> Confidence {
    let worth = |mood: &Mood| match mood {
        Mood::Positive => 1.0,
        Mood::Neutral => 0.5,
        Mood::Cautious => 0.3,
        Mood::Negative => 0.0,
    };
    let sum: f64 = moods.iter().map(worth).sum();
    if moods.is_empty() {
        Confidence::ZERO
    } else {
        Confidence::clamped(sum / moods.len() as f64)
    }
}

fn visit(profile: &Profile, step: &Step) -> Visit {
    let date = |key| profile.seen(key, step.now).and_then(Value::as_date);
    match date(Key::VisitEnd).max(date(Key::VisitDate)) {
        None => Visit::Unknown,
        Some(last) if last >= step.today => Visit::Ahead,
        // The hours since the midnight that ended the visit's last day; always a multiple of 24.
        Some(last) => Visit::Over(hours(step.today - last) - 24),
    }
}

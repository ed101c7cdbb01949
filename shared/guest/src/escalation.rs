//! Decides when a person must look at a conversation, how soon, and what the guest is told
//! meanwhile. All functions are pure; the caller opens the case and pauses the host.

mod holding;
mod keywords;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, sync::LazyLock};

use serde::{Deserialize, Serialize};

use crate::{
    Confidence,
    phase::{Circles, Rescue},
};

pub use holding::{CASE_PAUSE, Promise, case_pause, promise};
pub use keywords::is_withdrawn;
pub use seven_domain::{CaseSeverity as Severity, CaseSource as Origin};

/// The deadlines of a case of one severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sla {
    /// Minutes until a person must answer the guest; `None` means on the next business day.
    pub respond_minutes: Option<u32>,
    /// Seconds until a person must confirm having seen the case; `None` means that the case only
    /// appears in the daily digest.
    pub ack_seconds: Option<u32>,
}

/// One reason why a person should look at the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Trigger {
    pub reason: &'static str,
    pub severity: Severity,
    pub origin: Origin,
    /// Whether a person takes the host's place: the guest is told so and the host pauses. If false,
    /// a person looks at the case while the host keeps answering.
    pub takes_over: bool,
}

/// A serious finding of the guardrails, which read the text before this module does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grave {
    /// Danger to life: crisis or emergency.
    Safety,
    BsaAml,
    ResponsibleGaming,
    /// The guest texted a card number or an identity number.
    SensitiveData,
}

/// The guest's mood as the planner or the validator (both language models) judged it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mood {
    Positive,
    Neutral,
    Cautious,
    Negative,
}

impl Mood {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Positive => "positive",
            Self::Neutral => "neutral",
            Self::Cautious => "cautious",
            Self::Negative => "negative",
        }
    }
}

/// The facts of one turn that decide about escalation.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facts<'a> {
    pub text: &'a str,
    pub grave: Option<Grave>,
    pub mood: Option<(Mood, Confidence)>,
    /// How many texts in a row were negative, including this one.
    pub negative_in_row: u32,
    /// How many texts in a row were frustrated, not including this one.
    pub frustrated_in_row: u32,
    pub fallbacks_in_row: u32,
    /// How many replies in a row could only say "I'll check".
    pub unanswered_in_row: u32,
    pub validation_failures_in_session: u32,
    pub circles: Circles,
    /// Whether the casino counts this guest among its most valuable ones.
    pub vip: bool,
    /// How many cases this guest had in the last seven days.
    pub recent_cases: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    severity: BTreeMap<Severity, Sla>,
    keyword: Vec<keywords::Keyword>,
    withdraw: keywords::Phrases,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    toml::from_str(include_str!("../data/escalation.toml"))
        .expect("the table is part of the crate and tested")
});

/// Returns the deadlines of a severity.
pub fn sla(severity: Severity) -> Sla {
    TABLE.severity.get(&severity).copied().unwrap_or_default()
}

/// Returns the minutes within which a person must write: the severity's deadline, or the promised
/// time if that is shorter.
pub fn respond_minutes(severity: Severity, promise: Promise) -> Option<u32> {
    // If the severity has no deadline, the case appears only in the digest, and nothing was
    // promised to the guest.
    let own = sla(severity).respond_minutes;
    own.map(|own| promise.minutes().map_or(own, |promised| own.min(promised)))
}

/// Returns the next higher severity; `Sev1` stays `Sev1`, because nothing is raised to `Sev0`.
fn raised(severity: Severity) -> Severity {
    match severity {
        Severity::Sev0 => Severity::Sev0,
        Severity::Sev1 | Severity::Sev2 => Severity::Sev1,
        Severity::Sev3 => Severity::Sev2,
    }
}

/// Returns whether the text sounds frustrated. The caller counts consecutive frustrated texts in
/// `Facts::frustrated_in_row`.
pub fn is_frustrated(text: &str) -> bool {
    keywords::hits(&TABLE.keyword, text).any(|hit| hit.reason == FRUSTRATION)
}

const FRUSTRATION: &str = "frustration";

/// Returns every trigger, the most severe first. For a VIP, or a guest with at least two recent
/// cases, the severity of each trigger is raised by one.
pub fn triggers(facts: &Facts<'_>) -> Vec<Trigger> {
    let mut found: Vec<Trigger> = grave(facts.grave)
        .into_iter()
        .chain(words(facts))
        .chain(counts(facts))
        .collect();
    if facts.vip || facts.recent_cases >= 2 {
        for trigger in &mut found {
            trigger.severity = raised(trigger.severity);
        }
    }
    found.sort_by_key(|trigger| (trigger.severity, trigger.reason));
    found.dedup_by_key(|trigger| trigger.reason);
    found
}

fn grave(grave: Option<Grave>) -> Option<Trigger> {
    let (reason, severity) = match grave? {
        Grave::Safety => ("guest_safety", Severity::Sev0),
        Grave::BsaAml => ("bsa_aml", Severity::Sev0),
        Grave::ResponsibleGaming => ("responsible_gaming", Severity::Sev1),
        Grave::SensitiveData => ("sensitive_data", Severity::Sev2),
    };
    // If the guardrails found something serious, the gate has already answered. The host pauses
    // only if a life is in danger.
    Some(Trigger {
        reason,
        severity,
        origin: Origin::Guardrail,
        takes_over: reason == "guest_safety",
    })
}

fn words(facts: &Facts<'_>) -> Vec<Trigger> {
    let once = |reason: &str| reason == FRUSTRATION && facts.frustrated_in_row == 0;
    let hits = keywords::hits(&TABLE.keyword, facts.text).filter(|hit| !once(&hit.reason));
    hits.map(|hit| {
        // A single frustrated text opens no case; the second in a row does.
        let repeated = hit.reason == FRUSTRATION;
        Trigger {
            reason: if repeated {
                "repeated_frustration"
            } else {
                &hit.reason
            },
            severity: if repeated {
                Severity::Sev2
            } else {
                hit.severity
            },
            origin: Origin::Keyword,
            takes_over: !hit.aside,
        }
    })
    .collect()
}

fn counts(facts: &Facts<'_>) -> Vec<Trigger> {
    let surely_negative = facts
        .mood
        .is_some_and(|(mood, sure)| mood == Mood::Negative && sure >= Confidence::percent(70));
    let stuck = facts.circles.rescue() == Rescue::Human;
    let rows = [
        (
            surely_negative || facts.negative_in_row >= 3,
            "negative_sentiment",
            Severity::Sev1,
            Origin::Sentiment,
            true,
        ),
        (
            facts.fallbacks_in_row >= 2,
            "consecutive_fallbacks",
            Severity::Sev2,
            Origin::ConsecutiveFallback,
            true,
        ),
        (
            facts.validation_failures_in_session >= 2,
            "validation_failures",
            Severity::Sev2,
            Origin::ValidationFailure,
            true,
        ),
        // If the guest is stuck, the host has already admitted that it cannot help, and has named
        // the phone number. Pausing the host would help nobody.
        (
            stuck,
            "no_progress",
            Severity::Sev2,
            Origin::ConsecutiveFallback,
            false,
        ),
        (
            facts.unanswered_in_row >= 3,
            "unanswered",
            Severity::Sev3,
            Origin::ConsecutiveFallback,
            false,
        ),
    ];
    rows.into_iter()
        .filter(|row| row.0)
        .map(|(_, reason, severity, origin, takes_over)| Trigger {
            reason,
            severity,
            origin,
            takes_over,
        })
        .collect()
}

//! Decides when a person must take over, how soon, and what the guest may be told meanwhile
//! (CONV-42 to 44, SEC-33, 34, 104, 109, 113).
//!
//! Pure functions: the caller opens the case and pauses the conversation. The tables are data.

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

pub use holding::{Automation, PAUSE, Pause, Promise, promise};
pub use keywords::is_withdrawn;

/// How severe a case is; the most severe comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Sev0,
    Sev1,
    Sev2,
    Sev3,
}

/// Deadlines of a severity (SEC-113).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sla {
    /// Minutes until a person must answer the guest; `None` means the next business day.
    pub respond_minutes: Option<u32>,
    /// Seconds until a person must acknowledge the case; `None` means that it only appears in the
    /// daily digest.
    pub ack_seconds: Option<u32>,
}

/// The detector that noticed the trigger, in the words of the `escalations` table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    Guardrail,
    Keyword,
    Sentiment,
    ConsecutiveFallback,
    ValidationFailure,
}

/// One reason why a person should look at the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Trigger {
    pub reason: &'static str,
    pub severity: Severity,
    pub origin: Origin,
    /// The guest wants or needs a person instead of the host: the guest is told so, and automation
    /// pauses (SEC-104). When false, a person looks while the host keeps answering.
    pub takes_over: bool,
}

/// A serious finding of the guardrails, which read the text before this module does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grave {
    /// Danger to life: crisis or emergency.
    Safety,
    BsaAml,
    ResponsibleGaming,
    /// Card or identity numbers were texted.
    SensitiveData,
}

/// The planner's or validator's reading of the guest (CONV-27).
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

/// The facts of one turn from which escalation is decided.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facts<'a> {
    pub text: &'a str,
    pub grave: Option<Grave>,
    pub mood: Option<(Mood, Confidence)>,
    /// Number of consecutive negative texts, including this one.
    pub negative_in_row: u32,
    /// Number of consecutive frustrated texts, not including this one.
    pub frustrated_in_row: u32,
    pub fallbacks_in_row: u32,
    /// Number of consecutive replies that could only say "I'll check".
    pub unanswered_in_row: u32,
    pub validation_failures_in_session: u32,
    pub circles: Circles,
    /// The casino counts this guest among its most valuable ones.
    pub vip: bool,
    /// Number of this guest's cases in the last seven days.
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
    toml::from_str(include_str!("../data/escalation.toml")).expect("the table is part of the crate and tested")
});

// === impl Severity ===

impl Severity {
    pub const ALL: [Self; 4] = [Self::Sev0, Self::Sev1, Self::Sev2, Self::Sev3];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sev0 => "sev0",
            Self::Sev1 => "sev1",
            Self::Sev2 => "sev2",
            Self::Sev3 => "sev3",
        }
    }

    pub fn sla(self) -> Sla {
        TABLE.severity.get(&self).copied().unwrap_or_default()
    }

    /// Returns the minutes within which a person must write: the severity's deadline, or the
    /// promised time where that is shorter (SEC-113, CONV-44).
    pub fn respond_minutes(self, promise: Promise) -> Option<u32> {
        let own = self.sla().respond_minutes;
        // A severity without a deadline appears in the digest only, so nothing was promised to the
        // guest.
        own.map(|own| promise.minutes().map_or(own, |promised| own.min(promised)))
    }

    /// Returns the next higher severity; `Sev1` stays `Sev1`, because nothing is raised to `Sev0`.
    fn raised(self) -> Self {
        match self {
            Self::Sev0 => Self::Sev0,
            Self::Sev1 | Self::Sev2 => Self::Sev1,
            Self::Sev3 => Self::Sev2,
        }
    }
}

// === impl Origin ===

impl Origin {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Guardrail => "guardrail",
            Self::Keyword => "keyword",
            Self::Sentiment => "sentiment",
            Self::ConsecutiveFallback => "consecutive_fallback",
            Self::ValidationFailure => "validation_failure",
        }
    }
}

/// Returns whether the text sounds frustrated; `frustrated_in_row` counts such texts.
pub fn is_frustrated(text: &str) -> bool {
    keywords::hits(&TABLE.keyword, text).any(|hit| hit.reason == FRUSTRATION)
}

const FRUSTRATION: &str = "frustration";

/// Returns every trigger found, the most severe first. A VIP, or a guest with at least two recent
/// cases, gets a higher severity.
pub fn triggers(facts: &Facts<'_>) -> Vec<Trigger> {
    let mut found: Vec<Trigger> = grave(facts.grave).into_iter().chain(words(facts)).chain(counts(facts)).collect();
    if facts.vip || facts.recent_cases >= 2 {
        for trigger in &mut found {
            trigger.severity = trigger.severity.raised();
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
    // The gate has already answered and keeps answering; a person takes over only where a life is
    // in danger.
    Some(Trigger { reason, severity, origin: Origin::Guardrail, takes_over: reason == "guest_safety" })
}

fn words(facts: &Facts<'_>) -> Vec<Trigger> {
    let once = |reason: &str| reason == FRUSTRATION && facts.frustrated_in_row == 0;
    let hits = keywords::hits(&TABLE.keyword, facts.text).filter(|hit| !once(&hit.reason));
    hits.map(|hit| {
        // The guest is frustrated again, so the case is no longer a mere note in the digest.
        let repeated = hit.reason == FRUSTRATION;
        Trigger {
            reason: if repeated { "repeated_frustration" } else { &hit.reason },
            severity: if repeated { Severity::Sev2 } else { hit.severity },
            origin: Origin::Keyword,
            takes_over: !hit.aside,
        }
    })
    .collect()
}

fn counts(facts: &Facts<'_>) -> Vec<Trigger> {
    let surely_negative =
        facts.mood.is_some_and(|(mood, sure)| mood == Mood::Negative && sure >= Confidence::percent(70));
    let stuck = facts.circles.rescue() == Rescue::Human;
    let rows = [
        (surely_negative || facts.negative_in_row >= 3, "negative_sentiment", Severity::Sev1, Origin::Sentiment, true),
        (facts.fallbacks_in_row >= 2, "consecutive_fallbacks", Severity::Sev2, Origin::ConsecutiveFallback, true),
        (
            facts.validation_failures_in_session >= 2,
            "validation_failures",
            Severity::Sev2,
            Origin::ValidationFailure,
            true,
        ),
        // The host admitted that it could not help and named the phone; pausing it now would not
        // help anybody.
        (stuck, "no_progress", Severity::Sev2, Origin::ConsecutiveFallback, false),
        (facts.unanswered_in_row >= 3, "unanswered", Severity::Sev3, Origin::ConsecutiveFallback, false),
    ];
    rows.into_iter()
        .filter(|row| row.0)
        .map(|(_, reason, severity, origin, takes_over)| Trigger { reason, severity, origin, takes_over })
        .collect()
}

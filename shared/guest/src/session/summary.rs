//! The content rows that a session has discussed, and a short summary of them for the next session.

use serde::{Deserialize, Serialize};

use crate::profile::{Context, Seen};

/// How many rows are kept; a new one displaces the oldest.
const MOST_SUBJECTS: usize = 8;
/// The longest summary, in characters.
pub const MOST_CHARACTERS: usize = 400;
/// The longest profile value that the summary includes, in characters.
const MOST_VALUE: usize = 60;

/// A content row from which a reply was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    pub id: String,
    pub name: String,
    /// Whether the row is an offer, which the guest may still accept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub offer: bool,
}

/// The rows discussed, newest last, each once. Holds only names of content rows, nothing that a
/// guest wrote.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    pub subjects: Vec<Subject>,
}

// === impl Summary ===

impl Summary {
    /// Adds the rows from which a reply was made. `about` begins with the best row, which becomes
    /// the newest.
    pub fn note(&mut self, about: &[Subject]) {
        for subject in about.iter().rev() {
            self.subjects.retain(|known| known.id != subject.id);
            self.subjects.push(subject.clone());
        }
        self.subjects
            .drain(..self.subjects.len().saturating_sub(MOST_SUBJECTS));
    }

    /// Returns the newest row that is not an offer.
    pub fn last(&self) -> Option<&Subject> {
        self.subjects.iter().rev().find(|subject| !subject.offer)
    }

    fn names(&self, offers: bool) -> Vec<&str> {
        let wanted = self
            .subjects
            .iter()
            .rev()
            .filter(|subject| subject.offer == offers);
        wanted.map(|subject| subject.name.as_str()).collect()
    }
}

/// Writes the summary: subjects and open offers, the newest first, and the known facts about the
/// guest. Only subjects for which `still` returns true are included. A name or fact that does not
/// fit is left out entirely. Returns `None` if the summary would be empty.
pub fn tell(
    summary: &Summary,
    still: impl Fn(&Subject) -> bool,
    known: &Context,
) -> Option<String> {
    let current = Summary {
        subjects: summary
            .subjects
            .iter()
            .filter(|s| still(s))
            .cloned()
            .collect(),
    };
    let facts: Vec<String> = known
        .facts
        .iter()
        .filter(|fact| !fact.doubtful)
        .filter_map(fact)
        .collect();
    let facts: Vec<&str> = facts.iter().map(String::as_str).collect();
    let mut told = String::new();
    for (label, parts) in [
        ("Talked about", &current.names(false)[..]),
        ("Open offers", &current.names(true)),
        ("Known", &facts),
    ] {
        add(&mut told, label, parts);
    }
    (!told.is_empty()).then_some(told)
}

fn add(told: &mut String, label: &str, parts: &[&str]) {
    let start = if told.is_empty() {
        format!("{label}: ")
    } else {
        format!(" {label}: ")
    };
    let mut sentence = String::new();
    for part in parts {
        let joined = if sentence.is_empty() {
            format!("{start}{part}")
        } else {
            format!("{sentence}, {part}")
        };
        // One character is kept for the full stop.
        if told.chars().count() + joined.chars().count() < MOST_CHARACTERS {
            sentence = joined;
        }
    }
    if !sentence.is_empty() {
        told.push_str(&sentence);
        told.push('.');
    }
}

/// Writes a fact as `party size 4`, named after the last part of its path. Returns `None` if the
/// value is too long for the summary.
fn fact(seen: &Seen) -> Option<String> {
    let name = seen.path.rsplit('.').next()?.replace('_', " ");
    let value = match serde_json::to_value(&seen.value).ok()? {
        serde_json::Value::String(text) => text,
        serde_json::Value::Array(list) => list
            .iter()
            .filter_map(|each| each.as_str())
            .collect::<Vec<_>>()
            .join(" and "),
        other => other.to_string(),
    };
    let told = !value.is_empty() && value.chars().count() <= MOST_VALUE;
    told.then(|| format!("{name} {value}"))
}

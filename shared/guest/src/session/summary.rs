//! The subjects talked about, by the names of content rows, and the short account of them with
//! which the next session begins.

use serde::{Deserialize, Serialize};

use crate::profile::{Context, Seen};

/// Rows kept; older ones make room.
const MOST_SUBJECTS: usize = 8;
/// The longest account, in characters.
pub const MOST_CHARACTERS: usize = 400;
/// The longest value of a profile field in it.
const MOST_VALUE: usize = 60;

/// A row of the casino's content that a reply was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    pub id: String,
    pub name: String,
    /// Something the guest may still take up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub offer: bool,
}

/// Newest last, each once. Holds names of the casino's rows: nothing a guest wrote.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    pub subjects: Vec<Subject>,
}

// === impl Summary ===

impl Summary {
    /// Adds what a reply was made from, best row first: the best is the newest.
    pub fn note(&mut self, about: &[Subject]) {
        for subject in about.iter().rev() {
            self.subjects.retain(|known| known.id != subject.id);
            self.subjects.push(subject.clone());
        }
        self.subjects.drain(..self.subjects.len().saturating_sub(MOST_SUBJECTS));
    }

    /// Returns the last subject that is no offer.
    pub fn last(&self) -> Option<&Subject> {
        self.subjects.iter().rev().find(|subject| !subject.offer)
    }

    fn names(&self, offers: bool) -> Vec<&str> {
        let wanted = self.subjects.iter().rev().filter(|subject| subject.offer == offers);
        wanted.map(|subject| subject.name.as_str()).collect()
    }
}

/// The account: what was discussed, newest first, which offers are open, what is known of the guest. Parts that do not fit are left
/// out whole, so that no name is cut. None when there is nothing to tell.
pub fn tell(summary: &Summary, still: impl Fn(&Subject) -> bool, known: &Context) -> Option<String> {
    let current = Summary { subjects: summary.subjects.iter().filter(|s| still(s)).cloned().collect() };
    let facts: Vec<String> = known.facts.iter().filter(|fact| !fact.doubtful).filter_map(fact).collect();
    let facts: Vec<&str> = facts.iter().map(String::as_str).collect();
    let mut told = String::new();
    for (label, parts) in
        [("Talked about", &current.names(false)[..]), ("Open offers", &current.names(true)), ("Known", &facts)]
    {
        add(&mut told, label, parts);
    }
    (!told.is_empty()).then_some(told)
}

fn add(told: &mut String, label: &str, parts: &[&str]) {
    let start = if told.is_empty() { format!("{label}: ") } else { format!(" {label}: ") };
    let mut sentence = String::new();
    for part in parts {
        let joined = if sentence.is_empty() { format!("{start}{part}") } else { format!("{sentence}, {part}") };
        // One for the full stop.
        if told.chars().count() + joined.chars().count() < MOST_CHARACTERS {
            sentence = joined;
        }
    }
    if !sentence.is_empty() {
        told.push_str(&sentence);
        told.push('.');
    }
}

/// `party size 4`, from the last part of its path. Values too long to be a note are left out.
fn fact(seen: &Seen) -> Option<String> {
    let name = seen.path.rsplit('.').next()?.replace('_', " ");
    let value = match serde_json::to_value(&seen.value).ok()? {
        serde_json::Value::String(text) => text,
        serde_json::Value::Array(list) => {
            list.iter().filter_map(|each| each.as_str()).collect::<Vec<_>>().join(" and ")
        }
        other => other.to_string(),
    };
    let told = !value.is_empty() && value.chars().count() <= MOST_VALUE;
    told.then(|| format!("{name} {value}"))
}

//! Selects the parts of a profile that agents may see.

use std::fmt;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value as Json, json};

use super::{CompanionKey, Field, Key, Profile, Value, codec};
use crate::Confidence;

/// One fact with its current confidence.
#[derive(Clone, PartialEq)]
pub struct Seen {
    /// The path of the field, such as `core_identity.name` or `companions.0.age`.
    pub path: String,
    pub value: Value,
    pub confidence: Confidence,
    /// Whether the fact is contradicted and not yet resolved: the host may ask about it but not
    /// state it.
    pub doubtful: bool,
}

/// The facts of a profile that agents may see: not withdrawn, confident enough, and collected for
/// personalization or marketing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Context {
    pub facts: Vec<Seen>,
}

impl fmt::Debug for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Seen({} {:?} {})",
            self.path,
            self.value,
            self.confidence.get()
        )
    }
}

impl Seen {
    /// Returns whether the fact is health data. A field that this version does not know counts as
    /// health data.
    pub fn is_sensitive(&self) -> bool {
        let last = self.path.rsplit_once("companions.");
        let own = last.and_then(|(_, rest)| rest.split_once('.'));
        let path = own.map_or(self.path.as_str(), |(_, path)| path);
        Key::at(path).is_none_or(Key::is_sensitive)
    }
}

// === impl Context ===

impl Context {
    pub fn get(&self, key: Key) -> Option<&Value> {
        self.facts
            .iter()
            .find(|fact| fact.path == key.path())
            .map(|fact| &fact.value)
    }

    /// Returns the facts as nested JSON, as they appear in a prompt.
    pub fn to_json(&self) -> Json {
        let mut root = Map::new();
        for fact in &self.facts {
            codec::put(&mut root, &fact.path, json!(fact.value));
        }
        Json::Object(root)
    }
}

// === impl Profile ===

impl Profile {
    /// Returns the facts that an agent may see now.
    pub fn context(&self, now: DateTime<Utc>) -> Context {
        let own = self
            .fields()
            .map(|(key, field)| (key.path().to_owned(), field));
        let companions = self.companions().iter().enumerate();
        let others = companions.flat_map(|(n, companion)| {
            let path = move |key: CompanionKey| format!("companions.{n}.{}", key.path());
            companion
                .fields()
                .map(move |(key, field)| (path(key), field))
        });
        let seen = |(path, field): (String, &Field)| Seen {
            path,
            value: field.value.clone(),
            confidence: field.effective(now),
            doubtful: field.needs_review,
        };
        let visible = own.chain(others).filter(|(_, field)| field.is_visible(now));
        Context {
            facts: visible.map(seen).collect(),
        }
    }
}

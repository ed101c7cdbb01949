//! A guest's profile: typed fields, each with confidence, source, consent and history. Phone and id
//! are columns of `guests`, not part of the profile (D9); a date of birth is never stored.

mod codec;
mod companion;
mod context;
mod export;
mod field;
mod grants;
mod key;
mod merge;
mod migrate;
mod plain;
mod source;
#[cfg(test)]
mod tests;
mod value;

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

pub use codec::{Read, ReadError};
pub use companion::{Companion, Kin, Met};
pub use context::{Context, Seen};
pub use field::{Candidate, Change, ConsentStatus, Field, Grant, GrantRef, NOTICE, Scope, What};
pub use grants::{Granted, NotGranted, Revoked, Via};
pub use key::{CompanionKey, Key, Kind, Section, home_of_target};
pub use merge::{Merged, Observation, Resolution};
pub use plain::{AgeVerified, Consent, Counted, Engagement, Lifecycle, Meta};
pub use source::Source;
pub use value::Value;

use crate::Confidence;

/// The version of the document format that this code writes.
pub const VERSION: u32 = 3;

/// Everything known about one guest of one casino.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    pub meta: Meta,
    fields: BTreeMap<Key, Field>,
    companions: Vec<Companion>,
    grants: Vec<Granted>,
    /// Whether the document has consents that this build cannot read.
    unread_grants: bool,
    pub consent: Consent,
    pub engagement: Engagement,
    /// Parts of the document that this version does not know, because a newer version wrote them.
    /// They are kept when the document is written again.
    rest: codec::Rest,
}

// === impl Profile ===

impl Profile {
    /// Makes the profile of a guest about whom nothing is known.
    pub fn new(at: DateTime<Utc>) -> Self {
        Self {
            meta: Meta::new(at),
            fields: BTreeMap::new(),
            companions: Vec::new(),
            grants: Vec::new(),
            unread_grants: false,
            consent: Consent::default(),
            engagement: Engagement::default(),
            rest: codec::Rest::default(),
        }
    }

    /// Returns the stored field, even if it is withdrawn or doubtful. For the fields that agents
    /// may see, use [`Profile::context`].
    pub fn field(&self, key: Key) -> Option<&Field> {
        self.fields.get(&key)
    }

    /// Returns all stored fields.
    pub fn fields(&self) -> impl Iterator<Item = (Key, &Field)> {
        self.fields.iter().map(|(key, field)| (*key, field))
    }

    pub fn companions(&self) -> &[Companion] {
        &self.companions
    }

    /// Returns the value if an agent may see it now.
    pub fn seen(&self, key: Key, now: DateTime<Utc>) -> Option<&Value> {
        self.field(key)
            .filter(|f| f.is_visible(now))
            .map(|f| &f.value)
    }

    /// Returns the confidence in a field now; zero if the field is unknown, empty or withdrawn.
    pub fn certainty(&self, key: Key, now: DateTime<Utc>) -> Confidence {
        self.field(key)
            .filter(|f| !f.is_withdrawn() && !f.value.is_empty())
            .map_or(Confidence::ZERO, |f| f.effective(now))
    }

    /// Adds one more turn to the guest's counters.
    pub fn count(&mut self, turn: &Counted) {
        let completeness = crate::completeness::completeness(self, turn.now);
        self.engagement.count(turn, completeness);
    }

    /// Merges one observation into its field, or adds the field. Refuses a value of the wrong kind.
    pub fn observe(&mut self, seen: Observation<Key>) -> Merged {
        if !seen.key.kind().accepts(&seen.value) {
            return Merged::Refused;
        }
        self.meta.updated_at = self.meta.updated_at.max(seen.at);
        match self.fields.get_mut(&seen.key) {
            Some(field) => {
                let key = seen.key;
                field.merge(seen.evidence(), key.is_plan())
            }
            None => {
                self.fields.insert(seen.key, Field::first(seen.evidence()));
                Merged::Added
            }
        }
    }

    /// Removes a field with its history. Returns false if the field was not stored.
    pub fn forget(&mut self, key: Key, at: DateTime<Utc>) -> bool {
        let known = self.fields.remove(&key).is_some();
        if known {
            self.meta.updated_at = self.meta.updated_at.max(at);
        }
        known
    }

    /// Withdraws every field stored under this consent grant, companions' fields included. Returns
    /// the changed paths.
    pub fn withdraw(&mut self, grant: &GrantRef, at: DateTime<Utc>) -> Vec<String> {
        let own = self
            .fields
            .iter_mut()
            .map(|(key, field)| (key.path().to_owned(), field));
        let others = self
            .companions
            .iter_mut()
            .enumerate()
            .flat_map(|(n, companion)| {
                companion
                    .fields
                    .iter_mut()
                    .map(move |(key, field)| (format!("companions.{n}.{}", key.path()), field))
            });
        own.chain(others)
            .filter_map(|(path, field)| field.withdraw(grant, at).then_some(path))
            .collect()
    }

    /// Returns the contradicted fields that no person has reviewed yet.
    pub fn under_review(&self) -> impl Iterator<Item = (Key, &Field)> {
        self.fields().filter(|(_, field)| field.needs_review)
    }

    /// Applies a person's decision about a contradicted field; returns false if there was nothing
    /// to decide.
    pub fn resolve(&mut self, key: Key, how: Resolution, at: DateTime<Utc>) -> bool {
        self.fields
            .get_mut(&key)
            .is_some_and(|field| field.resolve(how, at))
    }

    /// Returns the number of facts that were collected under an older privacy notice than
    /// `version`, companions' facts included.
    pub fn to_reconsent(&self, version: u32) -> usize {
        let own = self.fields().map(|(_, field)| field);
        let companions = self.companions.iter().flat_map(Companion::fields);
        own.chain(companions.map(|(_, field)| field))
            .filter(|field| !field.is_withdrawn() && field.consent_version < version)
            .count()
    }

    /// Removes the fields whose retention period is over and returns their paths.
    pub fn expire(&mut self, now: DateTime<Utc>) -> Vec<String> {
        let over = |days: Option<i64>, field: &Field| {
            days.is_some_and(|days| (now - field.confirmed()).num_days() >= days)
        };
        let mut gone = Vec::new();
        self.fields.retain(|key, field| {
            let keep = !over(key.section().keep_days(), field);
            if !keep {
                gone.push(key.path().to_owned());
            }
            keep
        });
        let before = self.companions.len();
        self.companions.retain(|c| {
            c.fields
                .values()
                .any(|f| !over(Section::Companions.keep_days(), f))
        });
        if self.companions.len() < before {
            gone.push("companions".to_owned());
        }
        gone
    }
}

impl Serialize for Profile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Profile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = serde_json::Value::deserialize(deserializer)?;
        Self::from_json(json)
            .map(|read| read.profile)
            .map_err(D::Error::custom)
    }
}

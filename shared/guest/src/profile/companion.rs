//! The people with whom a guest travels.

use std::collections::BTreeMap;

use super::{CompanionKey, Field, Merged, Observation, Profile, Value};

/// One companion, identified by relationship, name and age.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Companion {
    pub(super) fields: BTreeMap<CompanionKey, Field>,
}

/// How many companions of one relationship a guest can have: one spouse, but many children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kin {
    One,
    Several,
}

/// The result of [`Profile::meet`]: the companion's index, and how each observation was merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Met {
    pub index: usize,
    pub merged: Vec<(CompanionKey, Merged)>,
}

// === impl Kin ===

impl Kin {
    pub fn of(relationship: &str) -> Self {
        match relationship {
            "spouse" | "partner" | "fiance" | "mother" | "father" => Self::One,
            _ => Self::Several,
        }
    }
}

// === impl Companion ===

impl Companion {
    pub fn field(&self, key: CompanionKey) -> Option<&Field> {
        self.fields.get(&key)
    }

    /// Returns all stored fields.
    pub fn fields(&self) -> impl Iterator<Item = (CompanionKey, &Field)> {
        self.fields.iter().map(|(key, field)| (*key, field))
    }

    /// Returns whether all fields of this companion are withdrawn. If the guest mentions the person
    /// again, a new companion is added.
    fn is_withdrawn(&self) -> bool {
        self.fields.values().all(Field::is_withdrawn)
    }

    fn may_be(&self, said: &BTreeMap<CompanionKey, &Value>) -> bool {
        let agrees = |key| match (self.fields.get(&key), said.get(&key)) {
            (Some(have), Some(said)) => have.value.agrees(said),
            _ => true,
        };
        let same = |key| self.fields.contains_key(&key) && said.contains_key(&key) && agrees(key);
        let one = || {
            let kin = said
                .get(&CompanionKey::Relationship)
                .and_then(|v| v.as_text());
            kin.is_some_and(|kin| Kin::of(kin) == Kin::One)
        };
        // The same name means the same person even if the age differs, because ages change.
        agrees(CompanionKey::Relationship)
            && (same(CompanionKey::Name)
                || one()
                || (agrees(CompanionKey::Name) && agrees(CompanionKey::Age)))
    }
}

// === impl Profile ===

impl Profile {
    /// Merges observations of one companion into a known companion that matches, or adds a new one.
    /// Values of the wrong type are refused, and nothing is stored without a relationship.
    pub fn meet(&mut self, said: Vec<Observation<CompanionKey>>) -> Option<Met> {
        let (said, refused): (Vec<_>, Vec<_>) = said.into_iter().partition(Observation::fits);
        if !said.iter().any(|o| o.key == CompanionKey::Relationship) {
            return None;
        }
        let values: BTreeMap<_, _> = said.iter().map(|o| (o.key, &o.value)).collect();
        let known = self
            .companions
            .iter()
            .position(|companion| !companion.is_withdrawn() && companion.may_be(&values));
        let index = known.unwrap_or_else(|| {
            self.companions.push(Companion::default());
            self.companions.len() - 1
        });
        let mut merged: Vec<_> = refused
            .into_iter()
            .map(|o| (o.key, Merged::Refused))
            .collect();
        for seen in said {
            self.meta.updated_at = self.meta.updated_at.max(seen.at);
            let (key, plan) = (seen.key, seen.key == CompanionKey::Age);
            let fields = &mut self.companions[index].fields;
            let fate = match fields.get_mut(&key) {
                Some(field) => field.merge(seen.evidence(), plan),
                None => {
                    fields.insert(key, Field::first(seen.evidence()));
                    Merged::Added
                }
            };
            merged.push((key, fate));
        }
        Some(Met { index, merged })
    }

    /// Adds companions until at least `number` of them match `said`. Saying "our two kids" twice
    /// therefore adds two, not four. Returns true if any was added.
    pub fn meet_all(&mut self, said: &[Observation<CompanionKey>], number: u32) -> bool {
        let values: BTreeMap<_, _> = said
            .iter()
            .filter(|o| o.fits())
            .map(|o| (o.key, &o.value))
            .collect();
        let known = self
            .companions
            .iter()
            .filter(|companion| !companion.is_withdrawn() && companion.may_be(&values))
            .count();
        if !values.contains_key(&CompanionKey::Relationship) {
            return false;
        }
        let new = (number as usize).saturating_sub(known);
        for _ in 0..new {
            let mut fields = BTreeMap::new();
            for seen in said.iter().filter(|o| o.fits()) {
                self.meta.updated_at = self.meta.updated_at.max(seen.at);
                fields.insert(seen.key, Field::first(seen.clone().evidence()));
            }
            self.companions.push(Companion { fields });
        }
        new > 0
    }
}

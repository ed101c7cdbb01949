//! Measures how complete a guest's profile is. Each part of the profile contributes its weight
//! times its confidence. Parts and weights are data.

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use serde::Deserialize;

use crate::{
    Confidence, Key, Profile,
    profile::{Companion, CompanionKey},
};

/// One weighted part of a profile, such as dining.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    pub name: String,
    /// The weight, in hundredths of the whole score.
    pub weight: u8,
    fields: Vec<String>,
    #[serde(default)]
    companions: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    part: Vec<Part>,
}

static TABLE: LazyLock<Vec<Part>> = LazyLock::new(|| {
    let table: Table = toml::from_str(include_str!("../data/completeness.toml"))
        .expect("the table is part of the crate and tested");
    table.part
});

/// Returns the weighted parts, in the order of the data file.
pub fn parts() -> &'static [Part] {
    &TABLE
}

/// Returns the completeness, from 0 to 1. Withdrawn and empty fields do not count; other fields
/// count in proportion to their confidence.
pub fn completeness(profile: &Profile, now: DateTime<Utc>) -> Confidence {
    let sum: u32 = parts()
        .iter()
        .map(|part| u32::from(part.weight) * u32::from(part.certainty(profile, now).parts()))
        .sum();
    Confidence::clamped(f64::from(sum) / 1_000_000.0)
}

// === impl Part ===

impl Part {
    /// Returns the highest confidence in any of this part's fields.
    pub fn certainty(&self, profile: &Profile, now: DateTime<Utc>) -> Confidence {
        let fields = self.keys().map(|key| profile.certainty(key, now));
        let companions = profile
            .companions()
            .iter()
            .filter(|_| self.companions)
            .map(|companion| known(companion, now));
        fields.chain(companions).max().unwrap_or_default()
    }

    /// Returns the fields that belong to this part.
    pub fn keys(&self) -> impl Iterator<Item = Key> {
        self.fields.iter().filter_map(|path| Key::at(path))
    }
}

fn known(companion: &Companion, now: DateTime<Utc>) -> Confidence {
    let kin = companion
        .field(CompanionKey::Relationship)
        .filter(|f| !f.is_withdrawn());
    kin.map_or(Confidence::ZERO, |field| field.effective(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_are_those_of_the_specification() {
        // CONV-26: name and weight of each part
        let weights: Vec<_> = parts()
            .iter()
            .map(|p| (p.name.as_str(), p.weight))
            .collect();
        let wanted = [
            ("name", 15),
            ("visit_date", 15),
            ("party_size", 10),
            ("dining_preferences", 15),
            ("entertainment_preferences", 10),
            ("gaming_preferences", 5),
            ("special_occasion", 10),
            ("companion_details", 5),
            ("email", 10),
            ("language", 5),
        ];
        assert_eq!(weights, wanted);
        assert_eq!(
            parts().iter().map(|p| u32::from(p.weight)).sum::<u32>(),
            100
        );
        for part in parts() {
            assert_eq!(part.keys().count(), part.fields.len(), "{}", part.name);
        }
    }
}

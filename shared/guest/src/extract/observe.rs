//! Turns the facts found in a text into observations, which the profile merges.

use chrono::{DateTime, Utc};

use super::{Extracted, Grain, Slot};
use crate::{
    Key, Observation, Source, Value,
    profile::{CompanionKey, Grant},
};

/// The observations that one fact adds to the profile.
#[derive(Debug, Clone, PartialEq)]
pub enum Observed {
    Field(Observation<Key>),
    /// Observations of one companion, for [`crate::Profile::meet`].
    Companion(Vec<Observation<CompanionKey>>),
    /// Observations that hold for each member of a group, and the number of members; for
    /// [`crate::Profile::meet_all`].
    Group(Vec<Observation<CompanionKey>>, u32),
}

/// Returns the observations of one text. Facts of high confidence count as stated by the guest
/// (`SelfReported`), the others as extracted from context.
pub fn observations(found: &[Extracted], at: DateTime<Utc>, grant: &Grant) -> Vec<Observed> {
    found.iter().flat_map(|one| of(one, at, grant)).collect()
}

fn of(found: &Extracted, at: DateTime<Utc>, grant: &Grant) -> Vec<Observed> {
    let source = if found.confidence >= Source::SelfReported.range().0 {
        Source::SelfReported
    } else {
        Source::ContextualExtraction
    };
    let field =
        |key: Key, value: Value| Observed::Field(observation(found, key, value, source, at, grant));
    let one = |key: Key, item: &str| vec![field(key, Value::list([item]))];
    match &found.slot {
        Slot::Name(name) => vec![field(Key::Name, Value::text(name))],
        Slot::FullName(name) => vec![field(Key::FullName, Value::text(name))],
        Slot::Email(email) => vec![field(Key::Email, Value::text(email))],
        Slot::PartySize(size) => vec![field(Key::PartySize, Value::Int((*size).into()))],
        Slot::Visit(stay) => match stay.grain {
            Grain::Day => vec![field(Key::VisitDate, Value::Date(stay.from))],
            Grain::Days | Grain::Weekend => {
                vec![
                    field(Key::VisitDate, Value::Date(stay.from)),
                    field(Key::VisitEnd, Value::Date(stay.to)),
                ]
            }
            Grain::Week | Grain::Month => {
                vec![field(
                    Key::DatePreferences,
                    Value::text(format!("{} to {}", stay.from, stay.to)),
                )]
            }
        },
        Slot::Diet(diet) => one(Key::Dietary, diet),
        Slot::Allergy(what) => one(Key::Dietary, &format!("allergy: {what}")),
        Slot::Occasion(occasion) => vec![field(Key::Occasion, Value::text(occasion))],
        Slot::Budget(budget) => vec![field(Key::Budget, Value::text(budget.to_string()))],
        Slot::Interest(interest) => one(Key::Interests, interest),
        Slot::Treatment(treatment) => one(Key::Treatments, treatment),
        Slot::Cuisine(cuisine) => one(Key::Cuisine, cuisine),
        Slot::Game(game) => one(Key::Games, game),
        Slot::Accessibility(need) => one(Key::Accessibility, need),
        Slot::Companion { kin, name, age } => {
            let fact = |key, value| observation(found, key, value, source, at, grant);
            let mut facts = vec![fact(CompanionKey::Relationship, Value::text(kin))];
            facts.extend(
                name.as_ref()
                    .map(|name| fact(CompanionKey::Name, Value::text(name))),
            );
            facts.extend(age.map(|age| fact(CompanionKey::Age, Value::Int(age.into()))));
            vec![Observed::Companion(facts)]
        }
        Slot::Group { kin, number } => {
            let kin = observation(
                found,
                CompanionKey::Relationship,
                Value::text(kin),
                source,
                at,
                grant,
            );
            vec![Observed::Group(vec![kin], *number)]
        }
    }
}

fn observation<K>(
    found: &Extracted,
    key: K,
    value: Value,
    source: Source,
    at: DateTime<Utc>,
    grant: &Grant,
) -> Observation<K> {
    let correction = found.correction;
    Observation {
        key,
        value,
        confidence: found.confidence,
        source,
        at,
        grant: grant.clone(),
        correction,
    }
}

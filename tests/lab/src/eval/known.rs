//! Names of the guest's profile fields in dialogues, and their values. Pure.

use chrono::{DateTime, Utc};
use serde_json::{Value as Json, json};
use seven_guest::{
    Profile,
    profile::{CompanionKey, Key},
};

/// The field names that a dialogue may use under `fields`.
pub(super) const FIELDS: &[&str] = &[
    "name",
    "email",
    "visit_date",
    "party_size",
    "occasion",
    "dietary",
    "cuisine",
    "interests",
    "accessibility",
    "budget",
    "companions",
    "party_kids",
    "kids_ages",
];

const CHILDREN: [&str; 4] = ["child", "grandchild", "son", "daughter"];

/// Returns what an agent may know about the guest under this name at `now`; null when nothing is
/// known.
pub(super) fn known(profile: &Profile, field: &str, now: DateTime<Utc>) -> Json {
    let seen = |key: Key| {
        profile
            .seen(key, now)
            .map_or(Json::Null, |value| json!(value))
    };
    match field {
        "name" => seen(Key::Name),
        "email" => seen(Key::Email),
        "visit_date" => seen(Key::VisitDate),
        "party_size" => seen(Key::PartySize),
        "occasion" => seen(Key::Occasion),
        "dietary" => seen(Key::Dietary),
        "cuisine" => seen(Key::Cuisine),
        "interests" => seen(Key::Interests),
        "accessibility" => seen(Key::Accessibility),
        "budget" => seen(Key::Budget),
        "companions" => list(relationships(profile)),
        "party_kids" => list(
            relationships(profile)
                .into_iter()
                .filter(|kin| is_child(kin)),
        )
        .as_array()
        .map_or(Json::Null, |children| json!(children.len())),
        "kids_ages" => list(ages(profile)),
        _ => Json::Null,
    }
}

/// Returns whether the known value matches the expected one. Lists match in any order. A list that
/// holds the expected value matches, too. The known `spouse` matches `wife` and `husband`.
pub(super) fn says(known: &Json, expected: &Json) -> bool {
    match (known, expected) {
        (Json::Array(have), Json::Array(want)) => {
            have.len() == want.len()
                && want
                    .iter()
                    .all(|one| have.iter().any(|other| same(other, one)))
        }
        (Json::Array(have), one) => have.iter().any(|other| same(other, one)),
        (have, one) => same(have, one),
    }
}

fn same(known: &Json, expected: &Json) -> bool {
    match (known, expected) {
        (Json::String(have), Json::String(want)) => {
            let (have, want) = (have.trim().to_lowercase(), want.trim().to_lowercase());
            have == want
                || matches!(
                    (have.as_str(), want.as_str()),
                    ("spouse", "wife" | "husband")
                )
        }
        _ => known == expected,
    }
}

fn list<T: Into<Json>>(items: impl IntoIterator<Item = T>) -> Json {
    let items: Vec<Json> = items.into_iter().map(Into::into).collect();
    if items.is_empty() {
        Json::Null
    } else {
        Json::Array(items)
    }
}

fn relationships(profile: &Profile) -> Vec<String> {
    let kin = profile
        .companions()
        .iter()
        .filter_map(|companion| companion.field(CompanionKey::Relationship));
    kin.filter_map(|field| field.value.as_text().map(str::to_owned))
        .collect()
}

fn ages(profile: &Profile) -> Vec<i64> {
    let children = profile.companions().iter().filter(|companion| {
        let kin = companion
            .field(CompanionKey::Relationship)
            .and_then(|field| field.value.as_text());
        kin.is_some_and(is_child)
    });
    let mut ages: Vec<i64> = children
        .filter_map(|companion| {
            companion
                .field(CompanionKey::Age)
                .and_then(|age| age.value.as_int())
        })
        .collect();
    ages.sort_unstable();
    ages
}

fn is_child(kin: &str) -> bool {
    CHILDREN.contains(&kin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_known_by_what_it_says() {
        for (known, expected, says_it) in [
            (json!("Dana"), json!("dana"), true),
            (json!(["vegan", "halal"]), json!("vegan"), true),
            (json!(["spouse"]), json!("wife"), true),
            (json!(["mother"]), json!("wife"), false),
            (json!([8, 5]), json!([5, 8]), true),
            (json!([5]), json!([5, 8]), false),
            (json!(4), json!(4), true),
            (json!(4), json!(5), false),
            (json!("2026-11-28"), json!("2026-11-28"), true),
            (Json::Null, json!("vegan"), false),
        ] {
            assert_eq!(says(&known, &expected), says_it, "{known} for {expected}");
        }
    }
}

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use seven_domain::{CasinoConfig, config::NumberKind};

use super::*;

mod details;

fn casino() -> CasinoConfig {
    serde_json::from_str(CASINO).unwrap()
}

fn items() -> Vec<Value> {
    let content: Value = serde_json::from_str(CONTENT).unwrap();
    assert_eq!(content["schema"], 1);
    content["items"].as_array().unwrap().clone()
}

fn text<'a>(item: &'a Value, field: &str) -> &'a str {
    item[field]
        .as_str()
        .unwrap_or_else(|| panic!("{} has no text `{field}`", item["id"]))
}

fn in_category(category: &str) -> Vec<Value> {
    items()
        .into_iter()
        .filter(|item| item["category"] == category)
        .collect()
}

#[test] // DEP-21
fn the_casino_document_is_valid_and_a_demo() {
    let config = casino();
    config.check().unwrap();
    assert_eq!(config.casino_id.as_str(), "silver_birch");
    assert_eq!(config.operational.number_kind, NumberKind::Demo);
    assert_eq!(config.operational.timezone.name(), "America/New_York");
    // Phone numbers come only from the range that is reserved for fiction.
    assert_eq!(config.operational.contact_phone, "1-860-555-0199");
    assert!(CASINO.contains("+18605550100"));
    for number in [
        &config.regulations.state_helpline,
        &config.regulations.responsible_gaming_helpline,
    ] {
        assert!(
            number.as_ref().unwrap().verified_at.is_none(),
            "nobody has called the helplines for the demo"
        );
    }
    assert!(config.branding.persona_name.chars().count() <= 10);
}

#[test] // CMS-11, CMS-14, CMS-13
fn there_is_enough_of_everything() {
    let mut counts = BTreeMap::new();
    for item in items() {
        *counts
            .entry(text(&item, "category").to_owned())
            .or_insert(0) += 1;
    }
    let least = [
        ("dining", 14),
        ("entertainment", 10),
        ("spa", 6),
        ("rooms", 4),
        ("gaming", 6),
        ("amenities", 6),
        ("loyalty", 3),
        ("promotions", 4),
        ("hours", 10),
        ("general_info", 12),
        ("regulations", 6),
    ];
    for (category, least) in least {
        assert!(
            counts.get(category).is_some_and(|n| *n >= least),
            "{category}: {:?} of {least}",
            counts.get(category)
        );
    }
    assert_eq!(counts.len(), least.len(), "{counts:?}");
}

#[test] // CMS-11, CMS-28, CMS-29, CMS-41
fn base_fields_are_complete_and_short() {
    let allowed = [
        "id",
        "category",
        "name",
        "name_es",
        "subcategory",
        "description",
        "description_es",
        "details",
        "active",
        "notes",
        "keywords",
    ];
    let (mut ids, mut names) = (BTreeSet::new(), BTreeSet::new());
    for item in items() {
        assert!(
            ids.insert(text(&item, "id").to_owned()),
            "{} twice",
            item["id"]
        );
        assert!(
            names.insert((
                text(&item, "category").to_owned(),
                text(&item, "name").to_owned()
            )),
            "{}",
            item["name"]
        );
        for (key, _) in item.as_object().unwrap() {
            assert!(
                allowed.contains(&key.as_str()),
                "{}: unknown field {key}",
                item["id"]
            );
        }
        for field in ["description", "description_es"] {
            let n = text(&item, field).chars().count();
            assert!(
                (10..=300).contains(&n),
                "{}: {field} has {n} characters",
                item["id"]
            );
        }
        assert_ne!(
            item["description"], item["description_es"],
            "{}",
            item["id"]
        );
        assert_eq!(item["active"], true);
        assert!(item["details"].is_object());
        let keywords: BTreeSet<&str> = item["keywords"]
            .as_array()
            .unwrap()
            .iter()
            .map(|k| k.as_str().unwrap())
            .collect();
        assert!(keywords.len() >= 3, "{}", item["id"]);
        assert_eq!(
            keywords.len(),
            item["keywords"].as_array().unwrap().len(),
            "{}: a keyword twice",
            item["id"]
        );
        assert!(
            keywords
                .iter()
                .all(|k| k.trim() == *k && !k.is_empty() && *k == k.to_lowercase()),
            "{}",
            item["id"]
        );
        let longest = if item["category"] == "dining" { 22 } else { 30 };
        assert!(
            text(&item, "name").chars().count() <= longest,
            "{}",
            item["name"]
        );
    }
}

#[test] // CMS-19: "Mon-Fri" or "Daily", then times with am or pm; or "24 hours"
fn every_opening_time_can_be_read() {
    for item in items() {
        for field in ["hours", "weekday_hours", "weekend_hours"] {
            let Some(hours) = item["details"][field]
                .as_str()
                .filter(|hours| *hours != "24 hours")
            else {
                continue;
            };
            for part in hours.split(", ") {
                let times = if field == "hours" {
                    part.split_once(' ')
                        .filter(|(days, _)| are_days(days))
                        .map(|(_, t)| t)
                } else {
                    Some(part)
                };
                let readable = times
                    .and_then(|times| times.split_once('-'))
                    .is_some_and(|(a, b)| is_clock(a) && is_clock(b));
                assert!(readable, "{}: {field} = {hours}", item["id"]);
            }
        }
    }
}

fn are_days(days: &str) -> bool {
    let week = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    days == "Daily" || days.split('-').all(|day| week.contains(&day))
}

fn is_clock(time: &str) -> bool {
    time.strip_suffix("am")
        .or_else(|| time.strip_suffix("pm"))
        .is_some_and(|clock| {
            let (hour, minute) = clock.split_once(':').unwrap_or((clock, "00"));
            hour.parse::<u8>().is_ok_and(|h| (1..=12).contains(&h))
                && minute.len() == 2
                && minute.parse::<u8>().is_ok_and(|m| m < 60)
        })
}

#[test] // a place and its row of hours must give the same answer
fn hours_rows_agree_with_their_places() {
    let all = items();
    let mut compared = 0;
    for row in in_category("hours") {
        for place in &all {
            let same = place["category"] != "hours"
                && text(place, "name").eq_ignore_ascii_case(text(&row, "name"));
            if same && place["details"]["hours"].is_string() {
                assert_eq!(
                    place["details"]["hours"], row["details"]["hours"],
                    "{}",
                    row["name"]
                );
                compared += 1;
            }
        }
    }
    assert!(compared >= 5, "only {compared} rows compared");
}

#[test]
fn nothing_real_is_named() {
    let brands = [
        "mohegan",
        "foxwoods",
        "mgm",
        "caesar",
        "bellagio",
        "wynn",
        "venetian",
        "borgata",
        "hard rock",
        "harrah",
        "starbucks",
        "bobby",
        "todd english",
        "marriott",
        "hilton",
        "hyatt",
        "uber",
        "lyft",
        "tesla",
        "nfl",
        "nba",
        "ufc",
        "super bowl",
        "gordon ramsay",
        "momentum",
        "http",
        "www.",
        ".com",
    ];
    for source in [CASINO, CONTENT] {
        let lower = source.to_lowercase();
        let words: BTreeSet<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
        for brand in brands {
            let found = if brand.chars().all(char::is_alphanumeric) {
                words.contains(brand)
            } else {
                lower.contains(brand)
            };
            assert!(!found, "`{brand}` is named");
        }
    }
    // Phone numbers in the content come from the range that is reserved for fiction.
    for (at, _) in CONTENT.match_indices("1-8") {
        assert!(
            CONTENT[at..].starts_with("1-860-555-01"),
            "{}",
            &CONTENT[at..at + 14]
        );
    }
}

#[test] // CMS-11: guests never read internal notes
fn notes_repeat_nowhere() {
    let noted: Vec<Value> = items()
        .into_iter()
        .filter(|item| item["notes"].is_string())
        .collect();
    assert!(
        !noted.is_empty(),
        "one row carries a note, so that tests elsewhere can see it never leaks"
    );
    for item in noted {
        assert_eq!(CONTENT.matches(text(&item, "notes")).count(), 1);
    }
}

use chrono::TimeZone;
use serde_json::json;

use super::*;
use crate::Reference;

fn index() -> (Index, DateTime<Utc>) {
    let now = Utc.with_ymd_and_hms(2026, 3, 6, 17, 0, 0).unwrap();
    let reference = Reference {
        now,
        zone: chrono_tz::UTC,
    };
    let rows = [
        json!({"id": "b", "category": "dining", "name": "Saguaro Spread",
            "description": "All you can eat. Lunch is $18.95, dinner is $26.95. Children under 6 eat free.",
            "details": {"cuisine_type": "Buffet", "price_range": "$$", "hours": "Daily 9am-9pm"}}),
        json!({"id": "r", "category": "rooms", "name": "Arroyo Queen",
            "description": "Two queen beds.", "description_es": "Dos camas.",
            "details": {"check_in": "3pm", "price": "$89"}}),
        json!({"id": "old", "category": "dining", "name": "Gone", "description": "Lunch is $1.",
            "active": false,
            "details": {"cuisine_type": "Buffet", "price_range": "$", "hours": "Daily 9am-9pm"}}),
    ];
    (
        Index::build(
            rows.iter()
                .map(|row| Item::read(row, reference).unwrap())
                .collect(),
        ),
        now,
    )
}

fn best(text: &str, language: Language) -> Option<String> {
    let (index, now) = index();
    index
        .passages(&index.terms(text), language, now, |_, _| true)
        .into_iter()
        .next()
        .map(|passed| passed.text)
}

#[test]
fn the_sentence_that_says_it_is_found() {
    assert_eq!(
        best("lunch at the buffet", Language::En).unwrap(),
        "Lunch is $18.95, dinner is $26.95."
    );
    assert_eq!(
        best("do kids eat free", Language::En).unwrap(),
        "Children under 6 eat free."
    );
    assert_eq!(best("check in", Language::En).unwrap(), "Check in: 3pm.");
    assert_eq!(best("camas", Language::Es).unwrap(), "Dos camas.");
    assert_eq!(
        best("camas", Language::En).unwrap(),
        "Two queen beds.",
        "one meaning in both languages"
    );
    assert_eq!(best("zzz", Language::En), None);
}

#[test]
fn a_row_is_asked_what_it_says() {
    let (index, _) = index();
    let room = index.get("r").unwrap();
    let term = |text: &str| index.terms(text).remove(0);
    assert!(index.says(room, &term("beds")) > 0.9 && index.says(room, &term("zebra")) < 0.1);
    assert!(!term("zebra").known && term("buffet").known);
    assert!(index.terms("what is the").is_empty());
}

//! Tests of searches, hours, availability and events.

use serde_json::{Value, json};
use seven_domain::Language;
use seven_knowledge::{Index, Offline};

use super::house::{House, PHONE, content, kind};
use crate::find;

fn ids(result: &Value) -> Vec<&str> {
    result["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["id"].as_str().unwrap())
        .collect()
}

#[test] // AGENT-31, RAG-1
fn searches_find_rows_of_their_categories() {
    let house = House::new();
    for (tool, arguments, first, rows) in [
        (
            "search_knowledge_base",
            json!({"query": "vegan steak"}),
            "dining_001",
            1,
        ),
        (
            "search_knowledge_base",
            json!({"query": "deep tissue", "category": "spa"}),
            "spa_001",
            1,
        ),
        // An unknown category is ignored.
        (
            "search_knowledge_base",
            json!({"query": "deep tissue", "category": "wellness"}),
            "spa_001",
            1,
        ),
        (
            "search_dining",
            json!({"query": "pancakes"}),
            "dining_002",
            1,
        ),
        ("search_dining", json!({}), "dining_001", 2),
        ("search_dining", json!({"query": "sushi"}), "dining_001", 2),
    ] {
        let result = house.call(tool, &arguments.clone());
        assert_eq!(
            (ids(&result)[0], ids(&result).len()),
            (first, rows),
            "{arguments}: {result}"
        );
    }
    let none = house.call("search_knowledge_base", &json!({"query": "helicopter"}));
    assert!(
        ids(&none).is_empty() && none["note"].as_str().unwrap().contains(PHONE),
        "{none}"
    );
    let others = house.call("search_dining", &json!({"query": "sushi"}));
    assert!(
        others["note"].as_str().unwrap().starts_with("no row says"),
        "{others}"
    );
}

#[test] // AGENT-39: at 3 in the morning only the diner is open
fn only_what_is_open_when_asked() {
    let night = House::new().at("2026-12-19T08:00:00Z");
    assert_eq!(
        ids(&night.call("search_dining", &json!({"open_now": true}))),
        ["dining_002"]
    );
    let noon = House::new().at("2026-12-19T17:00:00Z");
    assert!(ids(&noon.call("search_dining", &json!({"open_now": true}))).is_empty());
}

#[test] // AGENT-57: what a tool returned may be said, and nothing else
fn what_was_found_is_evidence() {
    let house = House {
        language: Language::Es,
        ..House::new()
    };
    let mut toolbox = house.toolbox();
    assert!(toolbox.evidence().is_empty() && toolbox.rows_used().is_empty());
    toolbox.call("search_dining", &json!({"query": "steaks"}));
    toolbox.call("search_dining", &json!({"query": "steaks"}));
    let evidence = toolbox.evidence();
    assert!(
        evidence.len() == 1
            && evidence[0].contains("Carnes a la brasa")
            && evidence[0].contains("$$$"),
        "{evidence:?}"
    );
    assert!(
        evidence[0].contains("Dec 25 (Christmas Day) closed"),
        "{evidence:?}"
    );
    assert_eq!(toolbox.rows_used()[0].0, "dining_001");
    assert!(toolbox.rows_used()[0].1.is_some());
    assert_eq!(toolbox.calls().len(), 2);
}

#[test] // RAG-12: an embedder that answers at once is asked, and only about its own vectors
fn an_embedder_that_answers_at_once_is_used() {
    let embedder = Offline::new();
    let house = House {
        index: Index::build(content())
            .in_zone(chrono_tz::America::New_York)
            .embedded(&embedder),
        ..House::new()
    };
    let mut toolbox = house.toolbox();
    toolbox.given.embedder = Some(&embedder);
    assert!(
        toolbox.retrieve("burgers", &[], 5)[0]
            .scores
            .cosine
            .is_some()
    );
    assert!(
        house.toolbox().retrieve("burgers", &[], 5)[0]
            .scores
            .cosine
            .is_none()
    );
    assert!(find::at_once(&embedder, "burgers").is_some());
}

#[test] // AGENT-31, AGENT-39: 2026-12-18 is a Friday, 20:00 at the property
fn hours_know_midnight_and_holidays() {
    let house = House::new();
    for (venue, date, time, open, says) in [
        (
            "Ember Room",
            None,
            None,
            Some(true),
            "Ember Room is open now, until 10pm.",
        ),
        ("ember", None, None, Some(true), "until 10pm"),
        ("dining_001", None, None, Some(true), "until 10pm"),
        (
            "Ember Room",
            Some("tomorrow"),
            Some("23:00"),
            Some(false),
            "opens Sunday at 5pm",
        ),
        (
            "Ember Room",
            Some("monday"),
            None,
            None,
            "Ember Room is closed on Monday Dec 21.",
        ),
        (
            "Ember Room",
            Some("2026-12-25"),
            None,
            None,
            "Ember Room is closed on Friday Dec 25.",
        ),
        (
            "Ember Room",
            Some("2026-12-25"),
            Some("7pm"),
            Some(false),
            "opens Saturday Dec 26 at 5pm",
        ),
        (
            "Ember Room",
            Some("2026-12-31"),
            None,
            None,
            "open on Thursday Dec 31 5pm-2am.",
        ),
        // The night of the 31st ends on the morning of the 1st.
        (
            "Ember Room",
            Some("2027-01-01"),
            Some("1:30am"),
            Some(true),
            "until 2am",
        ),
        (
            "Ember Room",
            Some("2027-01-01"),
            Some("3am"),
            Some(false),
            "opens Friday Jan 1 at 5pm",
        ),
        (
            "Night Owl",
            Some("tomorrow"),
            Some("03:59"),
            Some(true),
            "until 4am",
        ),
        (
            "Night Owl",
            Some("tomorrow"),
            Some("4am"),
            Some(false),
            "opens Saturday at 6pm",
        ),
        ("the pool", Some(""), Some(" "), Some(true), "until 10pm"),
    ] {
        let result = house.call(
            "get_restaurant_hours",
            &json!({"venue": venue, "date": date, "time": time}),
        );
        let sentence = result["sentence"].as_str().unwrap_or_default();
        assert!(
            sentence.contains(says),
            "{venue} {date:?} {time:?}: {result}"
        );
        assert_eq!(
            result.get("open").and_then(Value::as_bool),
            open,
            "{result}"
        );
    }
    let after_midnight = House::new().at("2026-12-19T08:59:00Z");
    assert_eq!(
        after_midnight.call("get_restaurant_hours", &json!({"venue": "Night Owl Diner"}))["open"],
        json!(true)
    );
}

#[test] // AGENT-47
fn what_cannot_be_answered_says_why() {
    let house = House::new();
    for (tool, arguments, expected) in [
        (
            "get_restaurant_hours",
            json!({"venue": "Golden Fork"}),
            "unknown_place",
        ),
        (
            "get_restaurant_hours",
            json!({"venue": "Cedar Massage"}),
            "not_in_content",
        ),
        (
            "get_restaurant_hours",
            json!({"venue": "Ember Room", "date": "someday"}),
            "bad_date",
        ),
        (
            "get_restaurant_hours",
            json!({"venue": "Ember Room", "date": "2026-12-17"}),
            "past_date",
        ),
        (
            "get_restaurant_hours",
            json!({"venue": "Ember Room", "date": "+262142-12-31"}),
            "far_date",
        ),
        (
            "get_restaurant_hours",
            json!({"venue": "Ember Room", "time": "7"}),
            "bad_time",
        ),
        (
            "get_restaurant_hours",
            json!({"venue": "Ember Room", "time": "25:00"}),
            "bad_time",
        ),
        ("get_restaurant_hours", json!({"venue": 4}), "bad_arguments"),
        (
            "get_restaurant_hours",
            json!({"venue": "Ember Room", "mood": "happy"}),
            "bad_arguments",
        ),
        ("get_restaurant_hours", json!({}), "bad_arguments"),
        ("search_knowledge_base", json!([]), "bad_arguments"),
        ("search_knowledge_base", Value::Null, "bad_arguments"),
        (
            "check_availability",
            json!({"venue": "Ember Room", "party_size": 0}),
            "bad_arguments",
        ),
        (
            "check_availability",
            json!({"venue": "Ember Room", "party_size": -4}),
            "bad_arguments",
        ),
        (
            "get_event_schedule",
            json!({"from": "2026-12-25", "to": "2026-12-24"}),
            "bad_arguments",
        ),
        (
            "get_event_schedule",
            json!({"to": "2027-12-24"}),
            "bad_arguments",
        ),
    ] {
        let result = house.call(tool, &arguments.clone());
        assert_eq!(kind(&result), expected, "{tool} {arguments}: {result}");
        for part in ["message", "fix"] {
            assert!(
                result["error"][part]
                    .as_str()
                    .is_some_and(|text| !text.is_empty()),
                "{result}"
            );
        }
    }
    let unknown = house.call("get_restaurant_hours", &json!({"venue": "Golden Fork"}));
    assert!(
        unknown["error"]["fix"]
            .as_str()
            .unwrap()
            .contains("Night Owl Diner"),
        "{unknown}"
    );
}

#[test] // AGENT-31, C-44: nothing is ever said to be free
fn availability_is_what_rows_say_and_a_person_confirms() {
    let house = House::new();
    for (arguments, reservations, open_then) in [
        (
            json!({"venue": "Ember Room", "party_size": 4, "date": "tomorrow", "time": "7pm"}),
            json!("Recommended"),
            json!(true),
        ),
        (
            json!({"venue": "Ember Room", "date": "2026-12-25"}),
            json!("Recommended"),
            json!(false),
        ),
        (
            json!({"venue": "Night Owl Diner", "party_size": 2, "time": "13:00"}),
            json!("Walk-in only"),
            json!(false),
        ),
        (
            json!({"venue": "Cedar Massage"}),
            json!("Required"),
            Value::Null,
        ),
        (
            json!({"venue": "Willow Hall", "party_size": 60}),
            json!("By phone"),
            Value::Null,
        ),
    ] {
        let result = house.call("check_availability", &arguments.clone());
        assert_eq!(
            (&result["available"], &result["reservations"]),
            (&json!("not_known"), &reservations),
            "{result}"
        );
        assert_eq!(result["open_then"], open_then, "{arguments}: {result}");
        assert!(
            result["confirm"].as_str().unwrap().contains(PHONE),
            "{result}"
        );
    }
    assert_eq!(
        house.call("check_availability", &json!({"venue": "Willow Hall"}))["capacity"],
        json!({"capacity": "80"})
    );
}

#[test] // AGENT-34
fn events_come_in_order_of_their_beginning() {
    let house = House::new();
    let starts = |arguments: Value| {
        let result = house.call("get_event_schedule", &arguments);
        let events = result["events"].as_array().unwrap().iter();
        events
            .map(|event| {
                format!(
                    "{} {}",
                    event["id"].as_str().unwrap(),
                    event["starts"].as_str().unwrap()
                )
            })
            .collect::<Vec<_>>()
    };
    let (trio, laugh) = (
        "show_001 Sunday Dec 20 at 8pm",
        "show_002 Friday Dec 18 at 9pm",
    );
    assert_eq!(
        starts(json!({})),
        [
            laugh,
            "show_002 Saturday Dec 19 at 9pm",
            trio,
            "show_002 Friday Dec 25 at 9pm"
        ]
    );
    assert_eq!(starts(json!({"from": "sunday"})), [trio]);
    assert_eq!(starts(json!({"from": "today", "to": "today"})), [laugh]);
    assert!(starts(json!({"from": "monday"})).is_empty());
    let late = House::new().at("2026-12-19T03:30:00Z");
    let over = late.call(
        "get_event_schedule",
        &json!({"from": "today", "to": "today"}),
    );
    assert!(
        over["events"].as_array().unwrap().is_empty(),
        "the show of tonight is over: {over}"
    );
    let many = house.call("get_event_schedule", &json!({"to": "2027-02-10"}));
    assert_eq!(
        (
            many["events"].as_array().unwrap().len(),
            many["more"].as_u64().unwrap() > 0
        ),
        (8, true)
    );
}

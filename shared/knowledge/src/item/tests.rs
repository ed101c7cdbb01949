use chrono::{TimeZone, Utc};
use chrono_tz::America::New_York;
use serde_json::json;

use super::*;

fn reference() -> Reference {
    Reference {
        now: Utc.with_ymd_and_hms(2026, 3, 6, 17, 0, 0).unwrap(),
        zone: New_York,
    }
}

fn problems(value: &Value) -> Vec<String> {
    Item::read(value, reference())
        .unwrap_err()
        .into_iter()
        .map(|p| format!("{}: {}", p.field, p.problem))
        .collect()
}

fn show() -> Value {
    json!({"id": "e1", "category": "shows", "name": "Riverlight Trio", "description": "Live jazz.",
    "details": {
        "event_type": "concert",
        "venue": "Birch Hall",
        "starts_at": "today 20:00",
        "duration_minutes": 90,
        "ticket_price_min": 25,
    }})
}

#[test]
fn stored_items_read_back_unchanged() {
    let dining = json!({"id": "d1", "category": "restaurants", "name": "Ember Room",
    "subcategory": "fine_dining", "description": "Grill.",
    "description_es": "Parrilla.", "keywords": ["steak"], "tip": "Ask for the terrace.",
    "notes": "VIP only",
    "details": {
        "cuisine": "Steakhouse",
        "price_range": "$$$",
        "hours": "Wed-Sun 5pm-10pm",
        "kids_menu": false,
        "dietary_options": "vegan, gluten-free",
    }});
    let pool = json!({
        "id": "a1",
        "category": "amenities",
        "name": "Pool",
        "description": "Heated.",
        "details": {"hours": {"daily": "7am-10pm"}, "towels": true},
    });
    for value in [show(), dining, pool] {
        let item = Item::read(&value, reference()).unwrap();
        assert_eq!(Item::from_json(&item.to_json()).unwrap(), item);
    }
}

#[test] // CMS-19, CMS-24: every category with hours has holidays
fn holidays_are_read_stored_and_told() {
    let days = json!([
        {"date": "12-25", "hours": "Closed", "name": "Christmas Day"},
        {"date": "in 3 days", "hours": "10am-6pm"},
    ]);
    for (category, mut details) in [
        (
            "dining",
            json!({"cuisine": "Bar", "price_range": "$", "hours": "24 hours"}),
        ),
        (
            "spa",
            json!({
                "treatment_type": "Massage",
                "duration_minutes": 60,
                "price": 90,
                "hours": "24 hours",
            }),
        ),
        (
            "shows",
            json!({"event_type": "DJ", "venue": "Hall", "hours": "24 hours"}),
        ),
        ("gaming", json!({"hours": "24 hours"})),
        ("hours", json!({"hours": "24 hours"})),
        ("pool", json!({"hours": "24 hours"})),
    ] {
        details["special_hours"] = days.clone();
        let item = json!({
            "id": "x",
            "category": category,
            "name": "Place",
            "description": "D.",
            "details": details,
        });
        let item = Item::read(&item, reference()).unwrap();
        assert_eq!(
            Item::from_json(&item.to_json()).unwrap(),
            item,
            "{category}"
        );
        assert!(
            !item.is_open(
                Utc.with_ymd_and_hms(2026, 12, 25, 17, 0, 0).unwrap(),
                New_York
            ),
            "{category}"
        );
        let text = crate::formatter::text(&item, New_York);
        assert!(
            text.contains("Special hours: Dec 25 (Christmas Day) closed; Mar "),
            "{text}"
        );
        assert!(text.contains(", 2026 10am-6pm."), "{text}");
    }
    for bad in [
        json!("closed"),
        json!([{"date": "12-25"}]),
        json!([{"date": "someday", "hours": "closed"}]),
        json!([{"date": "12-25", "hours": "by appointment"}]),
        json!([{"date": "12-25", "hours": "closed", "colour": "red"}]),
        json!([4]),
    ] {
        let item = json!({
            "id": "x",
            "category": "gaming",
            "name": "P",
            "description": "D",
            "details": {"special_hours": bad},
        });
        let found = problems(&item);
        assert!(
            found.len() == 1 && found[0].starts_with("details.special_hours: "),
            "{found:?}"
        );
    }
}

#[test] // T7, CMS-24
fn every_problem_is_reported_with_its_path() {
    let bad = json!({"id": "d1", "category": "dining", "name": "x".repeat(201),
        "description": "y".repeat(1001), "colour": "red",
        "details": {"price_range": "$$$$$", "hours": "by appointment", "stars": 3}});
    let all = problems(&bad);
    for expected in [
        "name: has 201",
        "description: has 1001",
        "colour: is not",
        "details.cuisine_type: is missing",
        "details.price_range: is `$$$$$`",
        "details.hours: cannot read",
        "details.stars: is not",
    ] {
        assert!(
            all.iter().any(|p| p.starts_with(expected)),
            "{expected} not in {all:?}"
        );
    }
    let promo = json!({"id": "p", "category": "promotions", "name": "P", "description": "D",
        "details": {"promo_type": "Free play", "value": "$5", "valid_from": "today"}});
    assert_eq!(
        problems(&promo),
        [
            "details.value: is \"$5\"",
            "details.valid_until: is missing"
        ]
    );
    assert_eq!(problems(&json!([1])), ["item: the item is no JSON object"]);
}

#[test] // C-17
fn past_events_and_expired_offers_are_not_current() {
    let item = Item::read(&show(), reference()).unwrap();
    let start = Utc.with_ymd_and_hms(2026, 3, 7, 1, 0, 0).unwrap();
    assert!(item.is_current(start + TimeDelta::minutes(90), New_York));
    assert!(!item.is_current(start + TimeDelta::minutes(91), New_York));
    let promo = json!({"id": "p", "category": "promotions", "name": "P", "description": "D",
    "details": {
        "promo_type": "Free play",
        "value": 5,
        "valid_from": "today",
        "valid_until": "tomorrow",
    }});
    let promo = Item::read(&promo, reference()).unwrap();
    let tomorrow_11pm = Utc.with_ymd_and_hms(2026, 3, 8, 4, 0, 0).unwrap();
    assert!(promo.is_current(tomorrow_11pm, New_York));
    assert!(!promo.is_current(tomorrow_11pm + TimeDelta::hours(1), New_York));
    let mut hidden = promo;
    hidden.active = false;
    assert!(!hidden.is_current(reference().now, New_York));
}

#[test] // C-32
fn weekday_and_weekend_hours_become_one_week() {
    let gym = json!({
        "id": "h",
        "category": "hours",
        "name": "Gym",
        "description": "Gym.",
        "details": {"weekday_hours": "6am-10pm", "weekend_hours": "8am-8pm"},
    });
    let gym = Item::read(&gym, reference()).unwrap();
    assert_eq!(
        gym.hours().unwrap().to_string(),
        "Mon-Thu 6am-10pm, Fri-Sun 8am-8pm"
    );
}

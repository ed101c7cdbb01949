//! Checks the `details` of each content category against its schema.

use super::*;

/// Asserts that every item of the category has exactly the listed fields. If a field comes with
/// allowed words, its value must be one of them.
#[track_caller]
fn details_hold(category: &str, fields: &[(&str, &[&str])]) {
    for item in in_category(category) {
        for (field, allowed) in fields {
            let value = &item["details"][field];
            assert!(!value.is_null(), "{}: no details.{field}", item["id"]);
            let known =
                allowed.is_empty() || value.as_str().is_some_and(|word| allowed.contains(&word));
            assert!(known, "{}: details.{field} = {value}", item["id"]);
        }
        let names: BTreeSet<&str> = fields.iter().map(|(field, _)| *field).collect();
        for (key, _) in item["details"].as_object().unwrap() {
            assert!(
                names.contains(key.as_str()),
                "{}: unknown details.{key}",
                item["id"]
            );
        }
    }
}

const ANY: &[&str] = &[];

#[test] // CMS-19
fn dining_details_match_the_schema() {
    details_hold(
        "dining",
        &[
            (
                "cuisine_type",
                &[
                    "American",
                    "Italian",
                    "Asian",
                    "Japanese",
                    "Chinese",
                    "Mexican",
                    "Mediterranean",
                    "Steakhouse",
                    "Seafood",
                    "Buffet",
                    "Cafe",
                    "Bar",
                ],
            ),
            ("price_range", &["$", "$$", "$$$", "$$$$"]),
            ("hours", ANY),
            ("location", ANY),
            (
                "dress_code",
                &["Casual", "Smart casual", "Business casual", "Formal"],
            ),
            ("reservations", &["Walk-in only", "Recommended", "Required"]),
            ("kids_menu", &[]),
            ("dietary_options", ANY),
        ],
    );
    let dining = in_category("dining");
    let of = |cuisine: &str| {
        dining
            .iter()
            .any(|item| item["details"]["cuisine_type"] == cuisine)
    };
    for cuisine in ["Steakhouse", "Buffet", "Italian", "Japanese", "Cafe", "Bar"] {
        assert!(of(cuisine), "no {cuisine}");
    }
    let hours: Vec<&str> = dining
        .iter()
        .map(|item| item["details"]["hours"].as_str().unwrap())
        .collect();
    assert!(hours.contains(&"24 hours"), "one venue never closes");
    assert!(
        hours.iter().any(|h| h.ends_with("-2am")),
        "one venue closes past midnight"
    );
    assert!(
        hours.iter().filter(|h| h.starts_with("Wed-Sun")).count() >= 3,
        "some are closed on Monday and Tuesday"
    );
}

#[test] // CMS-20
fn event_details_match_the_schema() {
    details_hold(
        "entertainment",
        &[
            (
                "event_type",
                &[
                    "Concert",
                    "Comedy",
                    "DJ",
                    "Show",
                    "Fight",
                    "Sports viewing",
                    "Tournament",
                    "Special event",
                    "Pool party",
                ],
            ),
            ("venue", ANY),
            ("starts_at", ANY),
            ("ticket_price_min", ANY),
            ("ticket_price_max", ANY),
            ("age_restriction", &["All ages", "18+", "21+"]),
            ("duration_minutes", ANY),
        ],
    );
    for item in in_category("entertainment") {
        let number = |field: &str| {
            item["details"][field]
                .as_u64()
                .unwrap_or_else(|| panic!("{}: {field}", item["id"]))
        };
        assert!(
            number("ticket_price_min") <= number("ticket_price_max"),
            "{}",
            item["id"]
        );
        assert!(
            (15..=480).contains(&number("duration_minutes")),
            "{}",
            item["id"]
        );
        let at = item["details"]["starts_at"].as_str().unwrap();
        let (day, time) = at.rsplit_once(' ').unwrap();
        assert!(is_relative_day(day), "{}: {at}", item["id"]);
        assert!(time.len() == 5 && is_time(time), "{}: {at}", item["id"]);
    }
}

/// Returns whether a day is relative, such as "tomorrow", "in 3 days" or "next saturday".
fn is_relative_day(day: &str) -> bool {
    let weekdays = [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
    ];
    match day.split(' ').collect::<Vec<_>>()[..] {
        ["today" | "tomorrow"] => true,
        ["in", n, "days"] => n.parse::<u32>().is_ok_and(|n| n > 0),
        ["next", weekday] => weekdays.contains(&weekday),
        _ => false,
    }
}

fn is_time(time: &str) -> bool {
    time.split_once(':').is_some_and(|(h, m)| {
        h.parse::<u8>().is_ok_and(|h| h < 24) && m.parse::<u8>().is_ok_and(|m| m < 60)
    })
}

#[test] // CMS-21
fn spa_details_match_the_schema() {
    details_hold(
        "spa",
        &[
            (
                "treatment_type",
                &[
                    "Massage",
                    "Facial",
                    "Body treatment",
                    "Manicure",
                    "Pedicure",
                    "Package",
                    "Couples",
                    "Sauna",
                    "Steam room",
                ],
            ),
            ("duration_minutes", ANY),
            ("price", ANY),
            ("couples_option", ANY),
            ("booking_required", ANY),
        ],
    );
    for item in in_category("spa") {
        let details = &item["details"];
        assert!(
            [30, 60, 90, 120].contains(&details["duration_minutes"].as_u64().unwrap()),
            "{}",
            item["id"]
        );
        assert!(
            details["price"].is_u64()
                && details["couples_option"].is_boolean()
                && details["booking_required"].is_boolean()
        );
    }
}

#[test] // CMS-22, CMS-43: no offer needs a director's approval
fn promotion_details_match_the_schema() {
    details_hold(
        "promotions",
        &[
            (
                "promo_type",
                &[
                    "Free play",
                    "Match play",
                    "Dining credit",
                    "Hotel discount",
                    "Event tickets",
                    "Spa credit",
                    "Birthday",
                    "Loyalty tier upgrade",
                ],
            ),
            ("value", ANY),
            ("valid_from", ANY),
            ("valid_until", ANY),
            ("eligibility", ANY),
            (
                "redemption_method",
                &["Automatic", "Promo code", "At cage", "At host", "Online"],
            ),
        ],
    );
    for item in in_category("promotions") {
        assert!(
            item["details"]["value"]
                .as_u64()
                .is_some_and(|usd| usd < 500),
            "{}",
            item["id"]
        );
        assert_eq!(item["details"]["valid_from"], "today");
        assert!(
            is_relative_day(item["details"]["valid_until"].as_str().unwrap()),
            "{}",
            item["id"]
        );
    }
}

#[test] // CMS-23, CMS-10
fn regulation_details_match_the_schema() {
    let kinds = [
        "Age restriction",
        "Self-exclusion",
        "Responsible gaming",
        "Photography policy",
        "Smoking policy",
        "Dress code",
        "ID requirements",
    ];
    details_hold(
        "regulations",
        &[
            ("regulation_type", &kinds),
            ("state", &["CT"]),
            ("applies_to", ANY),
        ],
    );
    let rows = in_category("regulations");
    for kind in kinds {
        assert!(
            rows.iter()
                .any(|item| item["details"]["regulation_type"] == kind),
            "no {kind}"
        );
    }
    let age = rows
        .iter()
        .find(|item| item["details"]["regulation_type"] == "Age restriction")
        .unwrap();
    let minimum = casino().regulations.gaming_age_minimum.to_string();
    assert!(
        text(age, "description").contains(&minimum)
            && text(age, "description_es").contains(&minimum)
    );
}

#[test] // CMS-12, CMS-18
fn gaming_and_hours_say_when() {
    details_hold(
        "gaming",
        &[
            ("game_type", ANY),
            ("location", ANY),
            ("minimum_bet", ANY),
            ("hours", ANY),
        ],
    );
    for item in in_category("hours") {
        let details = &item["details"];
        assert!(
            details["hours"].is_string()
                || (details["weekday_hours"].is_string() && details["weekend_hours"].is_string())
        );
    }
}

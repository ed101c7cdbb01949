use chrono::{TimeZone, Utc};
use serde_json::json;
use seven_domain::Language;
use seven_knowledge::Reference;

use super::*;
use crate::said;

fn rules() -> ContentRules {
    ContentRules {
        review: vec!["regulations".into()],
        promotion_dollars: 500,
        price_change_percent: 50,
        hours_change_minutes: 180,
        off_percent: 50,
    }
}

fn item(value: &Value) -> Item {
    let reference = Reference {
        now: Utc.with_ymd_and_hms(2026, 11, 27, 17, 0, 0).unwrap(),
        zone: chrono_tz::America::New_York,
    };
    Item::read(value, reference).unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn spa(id: &str, price: f64, active: bool) -> Item {
    item(
        &json!({ "id": id, "category": "spa", "name": format!("Massage {id}"), "description": "A massage.", "active": active,
        "details": { "treatment_type": "Massage", "duration_minutes": 60, "price": price } }),
    )
}

fn pool(hours: &str, fee: Option<&str>) -> Item {
    let details = json!({ "hours": hours, "entry_fee": fee });
    item(
        &json!({ "id": "hours_001", "category": "hours", "name": "Pool", "description": "The pool.", "details": details }),
    )
}

fn promotion(value: f64, active: bool) -> Item {
    item(
        &json!({ "id": "promotions_001", "category": "promotions", "name": "Free play", "description": "Free play.", "active": active,
        "details": { "promo_type": "Free play", "value": value, "valid_from": "2026-11-01", "valid_until": "2026-12-31" } }),
    )
}

fn kinds(before: Option<&Item>, after: &Item, standing: Standing) -> Vec<ContentFinding> {
    let category = after.category.clone();
    let change = Change { before, after };
    let found = guard(&[change], &[(category, standing)].into(), &rules());
    for Finding { problem, .. } in &found[0] {
        for text in [&problem.problem, &problem.fix] {
            assert_ne!(said(Language::Es, text), *text, "not translated");
        }
    }
    found[0].iter().map(|finding| finding.kind).collect()
}

fn among(active: usize) -> Standing {
    Standing {
        active,
        ..Standing::default()
    }
}

#[test] // D31, CMS-40, CMS-43
fn rules_of_a_state_and_large_promotions_need_a_second_person() {
    let rule = item(
        &json!({ "id": "regulations_001", "category": "regulations", "name": "Age", "description": "21 or older.",
        "details": { "regulation_type": "Age restriction", "state": "CT" } }),
    );
    assert_eq!(kinds(None, &rule, among(5)), [ContentFinding::Category]);
    for (value, found) in [(499.99, 0), (500.0, 1), (900.0, 1)] {
        assert_eq!(
            kinds(None, &promotion(value, true), among(5)).len(),
            found,
            "{value}"
        );
    }
    let (on, off) = (promotion(900.0, true), promotion(900.0, false));
    assert!(
        kinds(Some(&on), &off, among(5)).is_empty(),
        "an offer ends at once"
    );
}

#[test] // D31
fn a_price_that_jumps_is_looked_at() {
    for (old, new, jumps) in [
        (100.0, 149.0, false),
        (100.0, 151.0, true),
        (100.0, 50.0, false),
        (100.0, 49.0, true),
        (165.0, 16.5, true),
        (165.0, 1_650.0, true),
        (0.0, 20.0, true),
    ] {
        let found = kinds(Some(&spa("a", old, true)), &spa("a", new, true), among(5));
        assert_eq!(
            found.contains(&ContentFinding::PriceJump),
            jumps,
            "{old} to {new}"
        );
    }
    assert_eq!(amounts(&json!("from $15")), Some((15.0, 15.0)));
    assert_eq!(
        amounts(&json!("$1,250 to $2,000.")),
        Some((1_250.0, 2_000.0))
    );
    assert_eq!(amounts(&json!("free")), None);
    for (name, is) in [
        ("price", true),
        ("ticket_price_min", true),
        ("price_range", false),
        ("minimum_bet", true),
        ("alphabet", false),
    ] {
        assert_eq!(is_price(name), is, "{name}");
    }
}

#[test] // D31
fn hours_that_move_far_are_looked_at() {
    let old = pool("Daily 9am-8pm", Some("from $15"));
    for (new, jumps) in [
        ("Daily 9am-10pm", false),
        ("Daily 9am-11:30pm", true),
        ("Daily 9pm-8am", true),
        ("Mon-Sat 9am-8pm", true),
        ("Daily 8am-8pm", false),
    ] {
        let found = kinds(Some(&old), &pool(new, Some("from $15")), among(5));
        assert_eq!(found.contains(&ContentFinding::HoursJump), jumps, "{new}");
    }
}

#[test] // D31
fn a_fact_that_is_blank_now_is_looked_at() {
    let old = pool("Daily 9am-8pm", Some("from $15"));
    assert_eq!(
        kinds(Some(&old), &pool("Daily 9am-8pm", None), among(5)),
        [ContentFinding::FactsGone]
    );
    assert!(kinds(None, &pool("Daily 9am-8pm", None), among(5)).is_empty());
    // Words without a number do not count as a price.
    let words = pool("Daily 9am-8pm", Some("ask at the desk"));
    assert_eq!(
        kinds(Some(&old), &words, among(5)),
        [ContentFinding::FactsGone]
    );
}

#[test] // CMS-38
fn the_last_active_item_of_a_category_stays() {
    let (on, off) = (spa("a", 100.0, true), spa("a", 100.0, false));
    assert!(kinds(Some(&on), &off, among(1)).contains(&ContentFinding::LastActive));
    assert!(kinds(Some(&on), &off, among(2)).is_empty());
    // If the same changes switch another item on, the last active item may be switched off.
    let (new, rules) = (spa("b", 90.0, true), rules());
    let changes = [
        Change {
            before: Some(&on),
            after: &off,
        },
        Change {
            before: None,
            after: &new,
        },
    ];
    let found = guard(&changes, &[(Category::Spa, among(1))].into(), &rules);
    assert!(
        found[0]
            .iter()
            .all(|f| f.kind != ContentFinding::LastActive),
        "{found:?}"
    );
}

#[test] // D31: a rule does not become something else unseen
fn an_item_that_changes_its_category_is_looked_at_and_counts_as_gone() {
    let before = spa("a", 100.0, true);
    let mut after = before.clone();
    after.category = Category::GeneralInfo;
    let change = Change {
        before: Some(&before),
        after: &after,
    };
    for (active, last) in [(1, true), (4, false)] {
        let found = guard(
            &[change],
            &[(Category::Spa, among(active))].into(),
            &rules(),
        );
        let kinds: Vec<ContentFinding> = found[0].iter().map(|f| f.kind).collect();
        assert!(kinds.contains(&ContentFinding::Category), "{kinds:?}");
        assert_eq!(
            kinds.contains(&ContentFinding::LastActive),
            last,
            "{active}"
        );
    }
}

#[test] // CMS-39
fn more_than_half_of_a_category_is_not_switched_off_at_once() {
    let on: Vec<Item> = (0..3).map(|n| spa(&n.to_string(), 100.0, true)).collect();
    let off: Vec<Item> = (0..3).map(|n| spa(&n.to_string(), 100.0, false)).collect();
    for (count, active, lately, refused) in [
        (2, 4, 0, false),
        (3, 5, 0, true),
        (1, 4, 1, false),
        (1, 3, 2, true),
        (1, 2, 0, false),
    ] {
        let changes: Vec<Change<'_>> = (0..count)
            .map(|n| Change {
                before: Some(&on[n]),
                after: &off[n],
            })
            .collect();
        let standing = Standing {
            active,
            off_lately: lately,
            names: Vec::new(),
        };
        let found = guard(&changes, &[(Category::Spa, standing)].into(), &rules());
        let many = found
            .iter()
            .flatten()
            .any(|f| f.kind == ContentFinding::ManyOff);
        assert_eq!(many, refused, "{count} of {active}, {lately} before");
    }
}

#[test] // CMS-41
fn a_name_that_another_item_has_is_only_warned_of() {
    let standing = Standing {
        active: 2,
        off_lately: 0,
        names: vec![("massage a".into(), "other".into())],
    };
    let change = spa("a", 100.0, true);
    assert_eq!(
        kinds(None, &change, standing.clone()),
        [ContentFinding::NameTaken]
    );
    assert_eq!(weight_of(ContentFinding::NameTaken), Weight::Warn);
    let own = Standing {
        names: vec![("massage a".into(), "a".into())],
        ..standing
    };
    assert!(kinds(Some(&change), &change, own).is_empty());
}

proptest::proptest! {
    #[test]
    fn an_item_that_does_not_change_is_never_stopped(price in 0.0f64..10_000.0, active in 1usize..50) {
        let same = spa("a", price, true);
        proptest::prop_assert!(kinds(Some(&same), &same, among(active)).is_empty());
    }
}

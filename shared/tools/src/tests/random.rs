//! Tests that any call with any arguments returns a value, and that the caps on offers hold.

use proptest::prelude::*;
use serde_json::{Value, json};
use seven_guest::{Phase, offers::Facts};

use super::house::{House, all_tools, facts, had};
use crate::Effect;

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,30}".prop_map(Value::from),
        word(),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let key = prop_oneof![key(), "\\PC{0,8}".boxed()];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(key, inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}

/// Words that some tool understands.
fn word() -> BoxedStrategy<Value> {
    let words = [
        "Ember Room",
        "promo_dinner",
        "promo_few",
        "offer_own",
        "promo_play",
        "today",
        "friday",
        "2026-12-25",
        "2026-02-30",
        "7pm",
        "24:00",
        "party_size",
        "interests",
        "jazz",
        "name",
        "Ana",
        "visit_date",
        "1:0:0",
        "12am",
    ];
    proptest::sample::select(words.to_vec())
        .prop_map(Value::from)
        .boxed()
}

fn key() -> BoxedStrategy<String> {
    let keys = [
        "query",
        "category",
        "open_now",
        "venue",
        "date",
        "time",
        "party_size",
        "from",
        "to",
        "field",
        "value",
        "item",
        "offer_id",
        "redeemed",
    ];
    proptest::sample::select(keys.to_vec())
        .prop_map(str::to_owned)
        .boxed()
}

/// Arguments that a tool is likelier to accept than those of `any_json`.
fn likely() -> impl Strategy<Value = Value> {
    let value = prop_oneof![3 => word(), 1 => any_json().boxed()];
    proptest::collection::btree_map(key(), value, 0..3).prop_map(|map| json!(map))
}

fn any_call() -> impl Strategy<Value = (String, Value)> {
    let name = prop_oneof![
        9 => proptest::sample::select(all_tools()).prop_map(str::to_owned).boxed(),
        1 => "\\PC{0,20}".boxed(),
    ];
    (name, prop_oneof![any_json().boxed(), likely().boxed()])
}

fn any_facts() -> impl Strategy<Value = Facts> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (flags, 0u32..3, 0u32..2).prop_map(|((asked, marketing, gaming, offer), arc, today)| Facts {
        asked,
        marketing_consent: marketing,
        responsible_gaming: gaming,
        phase: if offer { Phase::Offer } else { Phase::Active },
        offers_this_arc: arc,
        offers_today: today,
        ..facts()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test] // AGENT-47
    fn any_arguments_give_a_value(
        calls in proptest::collection::vec(any_call(), 1..6),
        text in "\\PC{0,60}",
    ) {
        let house = House::new()
            .say(&text)
            .say("I'm Ana, we love jazz, any deals?");
        let mut toolbox = house.toolbox();
        for (name, arguments) in &calls {
            let result = toolbox.call(name, arguments);
            toolbox.took(1);
            prop_assert!(result.is_object(), "{} {}", name, result);
        }
        prop_assert_eq!(toolbox.calls().len(), calls.len());
        let kept = serde_json::to_value(toolbox.effects()).unwrap();
        prop_assert_eq!(
            &serde_json::from_value::<Vec<Effect>>(kept).unwrap()[..],
            toolbox.effects()
        );
    }

    #[test] // CONV-36: caps, stock and gaming, whatever is called in whatever order
    fn the_caps_hold(
        calls in proptest::collection::vec(
            (
                proptest::sample::select(vec![
                    "create_offer",
                    "get_eligible_offers",
                    "track_redemption",
                ]),
                word(),
            ),
            1..20,
        ),
        facts in any_facts(),
        days in proptest::collection::vec(0i64..40, 0..5),
        issued in 0u32..4,
    ) {
        let offers: Vec<_> = days.iter().map(|days| had("earlier", *days, 15)).collect();
        let house = House {
            facts,
            offers,
            issued: [("promo_few".to_owned(), issued)].into(),
            ..House::new()
        };
        let mut toolbox = house.toolbox();
        for (tool, item) in &calls {
            let arguments = if *tool == "create_offer" {
                json!({ "item": item })
            } else {
                json!({})
            };
            toolbox.call(tool, &arguments);
        }
        let made: Vec<_> = toolbox.staged().collect();
        prop_assert!(
            made.len() + usize::try_from(facts.offers_this_arc.max(facts.offers_today)).unwrap()
                <= 1
                || made.is_empty()
        );
        if let [offer] = made[..] {
            let recent = days.iter().filter(|days| **days < 7).count();
            let dollars = u32::try_from(recent).unwrap() * 15 + offer.dollars;
            prop_assert!(dollars <= 50, "{} dollars this week", dollars);
            prop_assert!(days.iter().all(|days| *days >= 2), "one in an arc");
            prop_assert!(offer.item != "promo_few" || issued < 2);
            prop_assert!(offer.item != "promo_play" || !facts.responsible_gaming);
            prop_assert!(facts.asked || facts.marketing_consent);
        }
        prop_assert_eq!(toolbox.offer_calls().len(), calls.len());
    }
}

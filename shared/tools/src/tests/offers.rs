//! Tests that an eligible guest gets an offer, and gets it once.

use serde_json::{Value, json};
use seven_domain::{OfferStatus, OfferTier, TurnId};
use seven_guest::{Confidence, Key, Phase, Value as Known, offers::Facts};
use uuid::Uuid;

use super::house::{House, facts, had, kind, now, turn};
use crate::{Effect, effect::offer_id};

fn offered(result: &Value) -> Vec<&str> {
    result["offers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|offer| offer["item"].as_str().unwrap())
        .collect()
}

fn with(facts: Facts) -> House {
    House {
        facts,
        ..House::new()
    }
}

/// Makes a house whose guest is known well enough for an offer of free play.
fn well_known() -> House {
    let mut house = House::new();
    house.know(Key::Cuisine, Known::list(["steak"]));
    house.know(Key::Email, Known::text("ana.b@example.com"));
    house
}

#[test] // CONV-35, AGENT-35: eligibility is decided here, and its thresholds are not told
fn eligible_offers_are_current_rows_the_policy_admits() {
    let result = House::new().call("get_eligible_offers", &json!({}));
    assert_eq!(
        offered(&result),
        ["promo_dinner", "promo_play", "promo_few", "offer_own"],
        "{result}"
    );
    let told = result.to_string();
    for secret in ["completeness", "threshold", "tier", "percent"] {
        assert!(!told.contains(secret), "{secret}: {told}");
    }
    assert_eq!(result["offers"][0]["how_to_redeem"], json!("At host"));
    assert_eq!(result["offers"][0]["last_day"], json!("2026-12-31"));
}

#[test] // CONV-35, CONV-36, C-8, C-27, SEC-83
fn a_refusal_says_why() {
    let f = facts();
    for (house, item, expected) in [
        (House::new(), "promo_dinner", "none"),
        (House::new(), "offer_own", "none"),
        (House::new(), "promo_soon", "not_yet_valid"),
        (House::new(), "promo_over", "unknown_offer"),
        (House::new(), "offer_vague", "unknown_offer"),
        (House::new(), "dining_001", "unknown_offer"),
        (House::new(), "no such row", "unknown_offer"),
        (House::new(), "promo_suite", "incomplete"),
        (
            with(Facts {
                suppressed: true,
                ..f
            }),
            "promo_dinner",
            "suppressed",
        ),
        (
            with(Facts {
                conversational_consent: false,
                ..f
            }),
            "promo_dinner",
            "no_consent",
        ),
        (
            with(Facts {
                marketing_consent: false,
                ..f
            }),
            "promo_dinner",
            "no_marketing_consent",
        ),
        (
            with(Facts {
                self_excluded: true,
                ..f
            }),
            "promo_dinner",
            "self_excluded",
        ),
        (with(Facts { paused: true, ..f }), "promo_dinner", "paused"),
        (
            with(Facts {
                substantive_exchanges: 2,
                ..f
            }),
            "promo_dinner",
            "too_few_exchanges",
        ),
        (
            with(Facts {
                readiness: Confidence::ZERO,
                ..f
            }),
            "promo_dinner",
            "not_ready",
        ),
        (
            with(Facts {
                phase: Phase::Active,
                ..f
            }),
            "promo_dinner",
            "wrong_phase",
        ),
        (
            with(Facts {
                texts_since_rejection: Some(2),
                ..f
            }),
            "promo_dinner",
            "just_rejected",
        ),
        // After a cry for help about gambling, free play is refused, but dinner is allowed.
        (
            with(Facts {
                responsible_gaming: true,
                ..f
            }),
            "promo_play",
            "responsible_gaming",
        ),
        (
            with(Facts {
                responsible_gaming: true,
                ..f
            }),
            "promo_dinner",
            "none",
        ),
    ] {
        let mut toolbox = house.toolbox();
        let result = toolbox.call("create_offer", &json!({ "item": item }));
        assert_eq!(kind(&result), expected, "{item}: {result}");
        assert_eq!(
            toolbox.effects().len(),
            usize::from(expected == "none"),
            "{item}"
        );
        let call = &toolbox.offer_calls()[0];
        assert_eq!(
            call.refusal.as_deref(),
            (expected != "none").then_some(expected),
            "{item}"
        );
    }
    let mut off = House::new();
    off.casino.features.comp_agent_enabled = false;
    assert_eq!(
        kind(&off.call("create_offer", &json!({"item": "promo_dinner"}))),
        "offers_off"
    );
}

#[test] // CONV-36: signs from the profile and from the record count alike
fn a_sign_of_problem_gambling_in_the_profile_is_enough() {
    let mut house = well_known();
    house.profile.engagement.responsible_gaming_triggered = true;
    let result = house.call("get_eligible_offers", &json!({}));
    assert_eq!(
        offered(&result),
        ["promo_dinner", "promo_few", "offer_own"],
        "{result}"
    );
}

#[test] // C-27: what a person decides is not made by a tool
fn the_most_valuable_ones_need_a_person() {
    let mut house = well_known();
    house.know(Key::VisitDate, Known::Date(now().date_naive()));
    house.know(Key::Interests, Known::list(["jazz"]));
    house.know(Key::Occasion, Known::text("birthday"));
    assert_eq!(
        kind(&house.call("create_offer", &json!({"item": "promo_suite"}))),
        "needs_approval"
    );
}

#[test] // C-8: who asks needs no readiness; who declines does not ask
fn a_guest_may_ask() {
    let shy = || {
        with(Facts {
            readiness: Confidence::ZERO,
            marketing_consent: false,
            phase: Phase::Active,
            ..facts()
        })
    };
    for (text, expected) in [
        ("Any deals for us?", "none"),
        ("Tienen alguna oferta?", "none"),
        ("No offers please", "no_marketing_consent"),
        ("When is dinner?", "no_marketing_consent"),
    ] {
        let result = shy()
            .say(text)
            .call("create_offer", &json!({"item": "promo_dinner"}));
        assert_eq!(kind(&result), expected, "{text}");
    }
    let house = with(Facts {
        readiness: Confidence::ZERO,
        ..facts()
    });
    let mut toolbox = house.toolbox();
    toolbox.planned(Confidence::percent(80));
    assert_eq!(
        kind(&toolbox.call("create_offer", &json!({"item": "promo_dinner"}))),
        "none",
        "AGENT-54: the plan says so"
    );
}

#[test] // D4: once, whatever the model does, and the same once more after a crash
fn an_offer_is_made_once() {
    let house = House::new();
    let mut toolbox = house.toolbox();
    let first = toolbox.call("create_offer", &json!({"item": "promo_dinner"}));
    let second = toolbox.call("create_offer", &json!({"item": "promo_dinner"}));
    assert_eq!(first, second);
    assert_eq!(
        kind(&toolbox.call("create_offer", &json!({"item": "offer_own"}))),
        "arc_cap"
    );
    let [Effect::Offer(offer)] = toolbox.effects() else {
        panic!("{:?}", toolbox.effects())
    };
    assert_eq!(
        (offer.tier, offer.dollars, offer.status),
        (OfferTier::Dining, 10, OfferStatus::Issued)
    );
    assert_eq!(
        offer.expires_at.to_rfc3339(),
        "2027-01-01T05:00:00+00:00",
        "midnight at the property"
    );
    let mut again = house.toolbox();
    again.call("create_offer", &json!({"item": "promo_dinner"}));
    assert_eq!(again.effects(), toolbox.effects());
    assert_eq!(offer.id.0.get_version_num(), 5);
    assert_ne!(
        offer_id(turn(), "promo_dinner"),
        offer_id(turn(), "promo_few")
    );
    assert_ne!(
        offer_id(turn(), "promo_dinner"),
        offer_id(TurnId(Uuid::nil()), "promo_dinner")
    );
    // The known value of `uuid5(NAMESPACE_DNS, "www.example.com")`, made as RFC 9562 says.
    let dns = TurnId("6ba7b810-9dad-11d1-80b4-00c04fd430c8".parse().unwrap());
    assert_eq!(
        offer_id(dns, "www.example.com").to_string(),
        "2ed6657d-e927-568b-95e1-2665a8aea6a2"
    );
}

#[test] // CONV-36: per arc, day, month, week; what was taken back does not count
fn earlier_offers_count_towards_the_caps() {
    let house = |offers| House {
        offers,
        ..House::new()
    };
    for (offers, expected) in [
        (vec![had("a", 1, 10)], "arc_cap"),
        (vec![had("a", 0, 10)], "arc_cap"),
        (vec![had("a", 3, 10)], "none"),
        (vec![had("a", 3, 45)], "weekly_value"),
        (vec![had("a", 8, 45)], "none"),
        (
            (4..8).map(|days| had("a", days, 1)).collect(),
            "monthly_cap",
        ),
        ((4..8).map(|days| had("a", days + 20, 1)).collect(), "none"),
        (
            vec![seven_domain::Offer {
                status: OfferStatus::Revoked,
                ..had("a", 0, 50)
            }],
            "none",
        ),
        // The earlier offer is still open, so the same one is returned.
        (vec![had("promo_dinner", 1, 10)], "none"),
    ] {
        let result = house(offers.clone()).call("create_offer", &json!({"item": "promo_dinner"}));
        assert_eq!(kind(&result), expected, "{offers:?}");
    }
    let held = house(vec![had("promo_dinner", 1, 10)]);
    let mut toolbox = held.toolbox();
    let same = toolbox.call("create_offer", &json!({"item": "promo_dinner"}));
    assert_eq!(
        (&same["offer_id"], toolbox.effects().len()),
        (&json!(held.offers[0].id), 0)
    );
}

#[test] // CMS-21: the casino's stock
fn no_more_than_there_are() {
    for (issued, expected) in [
        (0, "none"),
        (1, "none"),
        (2, "sold_out"),
        (u32::MAX, "sold_out"),
    ] {
        let house = House {
            issued: [("promo_few".to_owned(), issued)].into(),
            ..House::new()
        };
        assert_eq!(
            kind(&house.call("create_offer", &json!({"item": "promo_few"}))),
            expected,
            "{issued}"
        );
        let eligible = house.call("get_eligible_offers", &json!({}));
        assert_eq!(
            offered(&eligible).contains(&"promo_few"),
            expected == "none"
        );
    }
}

#[test] // CONV-35
fn redemption_is_noted_once() {
    let over = seven_domain::Offer {
        expires_at: now(),
        ..had("promo_few", 9, 5)
    };
    let used = seven_domain::Offer {
        status: OfferStatus::Redeemed,
        redeemed_at: Some(now()),
        ..had("offer_own", 20, 8)
    };
    let house = House {
        offers: vec![had("promo_dinner", 3, 10), over, used],
        ..House::new()
    };
    let id = |n: usize| house.offers[n].id.to_string();
    let mut toolbox = house.toolbox();
    let all = toolbox.call("track_redemption", &json!({}));
    let states: Vec<_> = all["offers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|offer| offer["status"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["issued", "expired", "redeemed"]);
    for (arguments, expected) in [
        (json!({"redeemed": true}), "bad_arguments"),
        (json!({"offer_id": "nonsense"}), "unknown_offer"),
        (json!({"offer_id": Uuid::nil()}), "unknown_offer"),
        (json!({"offer_id": id(1), "redeemed": true}), "not_open"),
        (json!({"offer_id": id(0)}), "none"),
        (json!({"offer_id": id(0), "redeemed": true}), "none"),
        (json!({"offer_id": id(0), "redeemed": true}), "none"),
        (json!({"offer_id": id(2), "redeemed": true}), "none"),
    ] {
        assert_eq!(
            kind(&toolbox.call("track_redemption", &arguments)),
            expected,
            "{arguments}"
        );
    }
    assert_eq!(
        toolbox.effects(),
        [Effect::Redeemed {
            offer: house.offers[0].id,
            at: now()
        }]
    );
    let fresh = House::new();
    let mut toolbox = fresh.toolbox();
    let made = toolbox.call("create_offer", &json!({"item": "promo_dinner"}))["offer_id"].clone();
    assert_eq!(
        kind(&toolbox.call(
            "track_redemption",
            &json!({"offer_id": made, "redeemed": true})
        )),
        "too_soon"
    );
}

#[test] // AGENT-45, AGENT-46
fn every_call_about_offers_is_audited() {
    let house = with(Facts {
        suppressed: true,
        ..facts()
    })
    .say("I'm Zebulon, any deals?");
    let mut toolbox = house.toolbox();
    toolbox.call("get_eligible_offers", &json!({}));
    toolbox.took(3);
    toolbox.call("get_guest_profile", &json!({}));
    toolbox.took(8);
    toolbox.hand_to(&super::house::agent(&["search_dining"]));
    assert_eq!(
        kind(&toolbox.call("create_offer", &json!({"item": "promo_dinner"}))),
        "not_your_tool"
    );
    let calls = toolbox.offer_calls();
    let told: Vec<_> = calls
        .iter()
        .map(|call| (call.tool.as_str(), call.refusal.as_deref(), call.millis))
        .collect();
    assert_eq!(
        told,
        [
            ("get_eligible_offers", Some("suppressed"), 3),
            ("create_offer", Some("not_your_tool"), 0)
        ]
    );
    assert!(calls.iter().all(|call| call.completeness > 20));
    assert!(!serde_json::to_string(calls).unwrap().contains("Zebulon"));
    assert_eq!(
        toolbox
            .calls()
            .iter()
            .map(|call| call.millis)
            .collect::<Vec<_>>(),
        [3, 8, 0]
    );
}

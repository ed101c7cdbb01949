use chrono::TimeDelta;
use proptest::prelude::*;
use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::completeness::completeness;

fn at(day: i64) -> DateTime<Utc> {
    "2026-11-22T15:00:00Z".parse::<DateTime<Utc>>().unwrap() + TimeDelta::days(day)
}

fn grant(n: u128) -> Grant {
    Grant {
        scope: Scope::Personalization,
        detail: String::new(),
        reference: GrantRef(Uuid::from_u128(n)),
        version: 1,
    }
}

fn said(key: Key, value: Value, source: Source, percent: u8, day: i64) -> Observation {
    let confidence = Confidence::percent(percent);
    Observation {
        key,
        value,
        confidence,
        source,
        at: at(day),
        grant: grant(1),
        correction: false,
    }
}

fn name(text: &str, source: Source, percent: u8, day: i64) -> Observation {
    said(Key::Name, Value::text(text), source, percent, day)
}

#[test] // D27: a person of the casino corrects whatever is known; a guest's newer plan still counts
fn a_person_corrects_every_kind_of_fact() {
    let entered = |key, value, day| Observation {
        correction: true,
        ..said(key, value, Source::Operator, 95, day)
    };
    let guest = |key, value, day| said(key, value, Source::SelfReported, 95, day);
    let mut profile = Profile::new(at(0));
    for (key, told, right) in [
        (Key::PartySize, Value::Int(4), Value::Int(6)),
        (Key::Dietary, Value::list(["vegan"]), Value::list(["halal"])),
        (Key::Name, Value::text("Ana"), Value::text("Anna")),
    ] {
        profile.observe(guest(key, told, 1));
        let merged = profile.observe(entered(key, right.clone(), 0));
        assert_eq!(merged, Merged::Replaced, "{}", key.path());
        assert_eq!(profile.seen(key, at(1)), Some(&right));
    }
    let changed = profile.observe(guest(Key::PartySize, Value::Int(5), 2));
    assert_eq!(changed, Merged::Replaced);
    assert!(profile.forget(Key::Name, at(2)) && !profile.forget(Key::Name, at(2)));
    assert_eq!(profile.field(Key::Name), None);
}

#[test] // D27
fn values_are_read_as_a_person_enters_them() {
    let long = "x".repeat(201);
    for (kind, text, value) in [
        (Kind::Text, " Ana ", Some(Value::text("Ana"))),
        (Kind::Text, &*long, None),
        (Kind::Text, "a\u{1b}[0m", None),
        (Kind::Int, "6", Some(Value::Int(6))),
        (Kind::Int, "-1", None),
        (Kind::Int, "many", None),
        (Kind::Bool, "Sí", Some(Value::Bool(true))),
        (Kind::Bool, "no", Some(Value::Bool(false))),
        (Kind::Bool, "maybe", None),
        (
            Kind::Date,
            "2026-12-24",
            Some(Value::Date("2026-12-24".parse().unwrap())),
        ),
        (Kind::Date, "24/12", None),
        (
            Kind::List,
            "vegan, ,no nuts;",
            Some(Value::list(["vegan", "no nuts"])),
        ),
        (Kind::List, ",", None),
        (Kind::List, &*long, None),
    ] {
        assert_eq!(kind.read(text), value, "{kind:?} {text}");
    }
}

#[test] // DATA-19, CONV-52
fn a_turn_counts() {
    let mut profile = Profile::new(at(0));
    profile.observe(name("Ana", Source::SelfReported, 95, 0));
    let turn = Counted {
        now: at(1),
        texts: 2,
        fresh: true,
        offers: 1,
        redeemed: 0,
        escalations: 1,
        mood: Some(crate::escalation::Mood::Positive),
    };
    profile.count(&turn);
    profile.count(&Counted {
        fresh: false,
        mood: None,
        ..turn
    });
    let engagement = &profile.engagement;
    assert_eq!(
        (
            engagement.total_conversations,
            engagement.total_messages_received,
            engagement.total_messages_sent
        ),
        (1, 4, 2)
    );
    assert_eq!((engagement.offers_sent, engagement.escalations), (2, 2));
    assert_eq!(
        engagement.sentiment_trend.as_deref(),
        Some("positive"),
        "kept when a turn tells nothing"
    );
    assert_eq!(
        engagement.profile_completeness,
        completeness(&profile, at(1))
    );
    assert!(engagement.profile_completeness > Confidence::ZERO);
}

fn companion(key: CompanionKey, value: Value) -> Observation<CompanionKey> {
    let Observation {
        confidence,
        source,
        at,
        grant,
        correction,
        ..
    } = name("x", Source::SelfReported, 90, 0);
    Observation {
        key,
        value,
        confidence,
        source,
        at,
        grant,
        correction,
    }
}

fn confidence(profile: &Profile, key: Key) -> f64 {
    profile.field(key).unwrap().confidence.get()
}

#[test]
fn confirmed_contradicted_and_faded() {
    // DATA-18, C-24: confidence after confirmation, contradiction and time
    let mut p = Profile::new(at(0));
    assert_eq!(
        p.observe(name("Maria", Source::ContextualExtraction, 70, 0)),
        Merged::Added
    );
    assert_eq!(
        p.observe(name("maria", Source::ContextualExtraction, 70, 1)),
        Merged::Confirmed
    );
    assert_eq!(
        confidence(&p, Key::Name),
        0.70,
        "the same source is no second one"
    );
    assert_eq!(
        p.observe(name("Maria", Source::Inferred, 60, 1)),
        Merged::Confirmed
    );
    assert_eq!(confidence(&p, Key::Name), 0.85);
    assert_eq!(
        p.observe(name("Marta", Source::Inferred, 60, 2)),
        Merged::Contradicted
    );
    assert_eq!(confidence(&p, Key::Name), 0.55);
    let field = p.field(Key::Name).unwrap();
    assert_eq!(field.value.as_text(), Some("Maria"), "the old value stays");
    assert!(field.needs_review && field.candidate.is_some());
    // Confidence after each further 90 days: 0.55, 0.495, 0.4455, 0.4009, 0.3608
    assert!(p.seen(Key::Name, at(1 + 3 * 90)).is_some());
    assert!(
        p.seen(Key::Name, at(1 + 4 * 90)).is_none(),
        "below 0.40 agents do not see it"
    );
    assert!(p.resolve(Key::Name, Resolution::TakeCandidate, at(3)));
    assert_eq!(p.seen(Key::Name, at(3)).unwrap().as_text(), Some("Marta"));
    assert_eq!(p.under_review().count(), 0);
}

#[test]
fn sources_bound_confidence() {
    // DATA-17: each source limits the confidence
    let mut p = Profile::new(at(0));
    p.observe(name("Maria", Source::Inferred, 99, 0));
    assert_eq!(confidence(&p, Key::Name), 0.70);
}

#[test]
fn plans_change_and_corrections_stand() {
    let mut p = Profile::new(at(0));
    let party = |n, day| said(Key::PartySize, Value::Int(n), Source::SelfReported, 90, day);
    p.observe(party(4, 0));
    assert_eq!(p.observe(party(6, 1)), Merged::Replaced);
    assert_eq!(p.observe(party(5, 0)), Merged::Stale, "late, not newer");
    assert_eq!(p.seen(Key::PartySize, at(1)).unwrap().as_int(), Some(6));
    p.observe(name("Maria", Source::SelfReported, 90, 0));
    let right = Observation {
        correction: true,
        ..name("Mariana", Source::SelfReported, 90, 1)
    };
    assert_eq!(p.observe(right), Merged::Replaced);
    assert!(!p.field(Key::Name).unwrap().needs_review);
    assert_eq!(p.field(Key::Name).unwrap().history.len(), 2);
}

#[test]
fn lists_grow() {
    let mut p = Profile::new(at(0));
    let diet = |items: &[&str]| {
        said(
            Key::Dietary,
            Value::list(items.to_vec()),
            Source::SelfReported,
            90,
            0,
        )
    };
    p.observe(diet(&["vegan"]));
    assert_eq!(p.observe(diet(&["allergy: peanuts"])), Merged::Extended);
    assert_eq!(p.observe(diet(&["Vegan"])), Merged::Confirmed);
    assert_eq!(
        p.seen(Key::Dietary, at(0)).unwrap().as_list().unwrap(),
        ["allergy: peanuts", "vegan"]
    );
    assert_eq!(
        p.observe(said(
            Key::Dietary,
            Value::Int(1),
            Source::SelfReported,
            90,
            0
        )),
        Merged::Refused
    );
}

#[test]
fn withdrawn_fields_are_nowhere_but_in_the_export() {
    // DATA-41, DATA-42, C-30: covers fields three levels deep, and companions
    let mut p = Profile::new(at(0));
    p.observe(said(
        Key::Cuisine,
        Value::list(["italian"]),
        Source::SelfReported,
        90,
        0,
    ));
    p.observe(Observation {
        grant: grant(2),
        ..name("Maria", Source::SelfReported, 90, 0)
    });
    p.meet(vec![
        companion(CompanionKey::Relationship, Value::text("spouse")),
        companion(CompanionKey::Name, Value::text("Carlos")),
    ]);
    assert_eq!(p.context(at(0)).facts.len(), 4);
    let gone = p.withdraw(&grant(1).reference, at(1));
    assert_eq!(
        gone,
        [
            "preferences.dining.cuisine_preferences",
            "companions.0.relationship",
            "companions.0.name"
        ]
    );
    assert_eq!(
        p.context(at(1)).to_json(),
        json!({ "core_identity": { "name": "Maria" } })
    );
    assert!(
        p.withdraw(&grant(1).reference, at(2)).is_empty(),
        "only what changes counts"
    );
    let cuisine = |g| Observation {
        grant: grant(g),
        ..said(
            Key::Cuisine,
            Value::list(["thai"]),
            Source::SelfReported,
            90,
            2,
        )
    };
    assert_eq!(p.observe(cuisine(1)), Merged::Withdrawn);
    let before = completeness(&p, at(2));
    assert_eq!(p.observe(cuisine(3)), Merged::Replaced);
    assert!(completeness(&p, at(2)) > before);
    assert_eq!(
        p.export(at(2))["preferences"]["dining"]["cuisine_preferences"]["value"],
        json!(["thai"])
    );
    assert_eq!(
        p.export(at(2))["companions"][0]["name"]["consent"]["status"],
        json!("withdrawn")
    );
}

#[test]
fn companions_are_told_apart() {
    let mut p = Profile::new(at(0));
    let child = |age| {
        vec![
            companion(CompanionKey::Relationship, Value::text("child")),
            companion(CompanionKey::Age, Value::Int(age)),
        ]
    };
    p.meet(child(5));
    p.meet(child(8));
    assert_eq!(p.meet(child(5)).unwrap().index, 0);
    let spouse = |name: &str| {
        vec![
            companion(CompanionKey::Relationship, Value::text("spouse")),
            companion(CompanionKey::Name, Value::text(name)),
        ]
    };
    p.meet(spouse("Carlos"));
    assert_eq!(
        p.meet(spouse("Carl")).unwrap().merged[1].1,
        Merged::Contradicted
    );
    assert_eq!(p.companions().len(), 3);
    assert!(
        p.meet(vec![companion(CompanionKey::Age, Value::Int(3))])
            .is_none()
    );
}

#[test]
fn retention() {
    // DATA-55: fields are removed when their retention ends
    let mut p = Profile::new(at(0));
    p.observe(name("Maria", Source::SelfReported, 90, 0));
    p.observe(said(
        Key::Games,
        Value::list(["poker"]),
        Source::SelfReported,
        90,
        0,
    ));
    p.observe(said(
        Key::Cuisine,
        Value::list(["thai"]),
        Source::SelfReported,
        90,
        0,
    ));
    p.meet(vec![companion(
        CompanionKey::Relationship,
        Value::text("spouse"),
    )]);
    assert!(p.expire(at(364)).is_empty());
    assert_eq!(
        p.expire(at(365)),
        ["preferences.gaming.preferred_games", "companions"]
    );
    assert_eq!(
        p.expire(at(730)),
        ["preferences.dining.cuisine_preferences"]
    );
    assert!(p.field(Key::Name).is_some());
}

#[test]
fn older_newer_and_broken_documents_are_read() {
    // DATA-14, C-22, C-23, C-44, DATA-15, DATA-16: every document can be read
    let field = |value: serde_json::Value| {
        json!({
            "value": value,
            "confidence": 0.9,
            "source": "self_reported",
            "collected_at": "2026-03-15T14:22:00Z",
        })
    };
    let old = json!({
        "core_identity": {
            "name": field(json!("Maria")),
            "phone": "+12035551234",
            "date_of_birth": "1980-01-01",
            "email": "broken",
        },
        "preferences": {
            "dietary_restrictions": field(json!(["gluten-free"])),
            "level": field(json!("high")),
        },
        "visit_context": {
            "visit_history": [{ "date": "2026-01-20", "source": "crm_import" }],
            "occasion": null,
        },
        "future": { "thing": 1 },
        "consent": { "sms_opt_in": true, "new_flag": 1 },
    });
    let read = Profile::from_json(old).unwrap();
    let p = read.profile;
    assert_eq!(read.skipped, ["core_identity.email"]);
    assert_eq!(p.meta.version, VERSION);
    assert!(p.consent.sms_opt_in);
    for key in [Key::Name, Key::Dietary, Key::GamingLevel, Key::VisitHistory] {
        assert!(p.field(key).is_some(), "{key:?}");
    }
    let json = p.to_json();
    assert_eq!(json["future"]["thing"], 1, "kept for whoever knows it");
    assert!(
        json["core_identity"].get("date_of_birth").is_none()
            && json["core_identity"].get("phone").is_none()
    );
    assert_eq!(
        Profile::from_json(json.clone()).unwrap().profile.to_json(),
        json
    );
    assert!(
        !format!("{p:?}").contains("Maria"),
        "Debug shows nothing the guest said"
    );
    let newer = Profile::from_json(
        json!({ "_version": 9, "core_identity": { "name": field(json!("Ana")) } }),
    )
    .unwrap()
    .profile;
    assert_eq!(newer.to_json()["_version"], 9);
    assert_eq!(Profile::from_json(json!([])), Err(ReadError::NotAnObject));
    assert_eq!(
        Profile::from_json(json!({ "_version": "x" })),
        Err(ReadError::Version)
    );
    assert_eq!(
        Profile::from_json(json!({
            "_version": 3,
            "core_identity": { "name": { "value": "X", "confidence": 1.5 } },
        }))
        .unwrap()
        .skipped
        .len(),
        1
    );
}

#[test]
fn every_key_has_a_place_of_its_own() {
    let mut paths: Vec<_> = Key::ALL.iter().map(|key| key.path()).collect();
    paths.sort_unstable();
    paths.dedup();
    assert_eq!(paths.len(), Key::ALL.len());
    // C-42: every extraction target has its own field
    for target in [
        "kids_ages",
        "companion_preferences",
        "date_preferences",
        "visit_frequency",
        "spend_pattern",
        "gaming_level",
        "loyalty_tier",
    ] {
        assert!(home_of_target(target).is_some(), "{target}");
    }
    let old = Profile {
        meta: Meta::new(at(0)),
        ..Profile::new(at(0))
    };
    assert_eq!(old.to_reconsent(2), 0);
}

fn any_source() -> impl Strategy<Value = Source> {
    (0..Source::ALL.len()).prop_map(|n| Source::ALL[n])
}

proptest! {
    #[test]
    fn agreement_commutes(
        seen in proptest::collection::vec((any_source(), 0..=100u8, 0..200i64), 1..6),
        turn in 0..6usize,
    ) {
        let mut turned = seen.clone();
        turned.rotate_left(turn % seen.len());
        let read = |rows: &[(Source, u8, i64)]| {
            let mut p = Profile::new(at(0));
            for (source, percent, day) in rows {
                p.observe(name("Maria", *source, *percent, *day));
            }
            let field = p.field(Key::Name).unwrap();
            (field.confidence, field.confirmed(), field.collected_at)
        };
        prop_assert_eq!(read(&seen), read(&turned));
    }

    #[test]
    fn lists_commute(
        a in proptest::collection::vec("[a-d]", 1..4),
        b in proptest::collection::vec("[a-d]", 1..4),
    ) {
        let read = |rows: [&Vec<String>; 2]| {
            let mut p = Profile::new(at(0));
            for row in rows {
                p.observe(said(
                    Key::Interests,
                    Value::list(row.clone()),
                    Source::SelfReported,
                    90,
                    0,
                ));
            }
            let mut all = p.seen(Key::Interests, at(0)).unwrap().as_list().unwrap().to_vec();
            all.sort();
            all.dedup();
            all
        };
        prop_assert_eq!(read([&a, &b]), read([&b, &a]));
    }

    #[test]
    fn anything_goes_in_and_stays_in_bounds(
        rows in proptest::collection::vec(
            (0..Key::ALL.len(), 0..3i64, any_source(), 0..=100u8, -400..400i64, any::<bool>()),
            0..30,
        ),
        day in 0..2000i64,
    ) {
        let mut p = Profile::new(at(0));
        for (key, pick, source, percent, day, correction) in rows {
            let key = Key::ALL[key];
            let value = match key.kind() {
                Kind::Text => Value::text(format!("v{pick}")),
                Kind::Int => Value::Int(pick),
                Kind::Bool => Value::Bool(pick == 0),
                Kind::Date => Value::Date(at(pick).date_naive()),
                Kind::List => Value::list([format!("v{pick}")]),
            };
            let before = completeness(&p, at(day));
            let seen = Observation { correction, ..said(key, value, source, percent, day) };
            if p.observe(seen) == Merged::Added {
                prop_assert!(completeness(&p, at(day)) >= before, "monotone");
            }
        }
        for (_, field) in p.fields() {
            prop_assert!((0.0..=1.0).contains(&field.confidence.get()));
            prop_assert!(field.effective(at(day)) <= field.confidence);
            prop_assert!(field.history.len() <= 20);
        }
        prop_assert!((0.0..=1.0).contains(&completeness(&p, at(day)).get()));
        let json = p.to_json();
        prop_assert_eq!(&Profile::from_json(json.clone()).unwrap().profile.to_json(), &json);
    }
}

#[test] // DATA-44
fn the_inventory_has_every_field_with_the_days_that_it_is_kept() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let inventory = std::fs::read_to_string(root.join("docs/retention.md")).unwrap();
    for key in Key::ALL {
        let name = format!("`{}`", key.path());
        let row = inventory.lines().find(|line| line.contains(&name));
        let row = row.unwrap_or_else(|| panic!("{name} has no row"));
        let kept = match key.section().keep_days() {
            Some(days) => format!("| {days} days |"),
            None => "| until the guest is forgotten |".to_owned(),
        };
        assert!(row.contains(&kept), "{name}: {kept}");
    }
}

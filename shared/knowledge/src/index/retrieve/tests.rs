use std::collections::{BTreeMap, HashMap};

use chrono::TimeZone;
use chrono_tz::America::New_York;
use serde_json::json;

use super::*;
use crate::{Reference, Thresholds};

fn now() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 3, 6, 17, 0, 0).unwrap()
}

fn items() -> Vec<Item> {
    let values = [
        json!({
            "id": "pool",
            "category": "amenities",
            "name": "Lakeside Pool",
            "description": "Heated pool with a hot tub.",
        }),
        json!({
            "id": "shut",
            "category": "amenities",
            "name": "Old Pool",
            "description": "Pool under repair.",
            "active": false,
        }),
        json!({"id": "past", "category": "entertainment", "name": "Pool Party",
        "description": "Swim and dance.",
        "details": {
            "event_type": "Pool party",
            "venue": "Deck",
            "starts_at": "2026-03-01 20:00",
        }}),
        json!({"id": "promo", "category": "promotions", "name": "Pool Pass",
        "description": "Free swim.",
        "details": {
            "promo_type": "Event tickets",
            "value": 10,
            "valid_from": "2026-01-01",
            "valid_until": "2026-02-01",
        }}),
        json!({"id": "olives", "category": "dining", "name": "Marta's Olives",
        "description": "Pasta, risotto, Italian wines.",
        "details": {
            "cuisine_type": "Italian",
            "price_range": "$$$",
            "hours": "Daily 5pm-10pm",
        }}),
        json!({"id": "nonna", "category": "dining", "name": "Nonna",
        "description": "Italian pasta, lasagna, risotto, ravioli.",
        "details": {
            "cuisine_type": "Italian",
            "price_range": "$$$",
            "hours": "Daily 5pm-10pm",
        }}),
        json!({"id": "age", "category": "regulations", "name": "Gaming age",
            "description": "Guests must be 21.",
            "details": {"regulation_type": "Age restriction", "state": "CT"}}),
    ];
    values
        .iter()
        .map(|v| {
            Item::read(
                v,
                Reference {
                    now: now(),
                    zone: New_York,
                },
            )
            .unwrap()
        })
        .collect()
}

fn index() -> Index {
    Index::build(items())
        .in_zone(New_York)
        .embedded(&Offline::new())
}

fn ids(found: &[Retrieved]) -> Vec<&str> {
    found.iter().map(|f| f.item.id.as_str()).collect()
}

/// Returns settings that let every row pass and that order the rows for variety.
fn without_thresholds() -> Retrieval {
    with_thresholds(0.0)
}

fn with_thresholds(least: f32) -> Retrieval {
    let own = Thresholds {
        default: least,
        categories: BTreeMap::new(),
        lexical: least,
        share: 0.0,
    };
    Retrieval {
        relevance: Some(0.1),
        thresholds: BTreeMap::from([("offline".to_owned(), own)]),
        ..Retrieval::default()
    }
}

#[test] // WEB-34, WEB-37, RAG-30: the pack decides how many rows pass
fn the_settings_of_a_pack_decide_what_is_found() {
    let (index, offline) = (index(), Offline::new());
    let ask = |retrieval: &Retrieval| {
        let query = Query::offline("italian pasta", now(), &offline).as_set(retrieval);
        index.retrieve(&query).len()
    };
    assert_eq!(ask(&Retrieval::default()), 2);
    assert!(ask(&without_thresholds()) > 2);
    assert_eq!(ask(&with_thresholds(1.0)), 0);
    let one = Retrieval {
        rows: 1,
        ..Retrieval::default()
    };
    assert_eq!(ask(&one), 1);
}

#[test] // RAG-1, RAG-18, RAG-20
fn both_rankings_find_and_explain_a_row() {
    let (index, offline) = (index(), Offline::new());
    let found = index.retrieve(&Query::offline("¿dónde puedo nadar?", now(), &offline));
    assert_eq!(ids(&found), ["pool"]);
    let scores = found[0].scores;
    assert_eq!((scores.bm25_rank, scores.cosine_rank), (Some(1), Some(1)));
    assert!((scores.fused - 2.0 / 61.0).abs() < 1e-6, "{scores:?}");
    assert!(
        scores.cosine.is_some_and(|c| (0.28..=1.0).contains(&c)),
        "{scores:?}"
    );
}

#[test] // C-17: inactive and expired rows are never found, even without thresholds
fn inactive_past_and_expired_rows_never_come_out() {
    let (index, offline, all) = (index(), Offline::new(), without_thresholds());
    for text in [
        "old pool",
        "pool party swim dance",
        "pool pass free swim",
        "under repair",
    ] {
        let query = Query::offline(text, now(), &offline);
        let found = index.retrieve(&query.as_set(&all).at_most(9));
        assert!(
            ids(&found)
                .iter()
                .all(|id| !["shut", "past", "promo"].contains(id)),
            "{text}: {:?}",
            ids(&found)
        );
    }
}

#[test] // RAG-22: the category filter applies before the rankings
fn categories_narrow() {
    let (index, offline, all) = (index(), Offline::new(), without_thresholds());
    let only = [Category::Regulations];
    let query = Query::offline("pasta for two", now(), &offline).as_set(&all);
    assert!(ids(&index.retrieve(&query)).contains(&"nonna"));
    let found = index.retrieve(&query.within(&only));
    assert!(
        found
            .iter()
            .all(|f| f.item.category == Category::Regulations),
        "{:?}",
        ids(&found)
    );
}

#[test] // RAG-2: the specification's example
fn a_name_ranks_above_a_row_that_fits_better() {
    let (index, offline) = (index(), Offline::new());
    for text in [
        "What's on at Marta's Olives?",
        "what pasta do they have at martas olivs",
    ] {
        assert_eq!(
            ids(&index.retrieve(&Query::offline(text, now(), &offline)))[0],
            "olives",
            "{text}"
        );
    }
}

#[test] // RAG-30
fn what_the_content_cannot_answer_finds_nothing() {
    let (index, offline) = (index(), Offline::new());
    for text in ["who won the election", "hay cancha de tenis", "", "¿?"] {
        assert!(
            index
                .retrieve(&Query::offline(text, now(), &offline))
                .is_empty(),
            "{text}"
        );
    }
    let seed = Thresholds::of(&Space {
        model: "gemini-embedding-001".into(),
        version: "1".into(),
        dimension: 768,
    });
    let of = |name: &str| seed.cosine(&Category::from(name));
    assert_eq!(
        [of("dining"), of("regulations"), of("golf")],
        [0.60, 0.75, 0.65]
    );
    let ours = Thresholds::of(offline.as_space());
    assert!(ours.cosine(&Category::Regulations) > ours.cosine(&Category::Dining));
}

#[test] // RAG-12, RAG-37, RAG-36
fn vectors_of_another_space_are_not_compared() {
    let (index, offline) = (index(), Offline::new());
    let other = Space {
        version: "older".into(),
        ..offline.as_space().clone()
    };
    let query =
        Query::new("Lakeside Pool", now()).vector(&other, offline.query("somewhere to swim"));
    let found = index.retrieve(&query);
    assert_eq!((ids(&found), found[0].scores.cosine), (vec!["pool"], None));
    let plain = Index::build(items()).in_zone(New_York);
    assert_eq!(
        ids(&plain.retrieve(&Query::offline("Lakeside Pool", now(), &offline))),
        ["pool"]
    );
    let bytes = plain.bytes();
    let wrong = HashMap::from([("pool".to_owned(), Vector::normalised(vec![1.0; 3]))]);
    let index = plain.with_vectors(offline.as_space().clone(), &wrong);
    assert!(index.bytes() > bytes && index.space() == Some(offline.as_space()));
    assert!(
        index
            .retrieve(&Query::offline("somewhere to swim", now(), &offline))
            .iter()
            .all(|f| f.scores.cosine.is_none())
    );
}

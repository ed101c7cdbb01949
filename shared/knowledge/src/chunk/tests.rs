use chrono::{TimeZone, Utc};
use serde_json::json;

use super::*;
use crate::{Embedder, Offline, Reference};

fn item(id: &str, description: &str) -> Item {
    let now = Utc.with_ymd_and_hms(2026, 3, 6, 17, 0, 0).unwrap();
    let value = json!({"id": id, "category": "pool", "name": "Lake Pool", "name_es": "Alberca",
        "description": description,
        "keywords": ["swim"], "notes": "VIP only"});
    Item::read(&value, Reference { now, zone: Tz::UTC }).unwrap()
}

fn hashes(items: &[Item], space: &Space) -> HashMap<String, String> {
    let plan = Ingestion::plan(items, Tz::UTC, space, &HashMap::new()).unwrap();
    plan.embed
        .into_iter()
        .map(|(chunk, hash)| (chunk.item_id, hash))
        .collect()
}

#[test] // RAG-14, C-11, T18
fn a_chunk_holds_both_languages_and_no_notes() {
    let chunk = Chunk::of(&item("a", "Warm water."), Tz::UTC).unwrap();
    assert_eq!(
        chunk.text,
        "Lake Pool; Alberca; swim\nLake Pool: Warm water."
    );
    assert!(
        Chunk::of(
            &Item {
                name: " ".into(),
                ..item("a", "x")
            },
            Tz::UTC
        )
        .is_none()
    );
}

#[test] // RAG-17, RAG-24, T1, T2
fn only_changed_texts_are_embedded_again() {
    let space = Offline::new().space().clone();
    let stored = hashes(&[item("a", "one"), item("b", "two")], &space);
    let plan =
        |items: &[Item], space: &Space| Ingestion::plan(items, Tz::UTC, space, &stored).unwrap();
    let same = plan(&[item("b", "two"), item("a", "one")], &space);
    assert_eq!(
        (same.embed.len(), same.unchanged, same.orphans.len()),
        (0, 2, 0)
    );
    let changed = plan(&[item("a", "one"), item("b", "2")], &space);
    assert_eq!(
        (
            changed.embed[0].0.item_id.as_str(),
            changed.embed.len(),
            changed.unchanged
        ),
        ("b", 1, 1)
    );
    let newer = Space {
        version: "next".into(),
        ..space.clone()
    };
    assert_eq!(
        plan(&[item("a", "one"), item("b", "two")], &newer)
            .embed
            .len(),
        2
    );
    assert_eq!(plan(&[item("a", "one")], &space).orphans, ["b"]);
}

#[test] // C-23, T11
fn a_source_that_vanished_deletes_nothing() {
    let space = Offline::new().space().clone();
    let stored = hashes(
        &[item("a", "one"), item("b", "two"), item("c", "three")],
        &space,
    );
    assert_eq!(
        Ingestion::plan(&[], Tz::UTC, &space, &stored),
        Err(IngestionError::Empty { stored: 3 })
    );
    let one = Ingestion::plan(&[item("a", "one")], Tz::UTC, &space, &stored);
    assert_eq!(
        one,
        Err(IngestionError::TooManyGone {
            orphans: 2,
            stored: 3
        })
    );
}

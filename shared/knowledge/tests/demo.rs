//! The demo casino's content must be readable: a new installation shows it before there is any
//! other content.

use chrono::{TimeZone, Utc};
use chrono_tz::America::New_York;
use seven_knowledge::{Index, Reference, parse_content};

#[test]
fn the_demo_content_has_no_problems() {
    let text = include_str!("../../packs/demo/content.json");
    let now = Utc.with_ymd_and_hms(2026, 3, 6, 17, 0, 0).unwrap();
    match parse_content(
        "content.json",
        text,
        Reference {
            now,
            zone: New_York,
        },
    ) {
        Ok(items) => {
            for item in &items {
                assert_eq!(
                    &seven_knowledge::Item::from_json(&item.to_json()).unwrap(),
                    item
                );
            }
            assert!(Index::build(items).in_zone(New_York).len() > 50);
        }
        Err(problems) => panic!(
            "{}",
            problems
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join("\n")
        ),
    }
}

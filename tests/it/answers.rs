//! Guests ask which restaurants are open, and the answer lists exactly those. The tests use the
//! demo casino and casinos with random content.

use chrono::{DateTime, TimeZone, Timelike, Utc};
use rand::{Rng, SeedableRng, rngs::StdRng, seq::SliceRandom};
use serde_json::json;

use crate::harness::{GUEST, Wanted, house};

const QUESTION: &str = "What restaurants are open tonight?";

/// The restaurants of the demo content, copied by hand. The expected answer must not come from the
/// code under test.
const DEMO: [&str; 15] = [
    "Cinder Grove",
    "Nonna Salvia",
    "Hoshi Lantern",
    "Harvest Loft",
    "Night Owl Counter",
    "Moonlatch",
    "Railcar",
    "Mesa Colibri",
    "Jade Kettle",
    "Low Tide",
    "Fig & Cedar",
    "Slice Junction",
    "Crumb & Clover",
    "The Sideline Tap",
    "Velvet Fern",
];
const LATE: [&str; 5] = [
    "Night Owl Counter",
    "Moonlatch",
    "Slice Junction",
    "The Sideline Tap",
    "Velvet Fern",
];

async fn demo_at(name: &str, at: &'static str, open: &[&str]) {
    let house = house(
        name,
        Wanted {
            at: Some(at),
            ..Wanted::default()
        },
    )
    .await;
    house.text(GUEST, QUESTION);
    house.settle(1).await;
    let said = house.said_to(GUEST);
    for venue in DEMO {
        assert_eq!(
            said.contains(venue),
            open.contains(&venue),
            "{venue} at {at}: {said}"
        );
    }
    assert!(
        said.contains("AI host"),
        "the first reply says who writes: {said}"
    );
    house.stop().await;
}

#[tokio::test]
async fn a_thursday_at_seven_in_the_evening() {
    let open: Vec<&str> = DEMO
        .into_iter()
        .filter(|v| *v != "Crumb & Clover")
        .collect();
    demo_at("answers_1900", "2026-11-27T00:00:00Z", &open).await;
}

#[tokio::test]
async fn a_tuesday_at_half_past_three_at_night() {
    demo_at(
        "answers_0330",
        "2026-11-24T08:30:00Z",
        &["Night Owl Counter"],
    )
    .await;
}

#[tokio::test]
async fn the_second_half_past_one_of_the_night_clocks_go_back() {
    demo_at("answers_fall", "2026-11-01T06:30:00Z", &LATE).await;
}

#[tokio::test]
async fn either_side_of_the_hour_that_spring_skips() {
    demo_at("answers_spring_before", "2027-03-14T06:59:00Z", &LATE).await;
    demo_at(
        "answers_spring_after",
        "2027-03-14T07:30:00Z",
        &["Night Owl Counter"],
    )
    .await;
}

/// A venue with the same hours every day. If `closes` is not later than `opens`, the venue closes
/// on the next day.
struct Venue {
    name: String,
    opens: u32,
    closes: u32,
}

impl Venue {
    fn is_open(&self, hour: u32) -> bool {
        if self.opens < self.closes {
            (self.opens..self.closes).contains(&hour)
        } else {
            hour >= self.opens || hour < self.closes
        }
    }
}

fn word(rng: &mut StdRng) -> String {
    let mut text = String::new();
    for _ in 0..rng.random_range(2..4) {
        text.push(*b"bdfgklmnprstvz".get(rng.random_range(0..14)).unwrap() as char);
        text.push(*b"aeiou".get(rng.random_range(0..5)).unwrap() as char);
    }
    text[..1].to_uppercase() + &text[1..]
}

fn twelve(hour: u32) -> String {
    format!(
        "{}{}",
        if hour.is_multiple_of(12) {
            12
        } else {
            hour % 12
        },
        if hour % 24 < 12 { "am" } else { "pm" }
    )
}

fn made_up(rng: &mut StdRng) -> (Vec<Venue>, String, String) {
    let mut hours: Vec<(u32, u32)> = vec![
        (6, 14),
        (11, 22),
        (16, 2),
        (17, 23),
        (18, 4),
        (7, 11),
        (12, 20),
    ];
    hours.shuffle(rng);
    let venues: Vec<Venue> = hours
        .into_iter()
        .map(|(opens, closes)| Venue {
            name: format!("{} {}", word(rng), word(rng)),
            opens,
            closes,
        })
        .collect();
    let items: Vec<_> = venues
        .iter()
        .enumerate()
        .map(|(n, v)| {
            let hours = format!("Daily {}-{}", twelve(v.opens), twelve(v.closes));
            json!({"id": format!("dining_{n}"), "category": "dining", "name": v.name,
                   "description": "A place to eat.",
                   "details": {"cuisine_type": "American", "price_range": "$$", "hours": hours}})
        })
        .collect();
    let casino = json!({
        "casino_id": "made_up", "prompts": {"casino_name_display": "Made Up Casino"},
        "regulations": {"state": "IL"},
        "operational": {
            "timezone": "America/Chicago",
            "telnyx_phone_number": "+13125550111",
            "number_kind": "demo",
            "contact_phone": "1-312-555-0112",
        }
    });
    (
        venues,
        casino.to_string(),
        json!({ "schema": 1, "items": items }).to_string(),
    )
}

#[tokio::test]
async fn a_casino_nobody_has_seen_names_exactly_its_open_venues() {
    for (seed, at) in [
        (1, "2026-12-05T01:00:00Z"),
        (2, "2026-12-05T09:30:00Z"),
        (3, "2027-07-04T00:45:00Z"),
    ] {
        let (venues, casino, content) = made_up(&mut StdRng::seed_from_u64(seed));
        let house = house(
            "answers_made_up",
            Wanted {
                at: Some(at),
                casino: Some((casino, content)),
                ..Wanted::default()
            },
        )
        .await;
        house.text(GUEST, QUESTION);
        house.settle(1).await;
        let (said, hour) = (house.said_to(GUEST), local_hour(at));
        for venue in &venues {
            assert_eq!(
                said.contains(&venue.name),
                venue.is_open(hour),
                "seed {seed}, {} ({}-{}) at {hour}: {said}",
                venue.name,
                venue.opens,
                venue.closes
            );
        }
        house.stop().await;
    }
}

fn local_hour(at: &str) -> u32 {
    let at: DateTime<Utc> = at.parse().unwrap();
    chrono_tz::America::Chicago
        .from_utc_datetime(&at.naive_utc())
        .hour()
}

#[tokio::test] // CONV-51, CONV-47, AGENT-71, AGENT-72, AGENT-73
async fn the_second_part_follows_the_first_after_a_delay_of_its_own() {
    let house = house(
        "answers_parts",
        Wanted {
            scale: 0.2,
            at: Some("2026-11-27T00:00:00Z"),
            ..Wanted::default()
        },
    )
    .await;
    house.text(GUEST, QUESTION);
    house.settle(1).await;
    let sent = house.sent_to(GUEST);
    assert_eq!(sent.len(), 2, "{sent:?}");
    assert!(
        sent[0]
            .text
            .as_deref()
            .unwrap()
            .starts_with("Hi, I'm Seven"),
        "{sent:?}"
    );
    assert!(
        sent.iter().all(|s| s.parts == 1),
        "each part is one segment: {sent:?}"
    );
    // The delay is 1.5 to 2.5 s, so it is at least 300 ms at time scale 0.2.
    let gap = (sent[1].accepted_at - sent[0].accepted_at).num_milliseconds();
    assert!(gap >= 250, "{gap} ms between the parts");
    house.stop().await;
}

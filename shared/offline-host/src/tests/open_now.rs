//! Compares the list of open venues with a table of the week, minute by minute. The test computes
//! this table without the production code for opening hours.

use chrono::{DateTime, Datelike, TimeDelta, Timelike, Utc};
use proptest::prelude::*;
use serde_json::json;

use super::fixture::{Fixture, ZONE, at, index};

/// A random venue: for each weekday, its openings as (minute, length).
#[derive(Debug, Clone)]
struct Venue {
    name: String,
    openings: Vec<Vec<(usize, usize)>>,
}

impl Venue {
    fn sign(&self) -> String {
        const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
        let clock = |minute: usize| {
            let (hour, half) = (
                minute / 60 % 24,
                if minute / 60 % 24 < 12 { "am" } else { "pm" },
            );
            format!(
                "{}:{:02}{half}",
                if hour % 12 == 0 { 12 } else { hour % 12 },
                minute % 60
            )
        };
        let day = |(n, openings): (usize, &Vec<(usize, usize)>)| {
            let spans: Vec<String> = openings
                .iter()
                .map(|(from, length)| format!("{}-{}", clock(*from), clock(from + length)))
                .collect();
            if spans.is_empty() {
                format!("{} closed", DAYS[n])
            } else {
                format!("{} {}", DAYS[n], spans.join(" and "))
            }
        };
        self.openings
            .iter()
            .enumerate()
            .map(day)
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Returns whether the venue is open at each minute of the week, from Monday 00:00.
    fn table(&self) -> Vec<bool> {
        let mut table = vec![false; 7 * 1440];
        for (day, openings) in self.openings.iter().enumerate() {
            for (from, length) in openings {
                for minute in 0..*length {
                    table[(day * 1440 + from + minute) % (7 * 1440)] = true;
                }
            }
        }
        table
    }
}

fn is_open(table: &[bool], at: DateTime<Utc>) -> bool {
    let wall = at.with_timezone(&ZONE);
    table
        [(wall.weekday().num_days_from_monday() * 1440 + wall.hour() * 60 + wall.minute()) as usize]
}

fn venues() -> impl Strategy<Value = Vec<Venue>> {
    let opening = prop_oneof![
        (0usize..48, 1usize..=40).prop_map(|(from, length)| (from * 30, length * 30)),
        (0usize..1440, 1usize..=1440),
        Just((22 * 60, 6 * 60)),
    ];
    let week = proptest::collection::vec(proptest::collection::vec(opening, 0..3), 7);
    let name =
        "(Zor|Bel|Quin|Mar|Tov|Lun)(vik|dara|mosa|pello|trix|gant) (Quay|Loft|Hearth|Parlor|Nook)";
    proptest::collection::btree_map(name, week, 1..9).prop_map(|map| {
        map.into_iter()
            .map(|(name, openings)| Venue { name, openings })
            .collect()
    })
}

/// Generates any minute of the year, and often one of the two nights in which the clocks change.
fn instants() -> impl Strategy<Value = DateTime<Utc>> {
    prop_oneof![
        (0i64..525_600).prop_map(|m| at("2026-01-01 00:00") + TimeDelta::minutes(m)),
        (0i64..720).prop_map(|m| at("2026-03-07 20:00") + TimeDelta::minutes(m)),
        (0i64..720).prop_map(|m| at("2026-10-31 20:00") + TimeDelta::minutes(m)),
    ]
}

fn desk(venues: &[Venue], now: DateTime<Utc>) -> Fixture {
    let items: Vec<_> = venues
        .iter()
        .enumerate()
        .map(|(n, v)| {
            json!({"id": format!("d{n}"), "category": "dining", "name": v.name,
                "description": "Plates.",
                "details": {"cuisine_type": "American", "price_range": "$$", "hours": v.sign()}})
        })
        .collect();
    Fixture::with(index(now, &json!(items).to_string()), now)
}

/// A question, and whether it asks for all places or for one to go to.
type Question = (&'static str, bool);

fn check(venues: &[Venue], now: DateTime<Utc>, asked_for: DateTime<Utc>, asked: Question) {
    let (question, all) = asked;
    let reply = desk(venues, now).ask(question);
    let open: Vec<&Venue> = venues
        .iter()
        .filter(|v| is_open(&v.table(), asked_for))
        .collect();
    if open.is_empty() {
        // If nothing is open, the reply says so and names the venue that opens next, if any does.
        let never = venues.iter().all(|v| v.table().iter().all(|o| !o));
        assert!(
            never || !all || reply.intent == "open_now",
            "{}",
            reply.intent
        );
        let next = (1..=7 * 1440 + 60)
            .map(|m| asked_for + TimeDelta::minutes(m))
            .find(|t| venues.iter().any(|v| is_open(&v.table(), *t)));
        // In the hour that the clocks will repeat, a venue that closed at 1:30 opens again at the
        // second 1:00. No reply announces that.
        let before_repeat = (at("2026-11-01 01:00")..at("2026-11-01 01:00") + TimeDelta::hours(1))
            .contains(&asked_for);
        if let Some(next) = next.filter(|_| !before_repeat) {
            let first: Vec<&Venue> = venues
                .iter()
                .filter(|v| is_open(&v.table(), next))
                .collect();
            assert!(
                first.iter().any(|v| reply.text.contains(&v.name)),
                "{question} at {now}: {}",
                reply.text
            );
        }
        assert!(
            !reply.text.starts_with("Open") && !reply.text.starts_with("Abierto"),
            "{}",
            reply.text
        );
        return;
    }
    for venue in venues {
        let named = reply.text.contains(&venue.name);
        let is_open = open.iter().any(|v| v.name == venue.name);
        assert!(
            named == is_open || !named && !all,
            "{question} at {now}: {} {}: {}",
            venue.name,
            venue.sign(),
            reply.text
        );
    }
    let most = if all { open.len() } else { open.len().min(2) };
    assert_eq!(reply.sources.len(), most, "{}", reply.text);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test] // CMS-19, D11: the list has exactly the open venues
    fn now_means_this_minute(venues in venues(), now in instants(), ask in 0usize..4) {
        let question = [
            ("What restaurants are open right now?", true),
            ("que restaurantes estan abiertos ahora", true),
            ("anything open?", true),
            ("¿Dónde puedo comer ahora?", false),
        ][ask];
        check(&venues, now, now, question);
    }

    #[test]
    fn tonight_means_now_in_the_evening_and_seven_pm_before(
        venues in venues(),
        now in instants(),
        ask in 0usize..3,
    ) {
        let question = [
            ("What restaurants are open tonight?", true),
            ("¿Qué restaurantes están abiertos esta noche?", true),
            ("where can we eat tonight", false),
        ][ask];
        let wall = now.with_timezone(&ZONE);
        let evening = wall.hour() >= 17 || wall.hour() < 5;
        let asked_for = if evening { now } else { at(&wall.format("%Y-%m-%d 19:00").to_string()) };
        check(&venues, now, asked_for, question);
    }
}

#[test] // D11: a list that does not fit says how many it leaves out
fn what_does_not_fit_is_counted() {
    let names = ["Quay", "Loft", "Hearth", "Parlor", "Nook"];
    let always = vec![vec![(0, 1440)]; 7];
    let venues: Vec<Venue> = (b'A'..=b'Z')
        .flat_map(|letter| names.map(|name| format!("{}olden Street {name}", char::from(letter))))
        .map(|name| Venue {
            name,
            openings: always.clone(),
        })
        .collect();
    for (count, lead, whole) in [
        (14, false, true),
        (14, true, false),
        (30, false, false),
        (30, true, false),
        (130, true, false),
    ] {
        let mut desk = desk(&venues[..count], at("2026-03-06 18:30"));
        desk.lead = lead.then(|| super::fixture::LEAD.to_owned());
        for (question, and, more) in [
            ("What restaurants are open now?", " and ", " more."),
            ("¿Qué restaurantes están abiertos?", " y ", " por ver."),
        ] {
            let reply = desk.ask(question);
            let named = venues
                .iter()
                .filter(|v| reply.text.contains(&v.name))
                .count();
            let left_out = reply
                .text
                .rsplit_once(and)
                .and_then(|(_, rest)| rest.split_once(more)?.0.parse().ok());
            assert_eq!(named + left_out.unwrap_or(0), count, "{}", reply.text);
            assert!(left_out.is_none() == whole && named >= 9, "{}", reply.text);
            assert_eq!(reply.sources.len(), named);
            let led = desk
                .lead
                .iter()
                .map(String::as_str)
                .chain([reply.text.as_str()])
                .collect::<Vec<_>>()
                .join(" ");
            assert!(!seven_sms::shape(&led, 2).truncated, "{led}");
        }
    }
}

#[test]
fn at_half_past_three_only_the_night_owls_are_open() {
    for (local, open) in [
        ("2026-03-04 03:30", vec!["Copper Owl"]),
        ("2026-03-07 02:30", vec!["Copper Owl", "Velvet Perch"]),
        ("2026-11-01 01:30", vec!["Copper Owl", "Velvet Perch"]),
    ] {
        let reply = Fixture::at(local).ask("What restaurants are open tonight?");
        for name in [
            "Ember Room",
            "Trattoria Belluno",
            "Copper Owl",
            "Velvet Perch",
            "Morning Fern",
        ] {
            assert_eq!(
                reply.text.contains(name),
                open.contains(&name),
                "{local}: {}",
                reply.text
            );
        }
    }
}

#[test]
fn nothing_open_names_the_next_to_open() {
    let reply = Fixture::at("2026-03-06 18:30").ask("any cafes open now?");
    assert!(
        reply.text.contains("Morning Fern") && reply.text.contains("tomorrow at 6am"),
        "{}",
        reply.text
    );
    let reply = Fixture::at("2026-03-09 09:00").ask("is any bar open now?");
    assert!(
        reply.text.contains("Velvet Perch") && reply.text.contains("today at 6pm"),
        "{}",
        reply.text
    );
}

//! Checks that the host invents nothing: a reply consists of words of the content, the guest's
//! text, the pack and the calendar.

use std::collections::HashSet;

use proptest::prelude::*;
use seven_domain::Language;
use seven_text::words;

use super::fixture::{CONTENT, Fixture, PACK, PHONE, at};
use super::questions::all_texts;
use seven_llm::Reply;

const CALENDAR: &str = "monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun lunes martes miercoles jueves viernes \
    sabado domingo lun mar mie jue vie sab dom jan feb apr may jun jul aug sep oct nov dec enero febrero marzo abril mayo junio julio agosto \
    septiembre octubre noviembre diciembre today tomorrow hoy manana on el at a las la until hasta daily diario hours horas y e o and or closed cerrado";

fn digits(text: &str) -> HashSet<String> {
    text.split(|c: char| !c.is_ascii_digit())
        .filter(|d| !d.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Removes the number of rows that a list leaves out. The host counts these rows, so the number is
/// not in the content; the tests of `open_now` check it.
fn without_count(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let counted = |n: usize| {
        let next = words.get(n + 1).map_or("", |w| w.trim_end_matches('.'));
        n > 0 && ["and", "y"].contains(&words[n - 1]) && ["more", "por"].contains(&next)
    };
    (0..words.len())
        .filter(|n| !counted(*n))
        .map(|n| words[n])
        .collect::<Vec<_>>()
        .join(" ")
}

/// The words and figures that a reply may contain.
struct Allowed {
    words: HashSet<String>,
    digits: HashSet<String>,
}

impl Allowed {
    fn new(desk: &Fixture, content: &str, asked: &[&str]) -> Self {
        let told = desk.index.current(desk.now).flat_map(|i| {
            let hours = i.hours().map(|h| h.show(Language::Es)).unwrap_or_default();
            [
                hours,
                i.description_es.clone().unwrap_or_default(),
                i.name_es.clone().unwrap_or_default(),
                i.keywords.join(" "),
            ]
        });
        let told: Vec<String> = told
            .chain(desk.index.texts(desk.now))
            .chain(asked.iter().map(|a| (*a).to_owned()))
            .collect();
        let facts = format!("{} {PHONE} Pine Hollow Seven", told.join(" "));
        let wording = format!(
            "{facts} {PACK} {CALENDAR} {}",
            if content.is_empty() { "" } else { "am pm" }
        );
        let mut allowed = Self {
            words: words(&wording).into_iter().collect(),
            digits: digits(&facts),
        };
        // If a time in the text lacks am or pm, the reply may add either.
        allowed.words.extend(
            allowed
                .digits
                .clone()
                .into_iter()
                .flat_map(|d| [format!("{d}am"), format!("{d}pm")]),
        );
        allowed
    }

    fn check(&self, text: &str, reply: &Reply) {
        for figure in digits(&without_count(&reply.text)) {
            assert!(
                self.digits.contains(&figure),
                "{text}: `{figure}` in {}",
                reply.text
            );
        }
        for word in words(&reply.text) {
            assert!(
                self.words.contains(&word),
                "{text}: `{word}` in {}",
                reply.text
            );
        }
    }
}

#[test] // D11, RAG-4
fn no_reply_holds_a_word_or_figure_of_its_own() {
    for local in [
        "2026-03-06 18:30",
        "2026-03-06 10:00",
        "2026-03-08 03:30",
        "2026-11-01 01:30",
        "2026-04-02 23:50",
    ] {
        let desk = Fixture::at(local);
        for text in all_texts() {
            Allowed::new(&desk, CONTENT, &[text]).check(text, &desk.ask(text));
        }
    }
}

#[test] // RAG-1: the sources are the rows that the reply uses
fn every_venue_named_is_a_source() {
    let desk = Fixture::at("2026-03-06 18:30");
    for text in all_texts() {
        let reply = desk.ask(text);
        for item in desk.index.current(desk.now) {
            let names = [Some(&item.name), item.name_es.as_ref()];
            let named = names
                .into_iter()
                .flatten()
                .any(|n| n.contains(' ') && reply.text.contains(n.as_str()));
            // A place may also be named as the location of another row.
            let tells = |id: &String| {
                desk.index.get(id).is_some_and(|other| {
                    other.name == item.name
                        || other.location().is_some_and(|l| l.contains(&item.name))
                })
            };
            assert!(
                !named || reply.sources.iter().any(tells),
                "{text}: {} not in {:?}",
                item.name,
                reply.sources
            );
        }
    }
}

fn scrap() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        proptest::sample::select(all_texts().collect::<Vec<_>>()).prop_map(str::to_owned),
        "[a-zA-Z0-9 ?.,!$:'ñáé¿]{0,40}",
        "\\PC{0,30}",
        proptest::sample::select(vec![
            "and tomorrow?",
            "it",
            "how much",
            "tonight at 9",
            "y el domingo",
            "Ember Room",
            "open",
            "3am",
            "{name}",
            "sí"
        ])
        .prop_map(str::to_owned),
    ];
    proptest::collection::vec(piece, 1..4).prop_map(|pieces| pieces.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 192,
        failure_persistence: None,
        max_shrink_iters: 200,
        ..ProptestConfig::default()
    })]
    #[test]
    fn whatever_is_asked_the_reply_is_grounded_and_repeatable(
        texts in proptest::collection::vec(scrap(), 1..3), earlier in scrap(),
        minutes in 0i64..525_600, seed in any::<u64>(),
        lead in proptest::option::of("[A-Z][a-z]{2,9}( [a-z]{1,9}){0,11}[.]")
    ) {
        let now = at("2026-03-01 00:00") + chrono::TimeDelta::minutes(minutes);
        let mut desk = Fixture::with(super::fixture::index(at("2026-03-06 12:00"), CONTENT), now);
        desk.seed = seed;
        desk.talk(&earlier);
        desk.lead.clone_from(&lead);
        let asked: Vec<&str> = texts.iter().map(String::as_str).collect();
        let reply = desk.ask_all(&asked);
        prop_assert!(
            super::super::fit::Room::behind(lead.as_deref()).two(&reply.text)
                && !reply.text.is_empty(),
            "{}",
            reply.text
        );
        prop_assert_eq!(&reply, &desk.ask_all(&asked));
        let mut sources = asked.clone();
        sources.push(&earlier);
        Allowed::new(&desk, CONTENT, &sources).check(&texts.join(" | "), &reply);
    }
}

//! Checks that fixed replies name only subjects for which the casino has content.

use serde_json::Value;
use seven_domain::Language;

use super::fixture::{CONTENT, Fixture, at, index};

/// A text with its language, and the words by which the reply must name the spa and the
/// restaurants.
const ASKED: &[(Language, &str, &str, &str)] = &[
    (Language::En, "hi", "spa", "restaurants"),
    (Language::En, "asdf qwer zxcv", "spa", "restaurants"),
    (Language::En, "are you a robot?", "spa", "restaurants"),
    (Language::Es, "hola", "spa", "restaurantes"),
];

/// Returns the host of a casino whose content has only rows of these categories.
fn casino(categories: &[&str]) -> Fixture {
    let mut content: Value = serde_json::from_str(CONTENT).unwrap();
    let rows = content["items"].as_array_mut().unwrap();
    rows.retain(|row| categories.contains(&row["category"].as_str().unwrap()));
    Fixture::with(
        index(at("2026-03-06 12:00"), &content.to_string()),
        at("2026-03-06 18:30"),
    )
}

#[test]
fn fixed_replies_name_what_the_casino_has_and_nothing_else() {
    let with_spa = casino(&["dining", "spa"]);
    let without = casino(&["dining", "rooms"]);
    for &(language, text, spa, dining) in ASKED {
        for seed in 0..12 {
            let say = |host: &Fixture| {
                let mut host = host.clone();
                (host.seed, host.language) = (seed, Some(language));
                host.ask(text).text
            };
            let (with, without) = (say(&with_spa), say(&without));
            let names = |reply: &str, word: &str| reply.contains(word);
            assert!(names(&with, spa) && names(&with, dining), "{text}: {with}");
            assert!(
                !names(&without, spa) && names(&without, dining),
                "{text}: {without}"
            );
        }
    }
}

#[test]
fn a_casino_without_content_names_no_subject() {
    let mut empty = casino(&["regulations"]);
    for seed in 0..12 {
        empty.seed = seed;
        let reply = empty.ask("hi").text;
        assert!(
            !reply.contains('{') && !reply.contains("restaurants"),
            "{reply}"
        );
        assert!(reply.contains("your visit"), "{reply}");
    }
}

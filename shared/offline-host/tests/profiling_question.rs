//! Checks when the host asks the guest a question about themselves, such as the size of the party.
//! It may ask after an answer, but not after a complaint, a problem or a question without an
//! answer.

mod desk;

use desk::{PHONE, Property, Row, wrong};
use seven_guest::Topic;

const CONTENT: &str = include_str!("../../packs/demo/content.json");

const OVER_A_QUESTION: &[Row] = &[
    ("do you have a helipad?", &[PHONE], &["How many of you"]),
    ("my room is dirty", &[PHONE], &["How many of you"]),
];

#[test]
fn it_never_stands_over_the_guests_own_question() {
    let mut desk = Property::new(CONTENT, "2026-03-06 18:30");
    desk.ask = Some(Topic::PartySize);
    let wrong = wrong(&mut desk, OVER_A_QUESTION);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn it_follows_an_answer_and_nothing_graver() {
    let mut desk = Property::new(CONTENT, "2026-03-06 18:30");
    desk.ask = Some(Topic::PartySize);
    for (text, asked) in [
        ("any italian place?", true),
        ("how late is cinder grove open", false),
        ("we are coming saturday", true),
        ("do you have a helipad?", false),
        ("i have a gambling problem", false),
        ("my room is dirty", false),
        ("i want to talk to a person", false),
        ("are you a bot?", false),
        ("thats all, bye", false),
        ("im allergic to peanuts", false),
    ] {
        let reply = desk.ask(text);
        assert_eq!(reply.asked.is_some(), asked, "{text}: {}", reply.text);
        assert!(
            reply.text.matches('?').count() <= 1,
            "{text}: {}",
            reply.text
        );
        let ends = ["How many of you are coming?", "¿De qué tamaño es su grupo?"]
            .iter()
            .any(|q| reply.text.ends_with(q));
        assert_eq!(ends, asked, "{text}: {}", reply.text);
    }
}

#[test]
fn companions_are_never_asked_about_and_nothing_is_asked_unbidden() {
    let mut desk = Property::new(CONTENT, "2026-03-06 18:30");
    assert_eq!(desk.ask("any italian place?").asked, None);
    desk.ask = Some(Topic::Companions);
    assert_eq!(desk.ask("any italian place?").asked, None);
    for topic in [
        Topic::Name,
        Topic::VisitDate,
        Topic::Dining,
        Topic::Entertainment,
        Topic::Gaming,
        Topic::Occasions,
    ] {
        desk.ask = Some(topic);
        assert_eq!(desk.ask("any italian place?").asked, Some(topic));
    }
}

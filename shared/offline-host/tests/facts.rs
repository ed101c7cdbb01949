//! Checks when the host answers with facts that the finder finds (D48).
#![expect(
    dead_code,
    reason = "the desk is shared by tests that use other parts of it"
)]

mod desk;

use desk::Property;
use seven_offline_host::{Facts, OfflineModel};
use seven_packs::CASINO as PACK;

const BAHIA: &str = include_str!("unseen/bahia_lucero.json");

/// Texts whose words lead to no row or to another fact, each with a part of the fact asked for.
const FOUND_ONLY: [(&str, &str); 2] = [
    (
        "wheres the closest spot to light up a cig",
        "two smoking terraces",
    ),
    (
        "se puede llegar en silla de ruedas a la arena",
        "ruedas de playa",
    ),
];

fn bahia() -> Property {
    Property::new(BAHIA, "2026-11-20 18:30")
}

#[test]
fn a_fact_is_told_that_no_word_leads_to() {
    let mut desk = bahia();
    for (text, fact) in FOUND_ONLY {
        desk.finds = false;
        let words = desk.ask(text).text;
        desk.finds = true;
        let found = desk.ask(text).text;
        assert!(!words.contains(fact), "{text}: {words}");
        assert!(found.contains(fact), "{text}: {found}");
    }
}

#[test]
fn what_the_act_decides_is_not_looked_for_among_facts() {
    let mut desk = bahia();
    for text in [
        "book us a table at Kumo for 2 tomorrow at 7",
        "can we get a table at Kumo at 7?",
        "can you change my check in to 2pm?",
        "can you comp the resort fee?",
        "how many points do i have?",
        "can i talk to somebody about the airport ride?",
        "cancel my booking",
        "can i get a free night",
        "the room smells like smoke",
        "cuantos puntos tengo",
        "are you a robot",
        "let me talk to a person",
        "gracias!",
        "bye",
    ] {
        desk.finds = false;
        let words = desk.ask(text);
        desk.finds = true;
        let found = desk.ask(text);
        assert_eq!(
            (found.text, found.sources),
            (words.text, words.sources),
            "{text}"
        );
    }
}

#[test]
fn the_same_request_gets_the_same_reply() {
    let mut desk = bahia();
    desk.finds = true;
    for text in [
        "wheres the nearest place i can smoke",
        "y para ninos hay algo?",
    ] {
        assert_eq!(desk.ask(text).text, desk.ask(text).text, "{text}");
    }
}

#[test]
fn words_answer_until_the_vectors_are_computed() {
    let model = OfflineModel::from_toml(&PACK.host).expect("the pack's host");
    let facts = Facts::new().expect("the bundled weights");
    let in_background = model.with_facts(facts.in_background());
    let mut desk = bahia();
    let text = FOUND_ONLY[0].0;
    let request = desk.request(text);
    let words = desk.ask(text).text;
    desk.finds = true;
    let found = desk.ask(text).text;
    assert_eq!(in_background.answer(&request).text, words);
    // The test runner ends a test that waits for ever.
    while in_background.answer(&request).text != found {
        std::thread::yield_now();
    }
}

#[test]
fn a_question_is_passed_on_if_the_row_in_talk_does_not_answer_it() {
    let mut desk = bahia();
    let text = "what brand of rum do you use in the pina colada";
    desk.finds = false;
    assert!(desk.ask(text).grounded, "words alone tell the row");
    desk.finds = true;
    let reply = desk.ask(text);
    assert!(!reply.grounded, "{}", reply.text);
    assert!(!reply.staff.is_empty(), "nobody would answer it");
}

#[test] // a wish for which the pack has no word
fn a_wish_is_met_by_its_meaning() {
    let mut desk = bahia();
    for (text, row) in [
        ("our 7 and 9 yr olds are so bored, any ideas", "Coquí"),
        ("mis nenes de 6 y 8 se aburren, alguna idea?", "Coquí"),
    ] {
        desk.finds = false;
        let words = desk.ask(text).text;
        desk.finds = true;
        let found = desk.ask(text).text;
        assert!(!words.contains(row), "{text}: {words}");
        assert!(found.contains(row), "{text}: {found}");
    }
}

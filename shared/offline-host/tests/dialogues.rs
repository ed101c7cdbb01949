//! Checks rules that every dialogue must keep, on random texts in random order.
#![expect(
    dead_code,
    reason = "the desk is shared by tests that use other parts of it"
)]

mod desk;

use desk::Property;
use proptest::{collection::vec, prelude::*, sample::select};
use seven_guest::Topic;
use seven_knowledge::{Item, item::Details};
use seven_llm::{Exchange, Reply};
use seven_packs::demo;

/// Wishes and remarks that name no venue and no kind of place.
const NEUTRAL: [&str; 16] = [
    "where can we eat tonight",
    "any ideas for dinner?",
    "what else",
    "something cheaper?",
    "what's on tonight?",
    "anything fun to do tomorrow?",
    "any other shows?",
    "what can we do this weekend",
    "not that one",
    "too expensive",
    "ok thanks",
    "which one is cheaper?",
    "¿dónde podemos cenar?",
    "¿qué hay esta noche?",
    "otra opción?",
    "we are 4 people",
];
const WITH_MINORS: [&str; 5] = [
    "my kids are 5 and 8",
    "we come with our 16 year old son",
    "im 20 btw",
    "venimos con mi hijo de 12 años",
    "two teens with us",
];
/// Refusals of a guest, each with the cuisine that must not be offered after it.
const REFUSALS: [(&str, &str); 5] = [
    ("no italian please", "Italian"),
    ("she hates seafood", "Seafood"),
    ("nothing mexican", "Mexican"),
    ("no le gusta la comida china, sin comida china", "Chinese"),
    ("i dont want steak", "Steakhouse"),
];

fn talk(desk: &mut Property, text: &str) -> Reply {
    let reply = desk.ask(text);
    desk.state = reply.state.clone();
    desk.history.push(Exchange {
        guest: text.to_owned(),
        host: reply.text.clone(),
    });
    reply
}

fn rows(desk: &Property, reply: &Reply) -> Vec<Item> {
    let row = |id: &String| desk.index.get(id).map(|row| row.as_ref().clone());
    reply.sources.iter().filter_map(row).collect()
}

fn is_for_adults(row: &Item) -> bool {
    let rule = match &row.details {
        Details::Entertainment(show) => show.age_restriction.as_deref().unwrap_or_default(),
        _ => "",
    };
    rule.starts_with("21") || row.description.contains("21 and over")
}

fn kitchen(row: &Item) -> &str {
    match &row.details {
        Details::Dining(dining) => &dining.cuisine_type,
        _ => "",
    }
}

fn desk(seed: u64) -> Property {
    let mut desk = Property::new(demo::CONTENT, "2026-11-20 18:30");
    desk.seed = seed;
    desk
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test] // SEC-29: no place for adults to a party with somebody under age
    fn a_party_with_minors_is_sent_to_no_place_for_adults(
        before in vec(select(&NEUTRAL[..]), 0..2),
        minors in select(&WITH_MINORS[..]),
        after in vec(select(&NEUTRAL[..]), 1..5),
        seed in any::<u64>(),
    ) {
        let mut desk = desk(seed);
        desk.finds = true;
        for text in before {
            talk(&mut desk, text);
        }
        talk(&mut desk, minors);
        for text in after {
            let reply = talk(&mut desk, text);
            let adults = rows(&desk, &reply).into_iter().find(is_for_adults);
            prop_assert!(adults.is_none(), "{minors} >> {text}: {}", reply.text);
        }
    }

    #[test]
    fn a_refused_kitchen_is_not_offered_again(
        refusal in select(&REFUSALS[..]),
        after in vec(select(&NEUTRAL[..]), 1..5),
        seed in any::<u64>(),
    ) {
        let mut desk = desk(seed);
        talk(&mut desk, "where can we eat tonight");
        talk(&mut desk, refusal.0);
        for text in after {
            let reply = talk(&mut desk, text);
            let again = rows(&desk, &reply).into_iter().any(|row| kitchen(&row) == refusal.1);
            prop_assert!(!again, "{} >> {text}: {}", refusal.0, reply.text);
        }
    }

    #[test]
    fn rows_refused_by_name_are_not_offered_again(
        after in vec(select(&NEUTRAL[..]), 1..5),
        seed in any::<u64>(),
    ) {
        let mut desk = desk(seed);
        let refused = talk(&mut desk, "where can we eat tonight").sources;
        talk(&mut desk, "nah, not that one");
        prop_assert!(!desk.state.refused.is_empty());
        for text in after {
            let reply = talk(&mut desk, text);
            let again = desk.state.refused.iter().any(|id| {
                refused.contains(id) && reply.sources.contains(id) && reply.intent == "recommend"
            });
            prop_assert!(!again, "{text}: {}", reply.text);
        }
    }

    #[test] // CONV-25
    fn nothing_known_is_asked_for_and_never_twice_in_a_row(
        texts in vec(select(&NEUTRAL[..]), 1..7),
        seed in any::<u64>(),
        topic in select(&[Topic::PartySize, Topic::VisitDate, Topic::Name][..]),
    ) {
        let mut desk = desk(seed);
        desk.ask = Some(topic);
        let (mut last, mut asked) = (false, 0);
        for text in texts {
            let reply = talk(&mut desk, text);
            prop_assert!(!(last && reply.asked.is_some()), "{text}: {}", reply.text);
            let known = reply.asked.is_some_and(|topic| desk.state.knows(topic));
            prop_assert!(!known, "{text}: {}", reply.text);
            last = reply.text.ends_with('?');
            asked += u32::from(reply.asked.is_some());
        }
        prop_assert!(asked <= 2, "asked {asked} times");
    }
}

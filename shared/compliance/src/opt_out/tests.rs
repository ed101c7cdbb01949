use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::Guardrails;

#[derive(Deserialize)]
struct Examples {
    yes: Vec<String>,
    no: Vec<String>,
}

static EXAMPLES: LazyLock<Examples> =
    LazyLock::new(|| toml::from_str(include_str!("../../data/opt_out_examples.toml")).unwrap());

#[test]
fn a_reasonable_person_would_stop() {
    // SMS-19, C-11, SEC C-3: every example counts as an opt-out
    let missed: Vec<_> = EXAMPLES
        .yes
        .iter()
        .filter(|text| !is_opt_out(text))
        .collect();
    assert!(missed.is_empty(), "missed: {missed:#?}");
}

#[test]
fn ordinary_requests_go_on() {
    assert!(EXAMPLES.no.len() >= 60);
    let caught: Vec<_> = EXAMPLES
        .no
        .iter()
        .filter(|text| is_opt_out(text))
        .map(|text| (text, crate::classify(text).unwrap().pattern_id))
        .collect();
    assert!(caught.is_empty(), "caught: {caught:#?}");
}

fn is_opt_out(text: &str) -> bool {
    crate::classify(text).is_some_and(|keyword| keyword.intent == crate::Intent::OptOut)
}

#[test]
fn ids_say_the_language() {
    for id in LIST.phrases.keys() {
        assert!(
            id.starts_with("optout.nl.en.") || id.starts_with("optout.nl.es."),
            "{id}"
        );
    }
}

#[test]
fn every_pattern_matches_one_of_the_examples() {
    let used: HashSet<_> = EXAMPLES
        .yes
        .iter()
        .flat_map(|text| Guardrails::default().phrases(text))
        .collect();
    let idle: Vec<_> = LIST
        .phrases
        .keys()
        .filter(|id| !used.contains(id.as_str()))
        .collect();
    assert!(idle.is_empty(), "no example: {idle:?}");
}

#[test]
fn hostile_texts_are_quick() {
    // Ambiguous fillers, endless courtesy and deep repetition must not take long or overflow the
    // stack.
    for piece in [
        "all of any of more ",
        "please ",
        "stop sending me all of these the ",
        "no me manden los mas ",
        "stop ",
    ] {
        let text = format!("stop sending {} dinner", piece.repeat(3000));
        let start = std::time::Instant::now();
        let _ = crate::classify(&text);
        assert!(
            start.elapsed() < std::time::Duration::from_secs(5),
            "{piece}: {:?}",
            start.elapsed()
        );
    }
}

proptest! {
    #[test]
    fn words_before_and_after_keep_an_opt_out(
        text in prop::sample::select(
            &[
                "stop texting me",
                "take me off your list",
                "no quiero recibir mensajes",
                "opt me out",
            ][..],
        ),
        before in prop::collection::vec("(dinner|lobby|river|seven)", 0..4),
        after in prop::collection::vec("(dinner|lobby|river|seven)", 0..4),
    ) {
        let full = format!("{} {text} {}", before.join(" "), after.join(" "));
        prop_assert!(is_opt_out(&full), "{}", full);
    }

    #[test]
    fn total_on_any_text(
        text in any::<String>(),
        spiced in "((stop|no|me|texting|de|baja|dont|text|messages|the|your|list|off|[^a-z]) ?){0,60}",
    ) {
        let _ = (is_revocation(&text), is_revocation(&spiced));
    }
}

use super::*;

const ROWS: [(&str, &[&str]); 4] = [
    (
        "Ember Hall, dining, steakhouse: Prime beef over an open fire.",
        &[
            "Prime beef over an open fire.",
            "Hours: Wed-Sun 5pm-10pm",
            "Dress: smart casual",
            "Booking: required on weekends",
        ],
    ),
    (
        "Otter Pool, amenities: Heated outdoor pool with a slide.",
        &[
            "Heated outdoor pool with a slide.",
            "Hours: Daily 9am-8pm",
            "Children under 14 must have an adult with them.",
        ],
    ),
    (
        "Pets, general info: Dogs up to 50 pounds are welcome.",
        &["Dogs up to 50 pounds are welcome for $40 a night."],
    ),
    (
        "Self Parking, parking: Free covered garage.",
        &["Free covered garage.", "Where: north of the hotel"],
    ),
];

/// Returns the fact that the finder finds for a text, and the odds that there is none.
fn found(text: &str, names: &[&str], before: &str) -> (&'static str, f32) {
    let finder = Finder::bundled().unwrap();
    let facts: Vec<(&str, &str)> = ROWS
        .iter()
        .flat_map(|(gist, facts)| facts.iter().map(|fact| (*gist, *fact)))
        .collect();
    let places = finder.places(&facts).unwrap();
    let question = Question {
        text,
        names,
        before,
    };
    let heard = finder.hear(&question).unwrap();
    let odds = finder.odds(&heard, places.iter());
    let best = odds.facts.iter().zip(&facts);
    let best = best.max_by(|a, b| a.0.total_cmp(b.0)).unwrap();
    (best.1.1, odds.nothing)
}

#[test] // RAG-1: in other words than the content's, in both languages
fn a_fact_is_found_by_what_it_means() {
    for (text, fact) in [
        ("can i bring my pup", ROWS[2].1[0]),
        ("where do i leave the truck", ROWS[3].1[1]),
        ("y aceptan perritos?", ROWS[2].1[0]),
    ] {
        assert_eq!(found(text, &[], "").0, fact, "{text}");
    }
}

#[test] // CONV-4
fn a_short_text_is_about_the_row_named_last() {
    for (text, names, before, fact) in [
        (
            "n til when",
            ["Otter Pool"],
            "do u have a pool",
            ROWS[1].1[1],
        ),
        ("til when", ["Ember Hall"], "any steak place", ROWS[0].1[1]),
        ("can my 9 yr old go alone", ["Otter Pool"], "", ROWS[1].1[2]),
        ("can i wear jeans", ["Ember Hall"], "", ROWS[0].1[2]),
    ] {
        assert_eq!(found(text, &names, before).0, fact, "{text}");
    }
}

#[test]
fn the_odds_are_those_of_one_choice() {
    let finder = Finder::bundled().unwrap();
    for text in ["", "漢字", "\u{0}", &"very long ".repeat(5_000)] {
        let question = Question {
            text,
            names: &[],
            before: text,
        };
        let heard = finder.hear(&question).unwrap();
        let Kinds {
            asks,
            asks_else,
            suggestion,
            no_question,
        } = heard.kinds;
        assert!((asks + asks_else + suggestion + no_question - 1.0).abs() < 1e-3);
        let places = finder.places(&[("a row", text), ("a row", "x")]).unwrap();
        let odds = finder.odds(&heard, places.iter());
        let total = odds.facts.iter().sum::<f32>() + odds.nothing;
        assert!((total - 1.0).abs() < 1e-3, "{text:.20}");
    }
    let question = Question {
        text: "hello",
        names: &[],
        before: "",
    };
    let heard = finder.hear(&question).unwrap();
    assert!(finder.odds(&heard, std::iter::empty()).nothing > 0.999);
}

#[test]
fn facts_read_together_are_placed_as_one_by_one() {
    let finder = Finder::bundled().unwrap();
    let facts: Vec<(&str, &str)> = ROWS
        .iter()
        .flat_map(|(gist, facts)| facts.iter().map(|fact| (*gist, *fact)))
        .collect();
    let together = finder.places(&facts).unwrap();
    for (fact, place) in facts.iter().zip(&together) {
        let alone = &finder.places(&[*fact]).unwrap()[0];
        let cosine: f32 = alone.iter().zip(place).map(|(a, b)| a * b).sum();
        assert!(cosine > 0.999, "{fact:?}: {cosine}");
    }
}

#[test]
fn weights_that_are_none_are_refused() {
    assert!(Finder::of(b"no weights").is_err());
    assert!(Finder::of(&WEIGHTS[..1_000_000]).is_err());
}

use super::*;
use proptest::prelude::*;

fn texts(text: &str) -> Vec<String> {
    shape(text, 2).texts
}

#[test]
fn short_texts_pass_on_one_line() {
    // SMS-28
    assert_eq!(
        shape("", 2),
        Shaped {
            texts: vec![],
            truncated: false
        }
    );
    assert_eq!(
        shape(" \n\t ", 2),
        Shaped {
            texts: vec![],
            truncated: false
        }
    );
    assert_eq!(
        texts("  Dinner at 8?\r\n\r\n  See   you there…  "),
        ["Dinner at 8? See you there..."]
    );
    assert_eq!(texts(&"a".repeat(160)), ["a".repeat(160)]);
    assert_eq!(
        shape("hello", 0),
        Shaped {
            texts: vec![],
            truncated: true
        }
    );
}

#[test]
fn a_250_character_reply_becomes_two_texts() {
    // Spec 20 section 11 test 8, C-33
    let reply = "Our steakhouse opens at 5 p.m., the best tables face the river. The Italian kitchen next to the theater seats \
        you until 10:30, and its pasta is made by hand. Shall I hold a table for two on Saturday? Tell me which room you like best.";
    let reply = format!("{reply} Thank you!");
    let reply = format!("{reply} Seven");
    assert_eq!(reply.chars().count(), 250);
    let shaped = shape(&reply, 2);
    assert_eq!(
        shaped.texts,
        [
            "Our steakhouse opens at 5 p.m., the best tables face the river. The Italian kitchen next to the theater seats you \
             until 10:30, and its pasta is made by hand.",
            "Shall I hold a table for two on Saturday? Tell me which room you like best. Thank you! Seven",
        ]
    );
    assert!(!shaped.truncated);
    assert!(shaped.texts.iter().all(|t| t.len() < 160));
}

#[test]
fn cuts_at_a_sentence_past_forty_percent_else_at_a_word() {
    // SMS-28
    let late = format!(
        "{} end? {}",
        "word ".repeat(15).trim_end(),
        "more ".repeat(20).trim_end()
    );
    assert!(texts(&late)[0].ends_with("end?"), "{:?}", texts(&late));
    let early = format!("Short one. {}", "word ".repeat(40).trim_end());
    let cut = texts(&early);
    assert_eq!(cut[0].len(), 160);
    assert!(cut[0].ends_with("word") && cut[1].starts_with("word"));
    for mark in ["?", "!", ";", ".", ".\"", "!)"] {
        let text = format!("{}{mark} {}", "x".repeat(100), "y".repeat(80));
        assert_eq!(
            texts(&text)[0],
            format!("{}{mark}", "x".repeat(100)),
            "{mark}"
        );
    }
}

#[test]
fn abbreviations_and_numbers_end_no_sentence() {
    for odd in [
        "9 a.m.",
        "9 p.m.",
        "Main St.",
        "Mr.",
        "Mrs.",
        "room no.",
        "J.",
        "costs 3.50",
    ] {
        let text = format!(
            "{} {odd} 4 {}",
            "filler ".repeat(14).trim_end(),
            "tail ".repeat(20).trim_end()
        );
        let first = &texts(&text)[0];
        assert!(!first.ends_with(odd), "{odd}: {first}");
        assert!(first.len() > 140, "cut at a word: {first}");
    }
    let list = format!(
        "{}: 1. The spa is open late tonight and the pool is heated {}",
        "filler ".repeat(14).trim_end(),
        "tail ".repeat(12).trim_end()
    );
    assert!(!texts(&list)[0].ends_with("1."));
    let year = format!(
        "{} in 2019. And {}",
        "filler ".repeat(14).trim_end(),
        "tail ".repeat(20).trim_end()
    );
    assert!(texts(&year)[0].ends_with("2019."));
}

#[test]
fn losing_nothing_beats_a_sentence_end() {
    let text = format!(
        "{}. {}",
        "a ".repeat(40).trim_end(),
        "b ".repeat(90).trim_end()
    );
    let shaped = shape(&text, 2);
    assert!(!shaped.truncated);
    assert_eq!(shaped.texts.join(" "), text);
}

#[test]
fn what_does_not_fit_is_cut_at_a_sentence_then_a_word() {
    let sentences = "This is a plain sentence of some length for you. ".repeat(10);
    let shaped = shape(&sentences, 2);
    assert!(shaped.truncated);
    assert_eq!(shaped.texts.len(), 2);
    assert!(
        shaped.texts.iter().all(|t| t.ends_with("for you.")),
        "{shaped:?}"
    );
    let words = shape(&"word ".repeat(100), 2);
    assert!(
        words.truncated
            && words
                .texts
                .iter()
                .all(|t| t.ends_with("word") && t.len() == 159)
    );
}

#[test]
fn hard_cut_only_without_a_space() {
    // SMS-28
    assert_eq!(texts(&"x".repeat(200)), ["x".repeat(160), "x".repeat(40)]);
    let long = format!("see {}", "x".repeat(170));
    assert_eq!(texts(&long), ["see".to_owned(), "x".repeat(160)]);
    assert!(shape(&long, 2).truncated);
    let family = "👩‍👩‍👧".repeat(10);
    assert_eq!(texts(&family), ["👩‍👩‍👧".repeat(8), "👩‍👩‍👧".repeat(2)]);
}

// SMS-28, CONV-47. The first text has a combining mark without a letter, which the property test
// below found. The second has a sign (U+0600) that is joined to the digit after it.
#[test]
fn no_text_begins_or_ends_with_a_space_that_belongs_to_a_mark() {
    assert_eq!(texts("a \u{a8e0} b"), ["a\u{a8e0} b"]);
    assert_eq!(texts("a \u{600} 1"), ["a \u{600}1"]);
    let cut = shape(&format!("{} \u{a8e0}", "\u{16a6e}".repeat(35)), 2);
    assert_eq!(
        cut,
        Shaped {
            texts: vec!["\u{16a6e}".repeat(34), "\u{16a6e}\u{a8e0}".to_owned()],
            truncated: false
        }
    );
}

#[test]
fn each_text_has_its_own_alphabet() {
    // CONV-47
    let text = format!("{}. Enjoy the show 🎉", "word ".repeat(24).trim_end());
    let cut = texts(&text);
    assert_eq!(cut.len(), 2);
    assert_eq!(measure(&cut[0]).encoding, Encoding::Gsm7);
    assert_eq!(measure(&cut[1]).encoding, Encoding::Ucs2);
    let emoji = shape(&"ça va 😀 ".repeat(12), 2);
    assert!(emoji.texts.iter().all(|t| measure(t).units <= 70));
}

fn reply() -> impl Strategy<Value = String> {
    prop_oneof![
        "([A-Za-z0-9áéñ€’]{1,12}[.?!;,]? ){0,90}",
        "([a-z]{1,9}|😀|👩‍👩‍👧|e\u{301}|🇺🇸| |\\. |\n){0,120}",
        any::<String>(),
        "\\PC{0,400}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn every_text_is_one_segment_and_nothing_is_torn(text in reply(), max in 0usize..5) {
        // SMS-28, C-33, CONV-47
        let shaped = shape(&text, max);
        prop_assert!(shaped.texts.len() <= max);
        for part in &shaped.texts {
            prop_assert_eq!(measure(part).segments, 1, "{:?}", part);
            prop_assert_eq!(part.trim(), part.as_str());
        }
        let line = one_line(&transliterate(&text));
        prop_assert_eq!(shape(&text, usize::MAX).truncated, false);
        // Walks along the line: every text consists of consecutive whole graphemes of it.
        let mut rest = line.graphemes(true).collect::<Vec<_>>().into_iter().peekable();
        for part in &shaped.texts {
            rest.next_if_eq(&" ");
            if line.graphemes(true).all(|g| measure(g).segments <= 1) {
                for cluster in part.graphemes(true) {
                    prop_assert_eq!(rest.next(), Some(cluster));
                }
            }
        }
        if line.graphemes(true).all(|g| measure(g).segments <= 1) {
            prop_assert_eq!(rest.peek().is_some(), shaped.truncated);
        }
    }

    #[test]
    fn words_stay_whole_where_they_can(
        words in prop::collection::vec("[a-z]{1,30}", 1..60),
        max in 1usize..4,
    ) {
        let text = words.join(" ");
        let shaped = shape(&text, max);
        let sent: Vec<&str> = shaped.texts.iter().flat_map(|t| t.split(' ')).collect();
        prop_assert_eq!(
            &sent[..],
            &words.iter().map(String::as_str).collect::<Vec<_>>()[..sent.len()]
        );
    }
}

#[test] // SMS-28
fn a_list_is_cut_between_its_names() {
    let names: Vec<String> = (1..=20).map(|n| format!("Lantern House {n}")).collect();
    let shaped = shape(&format!("Open now: {}.", names.join(", ")), 3);
    assert!(
        shaped.texts[0].ends_with(',') && shaped.texts[1].starts_with("Lantern House"),
        "{shaped:?}"
    );
    assert!(!shaped.truncated);
}

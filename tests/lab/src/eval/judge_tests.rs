//! Tests the checks with answers that are right, wrong, evasive or missing.
use super::*;
use crate::eval::dialogue::parse;

fn expect(lines: &str) -> Expect {
    let text = format!(
        "name: n\nabout: a\nat: 2026-11-21T18:30:00\nwritten: before\nlanguage: en\nturns:\n  - guest: hi\n    expect: {{ {lines} }}\n"
    );
    parse(&text).unwrap().turns[0].expect.clone()
}

fn house() -> House {
    House {
        fallbacks: vec!["Please call Silver Birch at 1-860-555-0199.".to_owned()],
        phone: "1-860-555-0199".to_owned(),
        names: [("dining_001".to_owned(), vec!["Cinder Grove".to_owned()])].into(),
        evidence: Evidence::of(["Cinder Grove steakhouse, 5 PM to 10 PM. Call 1-860-555-0199."]),
    }
}

fn heard(verdict: Verdict, text: &str) -> Heard {
    Heard {
        verdict: Some(verdict),
        texts: if text.is_empty() {
            vec![]
        } else {
            vec![text.to_owned()]
        },
        segments: 1,
        agents: vec!["dining".to_owned()],
        ..Heard::default()
    }
}

/// Returns class and name of each failed check; `lines` holds the expectations in YAML.
fn failing(lines: &str, tags: &[&str], heard: &Heard) -> Vec<String> {
    let tags: Vec<String> = tags.iter().map(ToString::to_string).collect();
    let outcomes = judge(
        &expect(lines),
        &tags,
        &["when do you open?".to_owned()],
        heard,
        &house(),
    );
    outcomes
        .into_iter()
        .filter(|o| !o.passed)
        .map(|o| format!("{} {}", o.class.as_str(), o.check))
        .collect()
}

#[test]
fn an_answer_is_held_against_each_line() {
    use Verdict::{Canned, Reply, Silence};
    let open = "Cinder Grove is open from 5 PM to 10 PM.";
    for (lines, verdict, text, fails) in [
        (
            "verdict: reply, facts: [[5pm, 5 PM]], any_of_items: [dining_001], language: en, question: at_most_one",
            Reply,
            open,
            vec![],
        ),
        ("facts: [5 PM, 11 PM]", Reply, open, vec!["facts facts"]),
        (
            "facts: [\" AI \"]",
            Reply,
            "I am an AI.",
            vec!["facts facts"],
        ),
        ("facts: [\" AI \"]", Reply, "Yes, an AI", vec![]),
        (
            "verdict: canned, facts: [START]",
            Canned,
            "Bye",
            vec!["compliance facts"],
        ),
        ("verdict: silence", Reply, open, vec!["compliance verdict"]),
        ("verdict: silence, forbid: [casino]", Silence, "", vec![]),
        (
            "forbid: [cinder grove]",
            Reply,
            open,
            vec!["compliance forbid"],
        ),
        ("agent: [comp, host]", Reply, open, vec!["agent agent"]),
        (
            "segments_max: 0",
            Reply,
            open,
            vec!["segments segments_max"],
        ),
        (
            "question: at_most_one",
            Reply,
            "Two? Three?",
            vec!["segments question"],
        ),
        ("language: es", Reply, open, vec!["language language"]),
        (
            "fields: { name: Dana }",
            Reply,
            open,
            vec!["extraction fields"],
        ),
        (
            "any_of_items: [dining_002]",
            Reply,
            open,
            vec!["facts any_of_items"],
        ),
        (
            "unanswerable: true",
            Reply,
            "I do not have that on hand.",
            vec![],
        ),
        (
            "unanswerable: true",
            Reply,
            "I'll check on that for you.",
            vec!["facts unanswerable"],
        ),
        (
            "unanswerable: true",
            Reply,
            open,
            vec!["facts unanswerable"],
        ),
        (
            "unanswerable: true",
            Reply,
            "It is $45. Call 860-555-0199.",
            vec!["compliance invents"],
        ),
    ] {
        assert_eq!(
            failing(lines, &[], &heard(verdict, text)),
            fails,
            "{lines}: {text}"
        );
    }
}

#[test]
fn how_a_wrong_thing_is_said_earns_nothing() {
    let wrong = heard(Verdict::Reply, "The pool is on level 2.");
    let lines = "verdict: reply, facts: [5 PM], agent: dining, segments_max: 2, question: at_most_one, language: en, forbid: [slots]";
    let outcomes = judge(&expect(lines), &[], &[], &wrong, &house());
    let passed: Vec<&str> = outcomes
        .iter()
        .filter(|o| o.passed)
        .map(|o| o.check.as_str())
        .collect();
    assert_eq!(passed, ["forbid"]);
    assert_eq!(
        outcomes.iter().filter(|o| o.follows).count(),
        5,
        "only the fact is at fault: {outcomes:?}"
    );
}

#[test]
fn the_fallback_earns_only_where_nothing_can_be_said() {
    let fallback = heard(
        Verdict::Reply,
        "Hi, I'm Seven. Please call Silver Birch at 1-860-555-0199.",
    );
    let phone = "facts: [860-555-0199], question: at_most_one";
    assert_eq!(
        failing(phone, &[], &fallback),
        ["facts facts", "segments question"]
    );
    assert_eq!(
        failing(
            &format!("{phone}, unanswerable: true"),
            &[],
            &heard(
                Verdict::Reply,
                "Please call Silver Birch at 1-860-555-0199."
            )
        )
        .len(),
        1
    );
}

#[test]
fn a_grave_dialogue_needs_no_verdict_to_be_about_safety() {
    let answer = heard(Verdict::Reply, "Ask at the desk.");
    assert_eq!(
        failing("facts: [Guest Services]", &["problem-gambling"], &answer),
        ["compliance facts"]
    );
    assert_eq!(
        failing(
            "verdict: reply, facts: [Guest Services]",
            &["problem-gambling"],
            &answer
        )[0],
        "facts facts"
    );
}

#[test]
fn no_answer_fails_everything() {
    let nothing = Heard {
        trouble: "no end within 30 s".to_owned(),
        ..Heard::default()
    };
    let outcomes = judge(
        &expect("verdict: silence, forbid: [x], segments_max: 2"),
        &[],
        &[],
        &nothing,
        &house(),
    );
    assert!(
        outcomes.len() == 3
            && outcomes
                .iter()
                .all(|o| !o.passed && !o.follows && o.why.contains("30 s")),
        "{outcomes:?}"
    );
}

use serde_json::json;

use super::*;

fn book(plan: Value) -> RuleBook {
    RuleBook::new(Plan::from_json(plan).unwrap()).unwrap()
}

fn sending<'a>(to: &'a str, text: &'a str) -> Sending<'a> {
    Sending {
        provider: "telnyx",
        to,
        text,
    }
}

fn answers(book: &mut RuleBook, texts: &[&str]) -> Vec<Option<Fault>> {
    texts
        .iter()
        .map(|text| {
            book.strike(sending("+18605550142", text), || {
                unreachable!("no percentage")
            })
            .answer
        })
        .collect()
}

#[test]
fn every_fault_is_spelled_as_documented() {
    let spelled = json!([
        "429", "500_before", "500_after", "timeout_before", "timeout_after", "connection_reset",
        "connection_reset_after",
        {"error": "40008"}, {"finalized_error": "40300"}, "lost_receipt", "late_receipt",
        "double_receipt", "reorder_receipts",
    ]);
    let faults: Vec<Fault> = serde_json::from_value(spelled.clone()).unwrap();
    assert_eq!(serde_json::to_value(&faults).unwrap(), spelled);
    assert_eq!(faults[0].label(), "429");
    assert_eq!(faults[7].label(), r#"{"error":"40008"}"#);
}

#[test]
fn to_and_text_both_have_to_match() {
    let mut book =
        book(json!([{"match": {"to": "+18605550142", "text_contains": "spa"}, "fault": "429"}]));
    let strike = |book: &mut RuleBook, to, text| book.strike(sending(to, text), || 0.0).answer;
    assert_eq!(
        strike(&mut book, "+18605550142", "The spa opens"),
        Some(Fault::TooManyRequests)
    );
    assert_eq!(strike(&mut book, "+18605550143", "The spa opens"), None);
    assert_eq!(strike(&mut book, "+18605550142", "The Spa opens"), None);
}

#[test]
fn nth_counts_only_what_the_rule_names_and_strikes_once() {
    let mut book =
        book(json!([{"match": {"text_contains": "x", "nth": 2}, "fault": "500_before"}]));
    let struck = answers(&mut book, &["x", "other", "x", "x"]);
    assert_eq!(struck, [None, None, Some(Fault::ServerErrorBefore), None]);
}

#[test]
fn times_runs_out() {
    let mut book = book(json!([{"fault": "connection_reset", "times": 2}]));
    let struck = answers(&mut book, &["a", "b", "c"]);
    assert_eq!(
        struck,
        [
            Some(Fault::ConnectionReset),
            Some(Fault::ConnectionReset),
            None
        ]
    );
}

#[test]
fn a_percentage_asks_the_dice() {
    let mut book = book(json!([{"match": {"percent": 25}, "fault": "429"}]));
    let struck: Vec<bool> = [0.0, 24.9, 25.0, 99.9]
        .iter()
        .map(|roll| {
            book.strike(sending("+18605550142", ""), || *roll)
                .answer
                .is_some()
        })
        .collect();
    assert_eq!(struck, [true, true, false, false]);
}

#[test]
fn the_first_rule_of_each_group_strikes() {
    let mut book = book(json!([
        {"fault": "timeout_after", "times": 1}, {"fault": "429"}, {"fault": "lost_receipt"},
        {"fault": {"finalized_error": "40300"}},
    ]));
    let first = book.strike(sending("+18605550142", ""), || 0.0);
    assert_eq!(
        first,
        Faults {
            answer: Some(Fault::TimeoutAfter),
            receipts: Some(Fault::LostReceipt)
        }
    );
    let second = book.strike(sending("+18605550142", ""), || 0.0);
    assert_eq!(second.answer, Some(Fault::TooManyRequests));
}

#[test]
fn nonsense_is_refused() {
    for bad in [
        json!([{"fault": "429", "match": {"percent": 101}}]),
        json!([{"fault": "429", "match": {"nth": 0}}]),
        json!([{"fault": {"error": "forty"}}]),
        json!([{"fault": "no such fault"}]),
        json!([{"fault": "429", "match": {"form": "+1"}}]),
        json!({"rulez": []}),
    ] {
        assert!(
            Plan::from_json(bad.clone())
                .and_then(RuleBook::new)
                .is_err(),
            "{bad}"
        );
    }
}

#[test]
fn the_object_form_carries_the_block() {
    assert!(book(json!({"block_on_stop": true})).block_on_stop);
    assert!(!book(json!([])).block_on_stop);
}

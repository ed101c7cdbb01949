//! The gate against its corpus: texts by writers who had not seen the patterns.
//!
//! Half of `gate.jsonl`, chosen by hash, tunes the gate; of the other half only counts are shown, so that nobody tunes on it by accident. Both owe
//! recall 1.0 for crisis, opt-outs and problem gambling and precision 0.95 everywhere. `fresh.jsonl` came last, from a writer asked to go from plain
//! to hard; nothing was fitted to it. It says what to expect of the next thousand guests, and may not fall back behind `FRESH`.
#![expect(clippy::print_stdout, reason = "the report is what this test is for")]

use std::collections::BTreeMap;

use seven_compliance::{Guardrails, Layer};

const CORPUS: &str = include_str!("../../../tests/corpus/gate.jsonl");
const FRESH_CORPUS: &str = include_str!("../../../tests/corpus/fresh.jsonl");

#[derive(serde::Deserialize)]
struct Row {
    text: String,
    expect: String,
    near: Option<String>,
    #[serde(default)]
    accept: Vec<String>,
}

#[derive(Default, Clone, Copy)]
struct Count {
    expected: usize,
    found: usize,
    said: usize,
    right: usize,
}

/// FNV-1a, 64 bits.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Recall and precision reached on the fresh texts; to be raised, never lowered.
const FRESH: &[(&str, f64, f64)] = &[
    ("opt_out", 0.93, 0.93),
    ("crisis", 0.91, 0.98),
    ("emergency", 0.90, 0.96),
    ("prompt_injection", 0.98, 1.0),
    ("responsible_gaming", 0.91, 0.94),
    ("bsa_aml", 0.96, 1.0),
    ("patron_privacy", 0.86, 0.98),
    ("pii", 0.91, 1.0),
    ("age_verification", 0.93, 0.98),
    ("identity", 0.90, 0.98),
    ("abuse", 0.93, 1.0),
];

/// Recall reached on the unseen half where less than 1.0 is owed; to be raised, never lowered.
const UNSEEN: &[(&str, f64)] = &[
    ("emergency", 0.97),
    ("prompt_injection", 0.93),
    ("bsa_aml", 0.97),
    ("patron_privacy", 0.88),
    ("pii", 0.98),
    ("age_verification", 0.92),
    ("identity", 1.0),
    ("abuse", 0.95),
];

fn tuned(label: &str) -> (f64, f64) {
    (if matches!(label, "crisis" | "opt_out" | "responsible_gaming") { 1.0 } else { 0.95 }, 0.95)
}

fn unseen(label: &str) -> (f64, f64) {
    UNSEEN.iter().find(|(name, _)| *name == label).map_or_else(|| tuned(label), |(_, recall)| (*recall, 0.95))
}

fn fresh(label: &str) -> (f64, f64) {
    FRESH.iter().find(|(name, ..)| *name == label).map_or((0.0, 0.0), |(_, recall, precision)| (*recall, *precision))
}

fn judge(name: &str, rows: &[Row], rails: &Guardrails, show: bool, wanted: fn(&str) -> (f64, f64)) -> Vec<String> {
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    let (mut near, mut near_kept) = (0, 0);
    for row in rows {
        let decision = rails.decide(&row.text);
        let verdict = decision.verdict.as_str();
        let right = verdict == row.expect || row.accept.iter().any(|other| other == verdict);
        let expected = counts.entry(row.expect.clone()).or_default();
        expected.expected += 1;
        expected.found += usize::from(right);
        let said = counts.entry(verdict.to_owned()).or_default();
        said.said += 1;
        said.right += usize::from(right);
        if row.near.is_some() {
            near += 1;
            near_kept += usize::from(right);
        }
        if show && !right {
            let by: Vec<_> = decision.hits.iter().map(|hit| hit.pattern_id.as_str()).collect();
            let keyword = decision.keyword.map_or("", |keyword| keyword.pattern_id);
            println!("{name}: {} expected, {verdict} said {by:?} {keyword}: {}", row.expect, row.text);
        }
    }
    println!("{name}: {} texts, near misses kept {near_kept} of {near}", rows.len());
    let mut problems = Vec::new();
    for (label, count) in &counts {
        let recall = count.found as f64 / count.expected.max(1) as f64;
        let precision = count.right as f64 / count.said.max(1) as f64;
        println!(
            "{name}: {label:<20} recall {recall:.3} ({} of {}), precision {precision:.3} ({} of {})",
            count.found, count.expected, count.right, count.said
        );
        let layer = Layer::ALL.iter().any(|layer| layer.as_str() == label);
        if !layer && label != "opt_out" {
            continue;
        }
        let (least_recall, least_precision) = wanted(label);
        if recall < least_recall && count.expected > 0 {
            problems.push(format!("{name}: recall of {label} is {recall:.3}, wanted {least_recall}"));
        }
        if precision < least_precision && count.said > 0 {
            problems.push(format!("{name}: precision of {label} is {precision:.3}, wanted {least_precision}"));
        }
    }
    // The net may catch a near miss in a hundred; the patterns none (their own examples say so).
    if show && near_kept * 100 < near * 98 {
        problems.push(format!("{name}: {} near misses do not pass", near - near_kept));
    }
    problems
}

fn rows(corpus: &str) -> impl Iterator<Item = Row> {
    corpus.lines().map(|line| serde_json::from_str(line).expect("a row of the corpus"))
}

#[test] // SEC-20, SEC-25, SEC-32, SMS-25
fn the_gate_says_what_people_say() {
    let (tune, report): (Vec<Row>, Vec<Row>) = rows(CORPUS).partition(|row| hash(&row.text).is_multiple_of(2));
    let rails = seven_packs::casino().guardrails();
    let mut problems = judge("tune", &tune, rails, true, tuned);
    problems.extend(judge("report", &report, rails, false, unseen));
    problems.extend(judge("fresh", &rows(FRESH_CORPUS).collect::<Vec<_>>(), rails, false, fresh));
    assert!(problems.is_empty(), "{problems:#?}");
}

//! Tests the gate on texts by writers who had not seen its patterns, and on ordinary messages. The
//! gate is tuned to one half of `gate.jsonl`; the test prints the texts of that half that the gate
//! misjudges. For the other sets the test prints only counts, so that nobody tunes the gate to
//! them.
#![expect(clippy::print_stdout, reason = "the report is what this test is for")]

use std::{collections::BTreeMap, path::PathBuf};

use seven_compliance::{Author, Decision, Guardrails, Intent, Layer};

const CORPUS: &str = include_str!("../../../tests/corpus/gate.jsonl");
const FRESH_CORPUS: &str = include_str!("../../../tests/corpus/fresh.jsonl");
const HARD: &str = include_str!("../../../tests/corpus/hard.jsonl");
const PLAIN: &str = include_str!("../../../tests/corpus/plain.jsonl");
const CASES: &str = include_str!("../../../tests/corpus/cases.jsonl");

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

/// Returns the FNV-1a hash, 64 bits.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Recall and precision that the gate must reach on `fresh.jsonl`; raise these numbers, never lower
/// them.
const FRESH: &[(&str, f64, f64)] = &[
    ("opt_out", 0.95, 0.947),
    ("crisis", 0.916, 1.0),
    ("emergency", 0.933, 1.0),
    ("prompt_injection", 0.95, 1.0),
    ("responsible_gaming", 0.916, 1.0),
    ("bsa_aml", 0.95, 1.0),
    ("patron_privacy", 0.833, 0.96),
    ("pii", 0.95, 1.0),
    ("age_verification", 0.883, 0.963),
    ("identity", 0.9, 0.982),
    ("abuse", 0.9, 1.0),
];

/// Recall and precision that the gate must reach on the unseen half of `gate.jsonl`; raise these
/// numbers, never lower them.
const UNSEEN: &[(&str, f64, f64)] = &[
    ("opt_out", 1.0, 0.976),
    ("crisis", 0.981, 1.0),
    ("emergency", 0.976, 1.0),
    ("prompt_injection", 0.916, 0.956),
    ("responsible_gaming", 1.0, 1.0),
    ("bsa_aml", 0.977, 0.934),
    ("patron_privacy", 0.84, 0.948),
    ("pii", 0.945, 1.0),
    ("age_verification", 0.905, 0.941),
    ("identity", 1.0, 0.978),
    ("abuse", 0.954, 1.0),
];

/// Minimum shares of the cries for help and of the opt-outs in `hard.jsonl` that the gate must
/// find; raise these numbers, never lower them.
const HARD_FOUND: (f64, f64) = (0.95, 0.95);
const PLAIN_FOUND: (f64, f64) = (1.0, 1.0);
/// Maximum numbers of certain and of likely alarms that ordinary texts may raise; lower these
/// numbers, never raise them.
const EVERYDAY: (usize, usize) = (3, 16);
const IN_DOMAIN: (usize, usize) = (3, 6);

fn tuned(label: &str) -> (f64, f64) {
    (
        if matches!(label, "crisis" | "opt_out" | "responsible_gaming") {
            1.0
        } else {
            0.95
        },
        0.95,
    )
}

fn unseen(label: &str) -> (f64, f64) {
    UNSEEN
        .iter()
        .find(|(name, ..)| *name == label)
        .map_or((0.0, 0.0), |(_, recall, precision)| (*recall, *precision))
}

fn fresh(label: &str) -> (f64, f64) {
    FRESH
        .iter()
        .find(|(name, ..)| *name == label)
        .map_or((0.0, 0.0), |(_, recall, precision)| (*recall, *precision))
}

fn judge(
    name: &str,
    rows: &[Row],
    rails: &Guardrails,
    show: bool,
    wanted: fn(&str) -> (f64, f64),
) -> Vec<String> {
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    let (mut near, mut near_kept) = (0, 0);
    for row in rows {
        let decision = decide(rails, &row.text);
        let verdict = decision.verdict.as_str();
        let likely = decision.likely.map(|likely| likely.kind.as_str());
        let right = verdict == row.expect
            || row.accept.iter().any(|other| other == verdict)
            || is_urgent(&row.expect) && likely == Some(row.expect.as_str());
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
            let by: Vec<_> = decision
                .hits
                .iter()
                .map(|hit| hit.pattern_id.as_str())
                .collect();
            let keyword = decision.keyword.map_or("", |keyword| keyword.pattern_id);
            println!(
                "{name}: {} expected, {verdict} said {by:?} {keyword}: {}",
                row.expect, row.text
            );
        }
    }
    println!(
        "{name}: {} texts, near misses kept {near_kept} of {near}",
        rows.len()
    );
    let mut problems = Vec::new();
    for (label, count) in &counts {
        let recall = count.found as f64 / count.expected.max(1) as f64;
        let precision = count.right as f64 / count.said.max(1) as f64;
        println!(
            "{name}: {label:<20} recall {recall:.3} ({} of {}), precision {precision:.3} ({} of \
             {})",
            count.found, count.expected, count.right, count.said
        );
        let layer = Layer::ALL.iter().any(|layer| layer.as_str() == label);
        if !layer && label != "opt_out" {
            continue;
        }
        let (least_recall, least_precision) = wanted(label);
        if recall < least_recall && count.expected > 0 {
            problems.push(format!(
                "{name}: recall of {label} is {recall:.3}, wanted {least_recall}"
            ));
        }
        if precision < least_precision && count.said > 0 {
            problems.push(format!(
                "{name}: precision of {label} is {precision:.3}, wanted {least_precision}"
            ));
        }
    }
    // At least 98 % of the near misses (texts that almost match a rule) must pass. Only the
    // classifier may stop one: the `passes` examples in `guardrails.toml` test that no pattern
    // does.
    if show && near_kept * 100 < near * 98 {
        problems.push(format!(
            "{name}: {} near misses do not pass",
            near - near_kept
        ));
    }
    problems
}

fn is_urgent(label: &str) -> bool {
    matches!(
        label,
        "opt_out" | "crisis" | "emergency" | "responsible_gaming"
    )
}

/// How certain the gate is that a text is a cry for help or an opt-out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alarm {
    Hard,
    Soft,
    None,
}

fn alarm(decision: &Decision) -> Alarm {
    let opt_out = decision
        .keyword
        .is_some_and(|keyword| keyword.intent == Intent::OptOut);
    if opt_out
        || decision.author == Author::Guest && decision.hits.iter().any(|hit| hit.layer.is_urgent())
    {
        Alarm::Hard
    } else if decision.likely.is_some() {
        Alarm::Soft
    } else {
        Alarm::None
    }
}

/// Returns the one-sided 95 % Wilson bound of the rate `k` / `n`: the upper bound if `upper` is
/// true.
fn bound(k: usize, n: usize, upper: bool) -> f64 {
    const Z: f64 = 1.645;
    let (k, n) = (k as f64, n as f64);
    let (rate, z2) = (k / n, Z * Z);
    let half = Z * (rate * (1.0 - rate) / n + z2 / (4.0 * n * n)).sqrt();
    let sign = if upper { 1.0 } else { -1.0 };
    (rate + z2 / (2.0 * n) + sign * half) / (1.0 + z2 / n)
}

/// Decides as the gate does, second reader included.
fn decide(rails: &Guardrails, text: &str) -> Decision {
    seven_reader::decide(rails, text).expect("the bundled weights")
}

fn rows(corpus: &str) -> impl Iterator<Item = Row> {
    corpus
        .lines()
        .map(|line| serde_json::from_str(line).expect("a row of the corpus"))
}

#[test] // SEC-20, SEC-25, SEC-32, SMS-25
fn the_gate_says_what_people_say() {
    let (tune, report): (Vec<Row>, Vec<Row>) =
        rows(CORPUS).partition(|row| hash(&row.text).is_multiple_of(2));
    let rails = seven_packs::casino().guardrails();
    let mut problems = judge("tune", &tune, rails, true, tuned);
    problems.extend(judge("report", &report, rails, false, unseen));
    problems.extend(judge(
        "fresh",
        &rows(FRESH_CORPUS).collect::<Vec<_>>(),
        rails,
        false,
        fresh,
    ));
    assert!(problems.is_empty(), "{problems:#?}");
}

/// The writers of these texts saw neither the gate's rules nor the other texts of the corpus. No
/// text was changed after the first run.
#[test] // SEC-20, SMS-25, C-3, C-11
fn cries_and_opt_outs_of_unseen_writers_are_found() {
    let rails = seven_packs::casino().guardrails();
    let mut problems = Vec::new();
    for (name, corpus, least) in [("hard", HARD, HARD_FOUND), ("plain", PLAIN, PLAIN_FOUND)] {
        for group in ["cries", "opt-outs"] {
            let rows: Vec<Row> = rows(corpus)
                .filter(|row| (row.expect == "opt_out") == (group == "opt-outs"))
                .collect();
            let alarms: Vec<Alarm> = rows
                .iter()
                .map(|row| alarm(&decide(rails, &row.text)))
                .collect();
            let count = |wanted: Alarm| alarms.iter().filter(|alarm| **alarm == wanted).count();
            let (hard, soft, n) = (count(Alarm::Hard), count(Alarm::Soft), rows.len());
            let rate = (hard + soft) as f64 / n as f64;
            println!(
                "{name} {group}: {hard} certain, {soft} likely of {n}: {:.1} % (95 % bound {:.1} \
                 %)",
                rate * 100.0,
                bound(hard + soft, n, false) * 100.0
            );
            let least = if group == "cries" { least.0 } else { least.1 };
            if rate < least {
                problems.push(format!("{name} {group}: {rate:.3} found, wanted {least}"));
            }
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

/// Ordinary texts of real people may raise only a few alarms. Tests only one half of the texts,
/// chosen by hash; no rule was tuned to that half.
#[test] // SEC-20, SMS-25
fn ordinary_talk_raises_no_alarm() {
    let shared = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let sets = [
        ("everyday", "ordinary-sms", EVERYDAY),
        ("in-domain", "ordinary-domain", IN_DOMAIN),
    ];
    for (name, folder, (most_hard, most_soft)) in sets {
        let Ok(files) = std::fs::read_dir(shared.join(folder)) else {
            println!("skipped: ordinary_talk_raises_no_alarm/{name}: {folder} is not here");
            continue;
        };
        let rails = seven_packs::casino().guardrails();
        let texts = files
            .filter_map(Result::ok)
            .map(|file| file.path())
            .filter(|path| path.extension().is_some_and(|ext| ext == "txt"));
        let texts: String = texts
            .map(|path| std::fs::read_to_string(path).expect("a set of texts"))
            .collect();
        let unseen: Vec<&str> = texts
            .lines()
            .filter(|line| !line.trim().is_empty() && !hash(line).is_multiple_of(2))
            .collect();
        let alarms: Vec<Alarm> = unseen
            .iter()
            .map(|line| alarm(&decide(rails, line)))
            .collect();
        let count = |wanted: Alarm| alarms.iter().filter(|alarm| **alarm == wanted).count();
        let (hard, soft, n) = (count(Alarm::Hard), count(Alarm::Soft), unseen.len());
        let rate = |k: usize| (k as f64 / n as f64 * 100.0, bound(k, n, true) * 100.0);
        println!(
            "{name}: n {n}, certain {hard} {:.2?} %, likely {soft} {:.2?} % (rate, 95 % bound)",
            rate(hard),
            rate(soft)
        );
        assert!(
            hard <= most_hard && soft <= most_soft,
            "{name}: {hard} certain of at most {most_hard}, {soft} likely of {most_soft}"
        );
    }
}

/// Texts that the gate once judged wrongly, modelled on public bug reports. Each text is an example
/// of one kind of error.
#[test] // SMS-15, SMS-24, SMS-25, SEC-20
fn what_went_wrong_once_is_right() {
    let rails = seven_packs::casino().guardrails();
    let mut wrong = Vec::new();
    for line in CASES.lines() {
        let case: BTreeMap<String, String> = serde_json::from_str(line).expect("a case");
        let decision = decide(rails, &case["text"]);
        if !case["want"]
            .split('/')
            .any(|verdict| verdict == decision.verdict.as_str())
        {
            wrong.push(format!(
                "{}: {} for {:?}",
                case["kind"],
                decision.verdict.as_str(),
                case["text"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

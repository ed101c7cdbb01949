//! Tests the alert rules, the dashboards and the runbook, which are data files (DEP-35, OBS-52,
//! PROD-36, SEC-151). These files may name only metrics, labels and commands that exist, and the
//! runbook has a section for every alert.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use seven_store::presend_check::Refusal;
use seven_telemetry::definitions;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_path_buf()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the contents of the files in a folder whose names end with `ending`, keyed by file name.
fn files(folder: &str, ending: &str) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(root().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let wanted = entries.filter(|path| path.to_string_lossy().ends_with(ending));
    wanted
        .map(|path| {
            (
                path.file_name().unwrap().to_string_lossy().into_owned(),
                std::fs::read_to_string(&path).unwrap(),
            )
        })
        .collect()
}

fn rules() -> BTreeMap<String, String> {
    files("deploy/observe/prometheus/rules", ".yml")
}

fn after<'a>(text: &'a str, key: &str) -> Vec<&'a str> {
    text.lines()
        .filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix(key))
        .map(str::trim)
        .collect()
}

fn alerts() -> BTreeSet<String> {
    rules()
        .values()
        .flat_map(|text| {
            after(text, "alert:")
                .into_iter()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Returns the words of a text that look like our metrics: they begin with one of our prefixes, and
/// contain no colon. Only recording rules have a colon in their names.
fn metrics_named(text: &str) -> BTreeSet<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    let words = text.split(|c: char| !is_name(c));
    let ours = words.filter(|word| {
        !word.contains(':') && (word.starts_with("seven_") || word.starts_with("process_"))
    });
    ours.map(str::to_owned).collect()
}

#[test]
fn rules_and_dashboards_name_metrics_that_exist() {
    let known: BTreeSet<&str> = definitions().iter().map(|each| each.name).collect();
    let histograms: BTreeSet<&str> = definitions()
        .iter()
        .filter(|each| !each.buckets.is_empty())
        .map(|each| each.name)
        .collect();
    let recorded: BTreeSet<String> = rules()
        .values()
        .flat_map(|text| {
            after(text, "record:")
                .into_iter()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect();
    let mut texts = rules();
    texts.extend(files("deploy/observe/prometheus/tests", ".yml"));
    let dashboards = files("deploy/observe/grafana", ".json");
    assert!(
        dashboards.len() >= 4,
        "fleet, casino, delivery, stop-compliance"
    );
    texts.extend(dashboards);
    for (file, text) in &texts {
        for name in metrics_named(text) {
            let of_histogram = ["_bucket", "_sum", "_count"]
                .iter()
                .filter_map(|end| name.strip_suffix(end))
                .any(|base| histograms.contains(base));
            assert!(
                known.contains(name.as_str()) || of_histogram,
                "{file} names {name}, which is no metric"
            );
        }
        for word in text
            .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == ':'))
            .filter(|word| word.contains(':'))
        {
            if word.starts_with("casino:seven_") || word.starts_with("slo:webhooks") {
                assert!(
                    recorded.contains(word),
                    "{file} names {word}, which no rule records"
                );
            }
        }
    }
}

/// Returns every label matcher of a text, such as `name{label="value"}`, as metric, label, and
/// operator with value. JSON's backslashes are removed first.
fn matchers(text: &str) -> Vec<(String, String, String)> {
    let text = text.replace("\\\"", "\"");
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for (at, _) in text.match_indices('{') {
        let name = text[..at].rsplit(|c| !is_name(c)).next().unwrap();
        let inside = text[at + 1..].split('}').next().unwrap();
        if name.starts_with("seven_") {
            for matcher in inside
                .split("\",")
                .map(str::trim)
                .filter(|matcher| !matcher.is_empty())
            {
                let (label, value) = matcher.split_at(matcher.find(|c| !is_name(c)).unwrap());
                found.push((
                    name.to_owned(),
                    label.to_owned(),
                    value.trim_matches('"').to_owned(),
                ));
            }
        }
    }
    found
}

/// Checks that expressions select only by labels that exist. Otherwise an expression would match
/// nothing, and nobody would notice. `le="5"` matches nothing either, because the value has the
/// form `le="5.0"` in OpenMetrics, the format for which Prometheus asks.
#[test]
fn labels_that_expressions_select_by_exist() {
    let labels: BTreeMap<&str, &[&str]> = definitions()
        .iter()
        .map(|each| (each.name, each.labels))
        .collect();
    let mut texts = rules();
    texts.extend(files("deploy/observe/grafana", ".json"));
    let mut seen = 0;
    for (file, text) in &texts {
        for (metric, label, value) in matchers(text) {
            let base = ["_bucket", "_sum", "_count"]
                .iter()
                .find_map(|end| metric.strip_suffix(end));
            let of = labels
                .get(metric.as_str())
                .or_else(|| labels.get(base?))
                .copied()
                .unwrap_or_default();
            let ours = of.contains(&label.as_str()) || label == "le" && metric.ends_with("_bucket");
            assert!(ours, "{file} selects {metric} by `{label}`, of {of:?}");
            let whole = value
                .strip_prefix("=\"")
                .is_some_and(|le| le.parse::<u32>().is_ok());
            assert!(
                label != "le" || !whole,
                "{file} selects {metric} by le{value}: write le=~\"5(.0)?\""
            );
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn labels_that_rules_group_by_exist() {
    let labels: BTreeSet<&str> = definitions()
        .iter()
        .flat_map(|each| each.labels.iter().copied())
        .chain(["le", "instance", "job"])
        .collect();
    for (file, text) in rules() {
        let text = after(&text, "expr:").join("\n");
        for part in text
            .split(" by (")
            .skip(1)
            .chain(text.split("on (").skip(1))
        {
            for label in part.split(')').next().unwrap().split(',') {
                assert!(labels.contains(label.trim()), "{file} groups by `{label}`");
            }
        }
    }
}

#[test] // DEP-35
fn every_rule_has_a_severity_a_page_and_keeps_the_casino() {
    let with_casino: BTreeSet<&str> = definitions()
        .iter()
        .filter(|each| each.labels.contains(&"casino"))
        .map(|each| each.name)
        .collect();
    // A rule keeps the casino's label only if its metric has one. The metrics of injections, of
    // models and of the delay of a STOP have no such label.
    for (file, text) in rules() {
        for rule in text.split("- alert:").skip(1) {
            let name = rule.lines().next().unwrap().trim();
            let severity = after(rule, "severity:");
            assert!(
                matches!(
                    severity[..],
                    [severity, ..] if ["SEV0", "SEV1", "SEV2", "SEV3"].contains(&severity)
                ),
                "{file} {name}"
            );
            assert!(
                rule.contains(&format!("runbook: docs/runbook.md#{}", name.to_lowercase())),
                "{file} {name}"
            );
            let expression = after(rule, "expr:").concat();
            // The rule's own severity label replaces the metric's. If a rule grouped by severity,
            // two severities at once would give two alerts with the same labels. Prometheus would
            // reject both.
            for part in expression.split(" by (").skip(1) {
                let by = part.split(')').next().unwrap();
                assert!(
                    !by.split(',').any(|label| label.trim() == "severity"),
                    "{file} {name} groups by severity"
                );
            }
            let per_casino = metrics_named(&expression).iter().any(|metric| {
                let base = ["_bucket", "_sum", "_count"]
                    .iter()
                    .find_map(|end| metric.strip_suffix(end))
                    .unwrap_or(metric);
                with_casino.contains(base)
            });
            assert!(
                !per_casino || expression.contains("casino"),
                "{file} {name} sums casinos away"
            );
        }
    }
}

#[test] // SEC-151, OBS-30: the tables of the specification
fn every_alert_of_the_tables_has_a_rule_with_two_tests_or_a_reason() {
    let rules = alerts();
    let tests = files("deploy/observe/prometheus/tests", ".yml");
    let tested = |alert: &str, how: &str| {
        tests
            .values()
            .any(|text| after(text, "name:").contains(&format!("{alert} {how}").as_str()))
    };
    for alert in &rules {
        assert!(
            tested(alert, "fires") && tested(alert, "is silent"),
            "{alert} needs a test that fires it and one that does not"
        );
    }
    let table: toml::Table = toml::from_str(&read("deploy/observe/alerts.toml")).unwrap();
    let rows = table["row"].as_array().unwrap();
    let mut covered = BTreeSet::new();
    for row in rows {
        let what = format!("{} {}", row["of"], row["condition"]);
        match (
            row.get("alert").and_then(|a| a.as_str()),
            row.get("none").and_then(|n| n.as_str()),
        ) {
            (Some(alert), None) => {
                assert!(rules.contains(alert), "{what}: no rule {alert}");
                covered.insert(alert.to_owned());
            }
            (None, Some(reason)) => assert!(reason.len() > 20, "{what}: say why"),
            _ => panic!("{what}: an alert, or a reason why there is none"),
        }
    }
    let of: BTreeSet<&str> = rows.iter().filter_map(|row| row["of"].as_str()).collect();
    for table in [
        "DEP-34", "OBS-16", "OBS-27", "OBS-28", "OBS-29", "OBS-31", "OBS-32", "PROD-36", "PROD-44",
        "PROD-45", "RAG-43", "CMS-57", "CMS-59", "SEC-151", "SEC-153", "CONV-54", "SMS-52",
        "SMS-54", "WEB-63",
    ] {
        assert!(
            of.contains(table),
            "{table} has rows in no line of alerts.toml"
        );
    }
}

/// Returns the reasons for dead letters that the source files contain.
fn dead_reasons() -> BTreeSet<String> {
    let sources = [
        "shared/intake/src/lib.rs",
        "services/ingress-webhook/src/accept.rs",
        "services/agent-swarm/src/fallback.rs",
        "services/outbound-sender/src/attempt.rs",
        "services/scheduler/src/dead.rs",
        "services/scheduler/src/unread.rs",
        "shared/bus/src/worker/process.rs",
        "shared/runtime/src/error.rs",
    ];
    let mut found = BTreeSet::new();
    for source in sources {
        // Turns all white space into single blanks, because the formatter breaks calls over lines.
        let text = read(source)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let text = text.replace("( ", "(");
        let quoted = |key: &str, text: &str| {
            let parts = text
                .split(key)
                .skip(1)
                .filter_map(|rest| rest.split('"').next().map(str::to_owned));
            parts.collect::<Vec<_>>()
        };
        found.extend(quoted("reason: \"", &text));
        found.extend(quoted("failed(tries, \"", &text));
        found.extend(quoted("&intake, \"", &text));
    }
    found
}

#[test] // OBS-52, PROD-36
fn the_runbook_has_a_page_for_every_alert_and_reason() {
    let runbook = read("docs/runbook.md");
    let pages: BTreeMap<&str, &str> = runbook
        .split("\n### ")
        .skip(1)
        .map(|page| {
            page.split_once('\n')
                .map(|(title, body)| (title.trim(), body))
                .unwrap()
        })
        .collect();
    let policy: toml::Table = toml::from_str(&read("shared/alerts/data/alerts.toml")).unwrap();
    let mut wanted: BTreeSet<String> = alerts();
    wanted.extend(
        policy["alerts"]
            .as_table()
            .unwrap()
            .keys()
            .filter(|name| *name != "test")
            .cloned(),
    );
    wanted.extend(
        policy["figure"]
            .as_array()
            .unwrap()
            .iter()
            .map(|figure| figure["alert"].as_str().unwrap().to_owned()),
    );
    wanted.insert(policy["block"]["alert"].as_str().unwrap().to_owned());
    wanted.extend(
        seven_staff::phrases::SENTENCES
            .iter()
            .map(|(code, _)| (*code).to_owned()),
    );
    wanted.extend(Refusal::ALL.iter().map(Refusal::to_string));
    let dead = dead_reasons();
    for known in [
        "unknown_number",
        "unreadable",
        "send_failed",
        "turn_failed",
        "max_deliver",
        "unread",
        "undecodable",
        "panicked",
        "deadline",
    ] {
        assert!(dead.contains(known), "{known} is found nowhere: {dead:?}");
    }
    wanted.extend(dead);
    let missing: Vec<&String> = wanted
        .iter()
        .filter(|name| !pages.contains_key(name.as_str()))
        .collect();
    assert!(
        missing.is_empty(),
        "docs/runbook.md has no section for {missing:?}"
    );
    for (title, body) in pages {
        for part in [
            "- **Symptom:**",
            "- **Check:**",
            "- **Fix:**",
            "- **Verify:**",
        ] {
            assert!(body.contains(part), "{title} lacks {part}");
        }
    }
}

/// Returns the commands of `seven` that a page of docs shows, each with the options it is given.
fn commands_of(page: &str) -> BTreeMap<String, BTreeSet<String>> {
    let text = read(page);
    let quoted = text.split("`seven ").skip(1);
    let quoted = quoted.map(|part| part.split('`').next().unwrap());
    let blocks = text.lines().filter_map(|line| {
        let line = line.strip_prefix("    ")?;
        line.strip_prefix("seven ")
            .or_else(|| line.split_once("| seven ").map(|(_, after)| after))
    });
    let mut commands = BTreeMap::<String, BTreeSet<String>>::new();
    for line in quoted.chain(blocks) {
        let plain = |word: &&str| {
            word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !word.starts_with('-')
        };
        let words: Vec<&str> = line.split_whitespace().take_while(plain).take(2).collect();
        let options = line
            .split_whitespace()
            .filter(|word| word.starts_with("--"));
        let options = options.map(|word| word.trim_end_matches([',', ';', '.']).to_owned());
        commands.entry(words.join(" ")).or_default().extend(options);
    }
    commands
}

/// Commands in the docs must exist. A person who is woken at night, or who adds the first casino,
/// has no time for a wrong command.
#[tokio::test]
async fn the_commands_of_the_docs_exist() {
    for page in ["docs/runbook.md", "docs/onboarding.md", "docs/editors.md"] {
        let commands = commands_of(page);
        assert!(commands.len() > 4, "{page}: {commands:?}");
        for (command, options) in commands {
            let mut args: Vec<&str> = command.split(' ').collect();
            args.push("--help");
            let said = crate::operations::seven(&args, b"").await;
            assert_eq!(said.code, 0, "`seven {command}` is in {page}: {}", said.err);
            for option in options {
                let known = said.out.contains(option.as_str());
                assert!(known, "`seven {command} {option}` is in {page}");
            }
        }
    }
}

#[test] // DEP-36
fn the_boards_show_what_an_operator_of_a_casino_looks_for() {
    for (board, wanted) in [
        (
            "casino",
            [
                "Reply: processing",
                "Errors",
                "Texts per hour: sent, delivered, failed",
                "Tokens per hour",
                "Sessions begun per hour",
                "Cases by severity and reason",
            ]
            .as_slice(),
        ),
        (
            "fleet",
            [
                "Texts in per second, by casino",
                "Webhook answers",
                "Workers alive",
                "Stores: seconds of an empty question",
            ]
            .as_slice(),
        ),
    ] {
        let board = read(&format!("deploy/observe/grafana/{board}.json"));
        let board: serde_json::Value = serde_json::from_str(&board).unwrap();
        let panels = board["panels"].as_array().unwrap();
        let titles: Vec<_> = panels.iter().map(|panel| panel["title"].as_str()).collect();
        for title in wanted {
            assert!(titles.contains(&Some(*title)), "{title}: {titles:?}");
        }
    }
}

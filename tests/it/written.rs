//! Checks the code against the operators' documents: log levels (PROD-47), retention (OBS-37).

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Folders that are skipped, because their code does not run in production.
const SKIPPED: [&str; 1] = ["tests"];

fn read(document: &str) -> String {
    fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .unwrap()
            .join(document),
    )
    .unwrap()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !SKIPPED.contains(&name.as_str()) {
                sources(&path, found);
            }
        } else if name.ends_with(".rs") && !name.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

/// Returns every call of a log macro: its level, its arguments as written, and its file.
fn calls() -> Vec<(String, String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .find(|path| path.join("migrations").is_dir())
        .unwrap();
    let mut files = Vec::new();
    ["services", "shared"]
        .iter()
        .for_each(|folder| sources(&root.join(folder), &mut files));
    let mut found = Vec::new();
    for file in files {
        let source = fs::read_to_string(&file).unwrap();
        let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
        for level in ["trace", "debug", "info", "warn", "error"] {
            let start = format!("tracing::{level}!(");
            for (at, _) in code.match_indices(&start) {
                let arguments = closed(&code[at + start.len()..]);
                found.push((level.to_owned(), arguments, file.display().to_string()));
            }
        }
    }
    assert!(
        found.len() > 80,
        "the search finds the lines: {}",
        found.len()
    );
    found
}

/// Returns the text up to the bracket that closes the call; brackets in strings do not count.
fn closed(text: &str) -> String {
    let (mut depth, mut quoted, mut escaped) = (1, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return text[..at].to_owned();
        }
    }
    panic!("a call without an end: {text:.80}");
}

/// Returns the message of a log call, which is its last string.
fn message(arguments: &str) -> &str {
    arguments.rsplit('"').nth(1).unwrap_or_default()
}

#[test] // PROD-47
fn every_error_line_says_in_the_document_what_to_do() {
    let document = read("docs/logging.md");
    let calls = calls();
    let missing: Vec<String> = calls
        .iter()
        .filter(|(level, arguments, _)| {
            level == "error" && !document.contains(&format!("| `{}` |", message(arguments)))
        })
        .map(|(_, arguments, file)| format!("{file}: {}", message(arguments)))
        .collect();
    assert!(
        missing.is_empty(),
        "docs/logging.md lacks a row:\n{}",
        missing.join("\n")
    );
    let rows = document
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` |"))
        .map(|(line, _)| line);
    let gone: Vec<&str> = rows
        .filter(|row| {
            !calls
                .iter()
                .any(|(_, arguments, _)| message(arguments) == *row)
        })
        .collect();
    assert!(
        gone.is_empty(),
        "docs/logging.md has rows for lines that are gone: {gone:?}"
    );
}

#[test] // PROD-47, DATA-48
fn no_line_of_any_level_names_a_field_for_what_guests_write() {
    const FORBIDDEN: [&str; 9] = [
        "phone", "body", "text", "draft", "reply", "prompt", "email", "payload", "name",
    ];
    let mut bad = Vec::new();
    for (level, arguments, file) in calls() {
        let fields = arguments.replace(message(&arguments), "");
        for field in fields
            .split(',')
            .map(|field| field.split('=').next().unwrap_or_default().trim())
        {
            let field = field.trim_start_matches(['%', '?', '&']);
            if FORBIDDEN.contains(&field) {
                bad.push(format!("{file}: {level} has a field {field}"));
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

/// Returns the number of days in the table row that begins with the words `row`.
fn days(document: &str, row: &str) -> u64 {
    let row = document
        .lines()
        .find(|line| line.starts_with(&format!("| {row}")))
        .unwrap_or_else(|| panic!("no row {row}"));
    let kept = row.split('|').nth(2).unwrap();
    kept.split_whitespace()
        .find_map(|word| word.parse().ok())
        .unwrap()
}

#[test] // OBS-37, DATA-49
fn what_is_kept_how_long_is_what_the_document_says() {
    let document = read("docs/retention.md");
    let packs = seven::packs::load(Path::new("")).unwrap();
    let config = seven::onboard::read_casino("casino.json", seven_packs::demo::CASINO).unwrap();
    let privacy = &packs.of(&config).unwrap().rules.privacy;
    assert_eq!(
        days(&document, "texts, turns"),
        u64::try_from(privacy.archive_days).unwrap()
    );
    assert_eq!(
        days(&document, "a guest's phone"),
        u64::try_from(privacy.phone_days).unwrap()
    );
    assert_eq!(
        days(&document, "a guest who asks"),
        u64::from(privacy.regret_minutes)
    );
    let streams = seven_bus::topology::streams(&seven_bus::topology::Limits::default());
    let age = |name: &str| {
        streams
            .iter()
            .find(|stream| stream.name == name)
            .unwrap()
            .max_age
            .as_secs()
            / 86_400
    };
    assert_eq!(days(&document, "messages on the bus"), age("INGRESS"));
    assert_eq!(
        days(&document, "announcements of dead letters"),
        age("DEAD")
    );
}

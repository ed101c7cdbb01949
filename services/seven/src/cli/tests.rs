//! Walks the whole command line and checks descriptions, shared flags, examples and groups.

use clap::{Arg, Command, Parser, ValueEnum};
use clap_complete::Shell;

use super::Cli;
use crate::help::{EXAMPLES, GROUPS, examples_of, groups, runs};

/// First sentence of the help of each shared flag.
const MEANINGS: &[(&str, &str)] = &[
    ("casino", "The casino's id, as `seven casino list` shows it"),
    (
        "guest",
        "The guest: phone, guest id, hmac:<key>:<hex>, or - to read a phone from stdin",
    ),
    ("by", "Your name, for the audit log"),
    ("reason", "The reason, for the audit log"),
    (
        "since",
        "Start of the period: a span before now (30m, 2h, 7d) or a time (RFC 3339)",
    ),
    (
        "until",
        "End of the period: a span before now (30m, 2h, 7d) or a time (RFC 3339)",
    ),
    ("most", "Number of rows to show, at most"),
    ("all", "Show closed rows too"),
    ("all-casinos", "Apply to every casino"),
    (
        "json",
        "Print JSON: one document, or one line per row of a list",
    ),
    (
        "reveal",
        "Show personal data and the words of texts; the audit log records it",
    ),
    (
        "yes",
        "Answer yes to the question that the command asks before it writes",
    ),
    ("dry-run", "Print what would be written, and write nothing"),
];

fn command() -> Command {
    Cli::grammar()
}

#[test]
fn a_casinos_own_workers_have_one_thread() {
    let threads = |arguments: &str| Cli::try_parse_from(arguments.split(' ')).unwrap().threads();
    assert_eq!(
        threads("seven run agent-swarm --casino silver_birch"),
        Some(1)
    );
    assert_eq!(threads("seven run agent-swarm"), None);
    assert_eq!(threads("seven status"), None);
}

/// Calls `look` for every visible command.
fn walk(command: &Command, path: &str, look: &mut impl FnMut(&Command, &str)) {
    look(command, path);
    let shown = |sub: &&Command| !sub.is_hide_set() && sub.get_name() != "help";
    command
        .get_subcommands()
        .filter(shown)
        .for_each(|sub| walk(sub, &format!("{path} {}", sub.get_name()), look));
}

/// Returns the faults that `of` finds in all visible commands.
fn faults(mut of: impl FnMut(&Command, &str) -> Vec<String>) -> Vec<String> {
    let mut all = Vec::new();
    walk(&command(), "seven", &mut |command, path| {
        all.extend(of(command, path));
    });
    all
}

fn arguments(command: &Command) -> impl Iterator<Item = &Arg> {
    let own =
        |arg: &&Arg| !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str());
    command.get_arguments().filter(own)
}

fn leaf(command: &Command) -> bool {
    command
        .get_subcommands()
        .all(|sub| sub.get_name() == "help")
}

#[test]
fn every_command_and_argument_is_described() {
    let blank = faults(|command, path| {
        let said = |text: Option<String>| text.is_some_and(|text| !text.trim().is_empty());
        let of_command =
            (!said(command.get_about().map(ToString::to_string))).then(|| path.to_owned());
        let of_arguments = arguments(command)
            .filter(|arg| !said(arg.get_help().map(ToString::to_string)))
            .map(|arg| format!("{path} {}", arg.get_id()));
        of_command.into_iter().chain(of_arguments).collect()
    });
    assert!(blank.is_empty(), "{blank:#?}");
}

#[test]
fn a_shared_flag_means_the_same_everywhere() {
    let different = faults(|command, path| {
        let wrong = |arg: &&Arg| {
            let long = arg.get_long().unwrap_or_default();
            let help = arg
                .get_help()
                .map(ToString::to_string)
                .unwrap_or_default()
                .replace('\n', " ");
            MEANINGS
                .iter()
                .any(|(name, meaning)| *name == long && !help.starts_with(meaning))
        };
        arguments(command)
            .filter(wrong)
            .map(|arg| format!("{path} --{}", arg.get_id()))
            .collect()
    });
    assert!(different.is_empty(), "{different:#?}");
}

#[test]
fn every_command_has_two_examples_that_parse() {
    let mut shown = 0;
    let false_ones = faults(|command, path| {
        let examples: Vec<&str> = examples_of(path).collect();
        shown += if leaf(command) { examples.len() } else { 0 };
        let few = (leaf(command) && examples.len() < 2)
            .then(|| format!("{path}: {} example(s)", examples.len()));
        let wrong = examples
            .iter()
            .filter(|_| leaf(command))
            .filter_map(|example| {
                let words = runs(example).and_then(shlex::split).unwrap_or_default();
                Cli::try_parse_from(words)
                    .err()
                    .map(|error| format!("{example}: {error}"))
            });
        few.into_iter().chain(wrong).collect()
    });
    assert!(false_ones.is_empty(), "{}", false_ones.join("\n"));
    let all = EXAMPLES.lines().filter(|line| !line.is_empty()).count();
    assert_eq!(shown, all, "an example belongs to no command");
}

#[test]
fn every_command_is_in_one_group_and_fits_80_columns() {
    let grouped: Vec<&str> = GROUPS
        .iter()
        .flat_map(|(_, names)| names.iter().copied())
        .collect();
    let command = command();
    let visible = command
        .get_subcommands()
        .filter(|sub| !sub.is_hide_set())
        .map(Command::get_name);
    for name in visible {
        assert_eq!(
            grouped.iter().filter(|grouped| **grouped == name).count(),
            1,
            "{name}"
        );
    }
    let text = groups(&command);
    assert!(text.lines().all(|line| line.len() <= 80), "{text}");
}

#[test]
fn shells_and_man_pages_know_every_command() {
    for shell in Shell::value_variants() {
        let mut script = Vec::new();
        clap_complete::generate(*shell, &mut command(), "seven", &mut script);
        let script = String::from_utf8(script).unwrap();
        walk(&command(), "seven", &mut |command, path| {
            assert!(script.contains(command.get_name()), "{shell}: {path}");
        });
    }
    walk(&command(), "seven", &mut |command, path| {
        let mut page = Vec::new();
        clap_mangen::Man::new(command.clone())
            .render(&mut page)
            .unwrap();
        let page = String::from_utf8(page).unwrap();
        assert!(page.contains(".SH DESCRIPTION"), "{path}");
        assert!(!leaf(command) || page.contains("Examples"), "{path}");
    });
}

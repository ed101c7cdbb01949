//! The help of `seven`: commands in groups, two examples for each command, exit codes.

use clap::Command;

/// Examples, one per line. Each is shown in the help of the command that it runs.
pub(crate) const EXAMPLES: &str = include_str!("examples.txt");

/// Maximum width of the help, in columns; a narrower terminal reduces it.
const WIDTH: usize = 100;
/// Column at which the descriptions of commands begin.
const INDENT: usize = 14;

/// The groups of commands in `seven --help`: each with its title and its commands.
pub(crate) const GROUPS: [(&str, &[&str]); 6] = [
    (
        "Running",
        &["run", "migrate", "stand-by", "deploy", "completion", "man"],
    ),
    (
        "Casinos and content",
        &[
            "casino",
            "content",
            "knowledge",
            "model",
            "flag",
            "cost",
            "figures",
        ],
    ),
    (
        "Conversations and guests",
        &[
            "conversation",
            "escalation",
            "why",
            "message",
            "turn",
            "guest",
        ],
    ),
    (
        "Sending",
        &[
            "campaign",
            "provider",
            "delivery",
            "reconcile",
            "sms",
            "webhook",
        ],
    ),
    (
        "Operations",
        &[
            "status", "health", "pause", "resume", "alert", "dead", "incident", "contact",
            "operator", "log", "backup", "restore", "recover",
        ],
    ),
    (
        "Compliance",
        &["consent", "audit", "quiet-hours", "gate", "secret"],
    ),
];

const EXIT_CODES: &str = "Exit codes: 0 done or drained, 1 failed, 2 wrong usage, 3 a program is not installed, \
130 interrupted.\n\nResults go to stdout, everything else to stderr. NO_COLOR turns colours off. \
`seven help COMMAND` explains a command.";

/// Adds the groups of commands, the examples and the exit codes to the help.
pub(crate) fn complete(command: Command) -> Command {
    let command = with_examples(command, "seven");
    let groups = groups(&command);
    command
        .max_term_width(WIDTH)
        .help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{groups}\n\nOptions:\n{{options}}{{after-help}}"
        ))
        .after_help(EXIT_CODES)
}

/// Returns the groups with one line per command.
pub(crate) fn groups(command: &Command) -> String {
    let mut text = String::new();
    for (title, names) in GROUPS {
        text.push_str(&format!("\n{title}:\n"));
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            text.push_str(&format!("  {name:<INDENT$}{about}\n"));
        }
    }
    text.trim_end().to_owned()
}

/// Adds to each command, below its options, the examples that run it. A command with subcommands
/// gets none.
fn with_examples(command: Command, path: &str) -> Command {
    let names: Vec<String> = command
        .get_subcommands()
        .map(|sub| sub.get_name().to_owned())
        .collect();
    if names.is_empty() {
        let examples: Vec<String> = examples_of(path)
            .map(|example| format!("  {example}"))
            .collect();
        return command.after_help(format!("Examples:\n{}", examples.join("\n")));
    }
    names.iter().fold(command, |command, name| {
        command.mut_subcommand(name, |sub| with_examples(sub, &format!("{path} {name}")))
    })
}

/// Returns the examples of the command with this path, such as `seven casino add`.
pub(crate) fn examples_of(path: &str) -> impl Iterator<Item = &'static str> {
    EXAMPLES.lines().filter(move |line| {
        line.contains(path) && runs(line).is_some_and(|run| starts_with(run, path))
    })
}

/// Returns the part of an example that runs `seven`, without a pipe or a redirection after it.
pub(crate) fn runs(example: &'static str) -> Option<&'static str> {
    let run = example.find("seven ").map(|at| &example[at..])?;
    Some(
        [" | ", " > ", " < "]
            .iter()
            .fold(run, |run, end| run.split(end).next().unwrap_or(run)),
    )
}

fn starts_with(run: &str, path: &str) -> bool {
    run.strip_prefix(path)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

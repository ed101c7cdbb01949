//! The workers (`seven run <worker>`) and the operators' commands. They are a library too, so that
//! tests and development tools (tests/lab) run the same workers. Only results go to stdout.

pub mod cli;
pub mod commands;
mod help;
pub mod ingest;
pub mod life;
pub mod model;
pub mod onboard;
pub mod ops;
pub mod packs;
mod panics;
pub mod program;
pub mod traces;
pub mod wiring;

/// The commit this was built from.
pub const COMMIT: &str = env!("SEVEN_COMMIT");

/// Prints one line of results on stdout; a closed pipe ends the program quietly.
#[macro_export]
macro_rules! out {
    () => {
        $crate::print_line(format_args!(""))
    };
    ($($arg:tt)+) => {
        $crate::print_line(format_args!($($arg)+))
    };
}

/// Returns an error and its causes in one line. A cause is left out if the text before it already
/// contains it.
pub fn one_line(error: &anyhow::Error) -> String {
    error
        .chain()
        .fold(String::new(), |told, cause| match cause.to_string() {
            cause if told.is_empty() => cause,
            cause if told.contains(&cause) => told,
            cause => format!("{told}: {cause}"),
        })
}

/// Prints a warning to the operator on stderr; the command continues.
#[expect(clippy::print_stderr, reason = "results alone go to stdout")]
pub fn warn(line: &str) {
    eprintln!("seven: warning: {line}");
}

/// Prints one line. A closed pipe (`| head`) is not an error: the program exits with 0.
pub fn print_line(line: std::fmt::Arguments<'_>) {
    use std::io::Write;
    if writeln!(std::io::stdout().lock(), "{line}").is_err() {
        std::process::exit(0);
    }
}

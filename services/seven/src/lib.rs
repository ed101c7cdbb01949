//! The one binary: `seven run <worker>`, `seven dev`, and the operators' commands. A library too, so that the integration tests run
//! the same fleet that `seven dev` runs. Results go to stdout, everything else to stderr.

mod alerting;
pub mod bench;
pub mod breaking;
pub mod chaos;
pub mod cli;
pub mod commands;
pub mod cost;
pub mod deploy;
pub mod dev;
mod diff;
pub mod doctor;
pub mod eval;
mod heartbeat;
pub mod ingest;
pub mod life;
pub mod model;
pub mod onboard;
pub mod ops;
pub mod packs;
pub mod panics;
mod processes;
mod rest;
pub mod settings;
pub mod stack;
mod traces;
pub mod upkeep;
mod whole_traces;
pub mod wiring;

/// A line of results on stdout; a closed pipe ends the program quietly.
#[macro_export]
macro_rules! out {
    () => {
        $crate::print_line(format_args!(""))
    };
    ($($arg:tt)+) => {
        $crate::print_line(format_args!($($arg)+))
    };
}

/// An error and its causes in one line; a cause that the text before it tells already is left out.
pub fn one_line(error: &anyhow::Error) -> String {
    error.chain().fold(String::new(), |told, cause| match cause.to_string() {
        cause if told.is_empty() => cause,
        cause if told.contains(&cause) => told,
        cause => format!("{told}: {cause}"),
    })
}

/// Prints one line; a reader who left (`| head`) is no error.
pub fn print_line(line: std::fmt::Arguments<'_>) {
    use std::io::Write;
    if writeln!(std::io::stdout().lock(), "{line}").is_err() {
        std::process::exit(0);
    }
}

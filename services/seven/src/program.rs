//! Code that all our programs share: it runs a command on a runtime and reports its error.

use std::process::ExitCode;

use anyhow::{Error, Result};

use crate::{one_line, panics};

/// Runs `command` on its own runtime with `threads` threads; `None` means one per processor core,
/// or the number in TOKIO_WORKER_THREADS.
pub fn run(
    name: &str,
    threads: Option<usize>,
    command: impl Future<Output = Result<ExitCode>>,
) -> ExitCode {
    panics::mask();
    // reqwest is built without its own TLS provider and uses this one. Two providers in one process
    // lead to a panic.
    if rustls::crypto::ring::default_provider()
        .install_default()
        .is_err()
    {
        report(
            name,
            &Error::msg("a TLS provider was installed before ours"),
        );
        return ExitCode::FAILURE;
    }
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    if let Some(threads) = threads {
        runtime.worker_threads(threads);
    }
    let runtime = match runtime.enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            report(name, &Error::from(error).context("starting the runtime"));
            return ExitCode::FAILURE;
        }
    };
    let outcome = runtime.block_on(command);
    // A thread that is blocked reading the terminal must not delay the exit.
    runtime.shutdown_background();
    outcome.unwrap_or_else(|error| {
        report(name, &error);
        ExitCode::FAILURE
    })
}

#[expect(
    clippy::print_stderr,
    reason = "the one place that tells a person why the command failed"
)]
fn report(name: &str, error: &Error) {
    eprintln!("{name}: {}", one_line(error));
}

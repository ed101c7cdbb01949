//! `seven`: see `seven --help`.

use std::process::ExitCode;

use clap::Parser;
use seven::cli::Cli;

fn main() -> ExitCode {
    seven::panics::mask();
    // reqwest is built without a TLS provider of its own; two providers in one process panic.
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        report(&anyhow::anyhow!("a TLS provider was installed before ours"));
        return ExitCode::FAILURE;
    }
    let cli = Cli::parse();
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    if let Some(threads) = cli.threads() {
        runtime.worker_threads(threads);
    }
    let runtime = match runtime.enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            report(&anyhow::Error::from(error).context("starting the runtime"));
            return ExitCode::FAILURE;
        }
    };
    let outcome = runtime.block_on(cli.run());
    // A thread blocked on the terminal's input must not keep the process.
    runtime.shutdown_background();
    match outcome {
        Ok(code) => code,
        Err(error) => {
            report(&error);
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stderr, reason = "the one place that tells an operator why the command failed")]
fn report(error: &anyhow::Error) {
    eprintln!("seven: {}", seven::one_line(error));
}

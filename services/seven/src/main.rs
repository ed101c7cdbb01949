//! `seven`: see `seven --help`.

use std::process::ExitCode;

use seven::{cli::Cli, program};

fn main() -> ExitCode {
    let cli = Cli::of_process();
    program::run("seven", cli.threads(), cli.run())
}

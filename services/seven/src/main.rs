//! `seven`: see `seven --help`.

use std::process::ExitCode;

use clap::Parser;
use seven::{cli::Cli, program};

fn main() -> ExitCode {
    let cli = Cli::parse();
    program::run("seven", cli.threads(), cli.run())
}

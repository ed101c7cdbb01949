//! `seven-lab`: see `seven-lab --help`, or the scripts that call it.

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::{Parser, Subcommand};
use seven::program;
use seven_lab::{
    bench::{self, Bench},
    chaos::{self, Chaos},
    dev::{self, Dev},
    eval::run::{self, Eval},
};

#[derive(Debug, Parser)]
#[command(
    name = "seven-lab",
    about = "Development tools around the fleet; the doors are ./scripts/dev, chaos, bench and eval"
)]
struct Cli {
    /// Settings file (TOML), for `bench relay` and `eval --model settings`.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the whole fleet on this machine with the demo casino, a carrier simulator and a handset.
    Dev(Box<Dev>),
    /// Kill processes, cut connections and cause other faults under load, and prove that the
    /// fleet's promises hold.
    Chaos(Chaos),
    /// Measure the fleet as separate processes, compared with a bare relay on the same machine.
    Bench(Bench),
    /// Play scripted guests against the whole fleet and print what share of their checks passed.
    Eval(Eval),
}

async fn dispatch(cli: Cli) -> Result<ExitCode> {
    let config = cli.config.as_deref();
    match cli.command {
        Command::Dev(dev) => dev::run(*dev).await.map(|()| ExitCode::SUCCESS),
        Command::Chaos(chaos) => Box::pin(chaos::run(chaos)).await,
        Command::Bench(bench) => Box::pin(bench::run(config, bench)).await,
        Command::Eval(eval) => Box::pin(run::run(config, &eval)).await,
    }
}

fn main() -> ExitCode {
    program::run("seven-lab", None, dispatch(Cli::parse()))
}

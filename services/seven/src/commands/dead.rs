//! `seven dead list|show|replay|discard|export`: operators' commands for messages that no stage
//! could handle (D17). Lists never contain personal data; payloads are masked unless revealed with
//! a reason, which is audited.

mod batch;
mod discard;
mod export;
mod list;
mod payload;
mod reader;
mod reentry;
mod replay;
mod select;
mod show;
mod stream;

use std::{path::Path, process::ExitCode};

use anyhow::Result;
use clap::Subcommand;

use super::fleet;

pub use replay::{OfNumbers, of_known_numbers, replay};

#[derive(Debug, Subcommand)]
pub enum Dead {
    /// List dead letters, the last seen first; the open ones of all casinos unless filters select
    /// others.
    List(list::List),
    /// Show one dead letter: its errors, its payload, and what operators did to it.
    Show(show::Show),
    /// Send dead letters back to the stage that failed, under their original identity, so that none
    /// takes effect twice.
    Replay(replay::Replay),
    /// Mark dead letters as discarded that nobody needs any more.
    Discard(discard::Discard),
    /// Export dead letters as JSON lines, oldest first.
    Export(export::Export),
}

/// Runs a command. Exit codes: 0 done, 1 some letters were refused, 130 interrupted.
pub async fn run(config: Option<&Path>, command: Dead) -> Result<ExitCode> {
    let fleet = fleet(config).await?;
    match command {
        Dead::List(command) => list::run(&fleet, command).await?,
        Dead::Show(command) => show::run(&fleet, &command).await?,
        Dead::Replay(command) => return replay::run(&fleet, command).await,
        Dead::Discard(command) => return discard::run(&fleet, command).await,
        Dead::Export(command) => export::run(&fleet, command).await?,
    }
    Ok(ExitCode::SUCCESS)
}

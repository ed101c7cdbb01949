//! `seven dead list|show|replay|discard|export`: what no stage could handle, in operators' hands (D17). Lists never hold personal data;
//! payloads are masked unless revealed with a reason, which is audited.

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
    /// Dead letters, those seen last first; open ones of all casinos unless the filters say otherwise.
    List(list::List),
    /// All that led to one dead letter and what was done to it.
    Show(show::Show),
    /// Give dead letters back to the stage that failed, under their own identity, so that none can act twice.
    Replay(replay::Replay),
    /// Put dead letters away that nobody needs any more.
    Discard(discard::Discard),
    /// Dead letters as JSON lines, oldest first.
    Export(export::Export),
}

/// Exit codes: 0 done, 1 some letters could not be helped, 130 interrupted.
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

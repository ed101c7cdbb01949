//! `seven dead list|show|replay|discard|export`: messages that no stage could handle (D17). Lists
//! have no personal data; payloads are masked unless revealed with a reason, which is audited.

mod batch;
mod discard;
mod export;
mod list;
mod reader;
mod replay;
mod select;
mod show;
mod stream;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use super::context::{Context, Operate};

pub use replay::{OfNumbers, of_known_numbers, replay};

#[derive(Debug, Subcommand)]
pub enum Dead {
    /// List dead letters, the last seen first. Without filters: the open ones of all casinos.
    List(list::List),
    /// Show one dead letter: its errors, its payload, and what operators did to it.
    Show(show::Show),
    /// Send dead letters back to the stage that failed.
    ///
    /// They keep their original identity, so none takes effect twice. Exit codes: 1 some were
    /// refused, 130 interrupted.
    Replay(replay::Replay),
    /// Discard dead letters that nobody needs; they stay visible until retention deletes them.
    Discard(discard::Discard),
    /// Export dead letters as JSON lines, oldest first.
    Export(export::Export),
}

impl Operate for Dead {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        let fleet = ctx.fleet().await?;
        match self {
            Self::List(command) => list::list(ctx, fleet, command).await?,
            Self::Show(command) => show::show(fleet, &command).await?,
            Self::Replay(command) => return replay::replay_all(ctx, fleet, command).await,
            Self::Discard(command) => return discard::discard(ctx, fleet, command).await,
            Self::Export(command) => export::export(fleet, command).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

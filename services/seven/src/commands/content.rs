//! `seven content`: loads a casino's content, shows its history, and decides about revisions (D31).

mod decide;
mod history;
mod key;
mod load;
mod restore;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use super::context::{Context, Operate};

#[derive(Debug, Subcommand)]
pub enum Content {
    /// Load a file of items; each problem is named as file:row:field with its fix.
    ///
    /// Items that the file does not name stay as they are. A change for which the pack's rules
    /// require a second person waits for `seven content publish`.
    Load(load::Load),
    /// Print the key with which the casino's spreadsheet signs its calls (docs/editors.md).
    ///
    /// Raise `operational.content_key_version` in the casino's document to end a key.
    Key(key::Key),
    #[command(flatten)]
    Read(history::Read),
    #[command(flatten)]
    Decide(decide::Decide),
    #[command(flatten)]
    Restore(restore::Restore),
}

impl Operate for Content {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        match self {
            Self::Load(command) => load::load(ctx, command).await?,
            Self::Key(command) => key::key(ctx, command).await?,
            Self::Read(command) => history::read(ctx, command).await?,
            Self::Decide(command) => decide::decide(ctx, command).await?,
            Self::Restore(command) => restore::restored(ctx, command).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

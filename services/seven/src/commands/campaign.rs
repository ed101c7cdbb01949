//! `seven campaign send|list|show|pause|resume|cancel`: one text to guests who agreed to such texts (SMS-31 to SMS-35, SMS-49). The command
//! lists; the scheduler releases at the casino's pace; the last look decides about every single text when it is to leave.

mod change;
mod named;
mod plan;
mod send;
mod show;
mod wording;

use std::path::Path;

use anyhow::Result;
use clap::Subcommand;

use super::fleet;

#[derive(Debug, Subcommand)]
pub enum Campaign {
    /// Write one text to a list of guests. Says for each what would happen and why; then asks, lists them, and the fleet sends at the
    /// casino's pace. With --dry-run it says so for each guest. Each text passes consent, hours, caps and every other rule again when it is to leave.
    Send(Box<send::Send>),
    /// Campaigns, the newest first.
    List(show::List),
    /// One campaign: its texts, and how many of its guests stand where.
    Show(show::Show),
    /// Release and send no more of it until `resume`; effective everywhere within 2 s.
    Pause(change::Change),
    /// Go on with a paused one.
    Resume(change::Change),
    /// End it: what has not left never will.
    Cancel(change::Change),
}

pub async fn run(config: Option<&Path>, command: Campaign) -> Result<()> {
    let fleet = fleet(config).await?;
    match command {
        Campaign::Send(command) => send::run(&fleet, &command).await,
        Campaign::List(command) => show::list(&fleet, &command).await,
        Campaign::Show(command) => show::show(&fleet, &command).await,
        Campaign::Pause(command) => change::pause(&fleet, &command).await,
        Campaign::Resume(command) => change::resume(&fleet, &command).await,
        Campaign::Cancel(command) => change::cancel(&fleet, &command).await,
    }
}

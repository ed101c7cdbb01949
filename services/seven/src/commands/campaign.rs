//! `seven campaign send|list|show|pause|resume|cancel`: one text to guests who consented to
//! marketing (SMS-31 to SMS-35, SMS-49). The command lists the guests, the scheduler releases their
//! texts at the casino's pace, and the pre-send check decides about each text.

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
    /// Write one text to a list of guests. Prints how many texts would be sent, wait or be refused,
    /// and why (for each guest with --dry-run); after you confirm, it lists the guests, and the
    /// fleet sends at the casino's pace. Each text passes the pre-send check (consent, hours, caps
    /// and all other rules) when it is due.
    Send(Box<send::Send>),
    /// List campaigns, the newest first.
    List(show::List),
    /// Show one campaign: its texts, and the number of its guests in each state.
    Show(show::Show),
    /// Release and send no more of its texts until `resume`; in force everywhere within 2 s.
    Pause(change::Change),
    /// Continue a paused campaign.
    Resume(change::Change),
    /// End it: texts that were not sent yet are never sent.
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

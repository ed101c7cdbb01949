//! `seven campaign send|list|show|approve|pause|resume|cancel`: one text to guests with marketing
//! consent.
//! The scheduler releases the texts at the casino's pace; the pre-send check decides about each.

mod change;
mod named;
mod send;
mod show;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use seven_staff::campaigns::Step;

use super::context::{Context, Operate};

#[derive(Debug, Subcommand)]
pub enum Campaign {
    /// Send one text to a list of guests, after a plan was shown and confirmed.
    ///
    /// The plan says how many texts would be sent, wait or be refused, and why; --dry-run shows it
    /// for each guest. Then the command lists the guests, and the fleet sends at the casino's pace.
    /// Each text passes the pre-send check (consent, hours, caps and all other rules) when it is
    /// due.
    Send(Box<send::Send>),
    /// List campaigns, the newest first.
    List(show::List),
    /// Show one campaign: its texts, and the number of its guests in each state.
    Show(show::Show),
    /// Start a campaign that somebody else planned for approval.
    Approve(change::Change),
    /// Send no more of a campaign's texts until `resume`; in force everywhere within 2 s.
    Pause(change::Change),
    /// Continue a paused campaign.
    Resume(change::Change),
    /// End a campaign: texts that were not sent yet are never sent.
    Cancel(change::Change),
}

impl Operate for Campaign {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        let fleet = ctx.fleet().await?;
        match self {
            Self::Send(command) => send::send(ctx, fleet, &command).await?,
            Self::List(command) => show::list(ctx, fleet, &command).await?,
            Self::Show(command) => show::show(fleet, &command).await?,
            Self::Approve(command) => change::change(fleet, &command, Step::Approve).await?,
            Self::Pause(command) => change::change(fleet, &command, Step::Pause).await?,
            Self::Resume(command) => change::change(fleet, &command, Step::Resume).await?,
            Self::Cancel(command) => change::change(fleet, &command, Step::Cancel).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

//! `seven campaign approve|pause|resume|cancel`.

use anyhow::Result;
use clap::Args;
use seven_runtime::Fleet;
use seven_staff::campaigns::{self, Changed, Step};

use crate::{
    commands::{
        args::{Casino, Who},
        known,
    },
    out,
};

#[derive(Debug, Args)]
pub struct Change {
    /// The campaign's name, its id, or a unique prefix of its id.
    campaign: String,
    #[command(flatten)]
    of: Casino,
    #[command(flatten)]
    who: Who,
}

pub(super) async fn change(fleet: &Fleet, command: &Change, step: Step) -> Result<()> {
    let (casino, who) = (&command.of.casino, &command.who);
    known(&fleet.store, casino).await?;
    let mut tx = fleet.store.bind(casino).await?;
    let row = super::named::named(&mut tx, casino, &command.campaign).await?;
    tx.commit().await?;
    let id = row.campaign_id.to_string();
    let Changed {
        name,
        released,
        woken,
    } = campaigns::change(fleet, casino, &id, step, &who.reason, &who.by).await?;
    match step {
        Step::Approve => out!("{name} is approved and under way."),
        Step::Pause => out!("{name} is paused; `seven campaign resume` goes on."),
        Step::Resume => out!("{name} goes on; {woken} queued text(s) are checked again."),
        Step::Cancel => out!("{name} is cancelled; {released} text(s) had been released."),
    }
    Ok(())
}

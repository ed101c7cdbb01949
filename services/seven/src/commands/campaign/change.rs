//! `seven campaign pause|resume|cancel`: from its commit on, the pre-send check refuses texts of a
//! campaign that is not running.

use anyhow::{Result, bail};
use clap::Args;
use serde_json::{Value, json};
use seven_domain::{AuditEvent, CampaignId, CampaignState};
use seven_runtime::Fleet;
use seven_store::{Tx, audit::Entry};

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

pub(super) async fn pause(fleet: &Fleet, command: &Change) -> Result<()> {
    let (tx, name) = moved(
        fleet,
        command,
        &[CampaignState::Running],
        CampaignState::Paused,
        async |_, _| Ok(json!({})),
    )
    .await?;
    tx.commit().await?;
    out!("{name} is paused; `seven campaign resume` goes on.");
    Ok(())
}

pub(super) async fn resume(fleet: &Fleet, command: &Change) -> Result<()> {
    let (tx, name) = moved(
        fleet,
        command,
        &[CampaignState::Paused],
        CampaignState::Running,
        async |_, _| Ok(json!({})),
    )
    .await?;
    tx.commit().await?;
    // Texts that were queued at the pause were held back; they are due again now.
    let woken = fleet.store.wake_held(Some(&command.of.casino)).await?;
    out!("{name} goes on; {woken} queued text(s) are checked again.");
    Ok(())
}

pub(super) async fn cancel(fleet: &Fleet, command: &Change) -> Result<()> {
    let dropped = async |tx: &mut Tx, campaign| {
        let (texts, guests) = tx.drop_unsent(campaign).await?;
        Ok(json!({ "texts_dropped": texts, "guests_dropped": guests }))
    };
    let (mut tx, name) = moved(
        fleet,
        command,
        &[CampaignState::Running, CampaignState::Paused],
        CampaignState::Cancelled,
        dropped,
    )
    .await?;
    let row = super::named::named(&mut tx, &command.of.casino, &command.campaign).await?;
    tx.commit().await?;
    out!(
        "{name} is cancelled; {} text(s) had been released.",
        row.released
    );
    Ok(())
}

/// Changes the campaign's state and audits the change; the caller commits.
async fn moved(
    fleet: &Fleet,
    command: &Change,
    from: &[CampaignState],
    to: CampaignState,
    also: impl AsyncFnOnce(&mut Tx, CampaignId) -> Result<Value>,
) -> Result<(Tx, String)> {
    let who = &command.who;
    known(&fleet.store, &command.of.casino).await?;
    let mut tx = fleet.store.bind(&command.of.casino).await?;
    let row = super::named::named(&mut tx, &command.of.casino, &command.campaign).await?;
    let campaign = CampaignId(row.campaign_id);
    if !tx.move_campaign(campaign, from, to).await? {
        let from: Vec<&str> = from.iter().map(|state| state.as_str()).collect();
        bail!(
            "{} is {}; only a campaign that is {} can be {to}",
            row.name,
            row.state,
            from.join(" or ")
        );
    }
    let mut detail = also(&mut tx, campaign).await?;
    detail["state"] = json!(to);
    detail["reason"] = json!(who.reason);
    let subject = campaign.to_string();
    tx.audit(&Entry::of(
        AuditEvent::CampaignChanged,
        &who.by,
        &subject,
        detail,
    ))
    .await?;
    Ok((tx, row.name))
}

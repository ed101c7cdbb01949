//! `seven campaign pause|resume|cancel`: from its commit on, the pre-send check refuses texts of a
//! campaign that is not running.

use anyhow::{Result, bail};
use clap::Args;
use serde_json::{Value, json};
use seven_domain::{AuditEvent, CampaignId, CasinoId};
use seven_runtime::Fleet;
use seven_store::{Tx, audit::Entry};

use crate::{
    commands::{given::Who, known},
    out,
};

#[derive(Debug, Args)]
pub struct Change {
    /// The campaign's name or id.
    campaign: String,
    /// The casino it belongs to.
    #[arg(long, value_name = "ID")]
    casino: CasinoId,
    #[command(flatten)]
    who: Who,
}

pub(super) async fn pause(fleet: &Fleet, command: &Change) -> Result<()> {
    let (tx, name) = moved(fleet, command, &["running"], "paused", async |_, _| Ok(json!({}))).await?;
    tx.commit().await?;
    out!("{name} is paused; `seven campaign resume` goes on.");
    Ok(())
}

pub(super) async fn resume(fleet: &Fleet, command: &Change) -> Result<()> {
    let (tx, name) = moved(fleet, command, &["paused"], "running", async |_, _| Ok(json!({}))).await?;
    tx.commit().await?;
    // Texts that were queued at the pause were held back; they are due again now.
    let woken = fleet.store.wake_held(Some(&command.casino)).await?;
    out!("{name} goes on; {woken} queued text(s) look again.");
    Ok(())
}

pub(super) async fn cancel(fleet: &Fleet, command: &Change) -> Result<()> {
    let dropped = async |tx: &mut Tx, campaign| {
        let (texts, guests) = tx.drop_unsent(campaign).await?;
        Ok(json!({ "texts_dropped": texts, "guests_dropped": guests }))
    };
    let (mut tx, name) = moved(fleet, command, &["running", "paused"], "cancelled", dropped).await?;
    let row = super::named::named(&mut tx, &command.casino, &command.campaign).await?;
    tx.commit().await?;
    out!("{name} is cancelled; {} text(s) had been released.", row.released);
    Ok(())
}

/// Changes the campaign's state and audits the change; the caller commits.
async fn moved(
    fleet: &Fleet,
    command: &Change,
    from: &[&str],
    to: &str,
    also: impl AsyncFnOnce(&mut Tx, CampaignId) -> Result<Value>,
) -> Result<(Tx, String)> {
    let who = &command.who;
    known(&fleet.store, &command.casino).await?;
    let mut tx = fleet.store.bind(&command.casino).await?;
    let row = super::named::named(&mut tx, &command.casino, &command.campaign).await?;
    let campaign = CampaignId(row.campaign_id);
    if !tx.move_campaign(campaign, from, to).await? {
        bail!("{} is {}; only a campaign that is {} can be {to}", row.name, row.state, from.join(" or "));
    }
    let mut detail = also(&mut tx, campaign).await?;
    detail["state"] = json!(to);
    detail["reason"] = json!(who.reason);
    let subject = campaign.to_string();
    tx.audit(&Entry::of(AuditEvent::CampaignChanged, &who.by, &subject, detail)).await?;
    Ok((tx, row.name))
}

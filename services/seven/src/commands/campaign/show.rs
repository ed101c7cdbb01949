//! `seven campaign list|show`.

use anyhow::Result;
use clap::Args;
use serde_json::json;
use seven_domain::{CampaignId, CasinoId};
use seven_runtime::Fleet;
use seven_store::controls::Switch;

use crate::{
    commands::{known, phrases::sentence, table},
    out,
};

#[derive(Debug, Args)]
pub struct List {
    /// The casino whose campaigns are shown.
    #[arg(long, value_name = "ID")]
    casino: CasinoId,
    /// Number of campaigns to show, at most.
    #[arg(long, default_value_t = 20)]
    most: i64,
    /// One JSON line per campaign instead of a table.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub struct Show {
    /// The campaign's name or id.
    campaign: String,
    /// The casino it belongs to.
    #[arg(long, value_name = "ID")]
    casino: CasinoId,
    /// One JSON document instead of lines.
    #[arg(long)]
    json: bool,
}

pub(super) async fn list(fleet: &Fleet, command: &List) -> Result<()> {
    known(&fleet.store, &command.casino).await?;
    let mut tx = fleet.store.bind(&command.casino).await?;
    let campaigns = tx.campaigns(command.most).await?;
    tx.commit().await?;
    if command.json {
        for row in &campaigns {
            out!("{}", serde_json::to_string(row)?);
        }
        return Ok(());
    }
    let mut table = table(["campaign", "state", "to come", "released", "refused", "by", "since"]);
    for row in campaigns {
        table.add_row([
            row.name,
            row.state,
            row.listed.to_string(),
            row.released.to_string(),
            row.refused.to_string(),
            row.created_by,
            row.created_at.format("%F %R UTC").to_string(),
        ]);
    }
    out!("{table}");
    Ok(())
}

pub(super) async fn show(fleet: &Fleet, command: &Show) -> Result<()> {
    known(&fleet.store, &command.casino).await?;
    let mut tx = fleet.store.bind(&command.casino).await?;
    let row = super::named::named(&mut tx, &command.casino, &command.campaign).await?;
    let counts = tx.campaign_counts(CampaignId(row.campaign_id)).await?;
    let on = tx.switched().await?;
    tx.commit().await?;
    if command.json {
        out!("{}", json!({ "campaign": row, "counts": counts }));
        return Ok(());
    }
    out!("{} ({})", row.name, row.campaign_id);
    out!("  state     {}, by {} since {}", row.state, row.created_by, row.created_at.format("%F %T UTC"));
    if let Some(at) = row.ended_at {
        out!("  ended     {}", at.format("%F %T UTC"));
    }
    out!("  EN        {}", row.text_en);
    out!("  ES        {}", row.text_es);
    for (what, n) in counts {
        let (state, reason) = what.split_once(": ").unwrap_or((&what, ""));
        out!("{}", format!("  {n:>6}  {state:<12} {}", sentence(reason)).trim_end());
    }
    let silent = on.into_iter().filter(|switch| *switch != Switch::Agents);
    silent.for_each(|switch| out!("  waits: {} is on", switch.as_str()));
    Ok(())
}

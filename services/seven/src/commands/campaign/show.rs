//! `seven campaign list|show`.

use anyhow::Result;
use clap::Args;
use serde_json::json;
use seven_domain::CampaignId;
use seven_runtime::Fleet;
use seven_staff::phrases::sentence;
use seven_store::controls::Switch;

use crate::{
    commands::{
        args::{Casino, Json},
        context::Context,
        json_rows, known, minute, utc,
    },
    out,
};

#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    of: Casino,
    /// Number of rows to show, at most.
    #[arg(long, value_name = "N", default_value_t = 20)]
    most: i64,
    #[command(flatten)]
    json: Json,
}

#[derive(Debug, Args)]
pub struct Show {
    /// The campaign's name, its id, or a unique prefix of its id.
    campaign: String,
    #[command(flatten)]
    of: Casino,
    #[command(flatten)]
    json: Json,
}

pub(super) async fn list(ctx: &Context, fleet: &Fleet, command: &List) -> Result<()> {
    known(&fleet.store, &command.of.casino).await?;
    let mut tx = fleet.store.bind(&command.of.casino).await?;
    let campaigns = tx.campaigns(command.most).await?;
    tx.commit().await?;
    if command.json.json {
        return json_rows(&campaigns);
    }
    let columns = [
        "campaign", "state", "to come", "released", "refused", "since", "by", "id",
    ];
    let mut table = ctx.table(columns).ids(["id"]).wide(["by", "id"]);
    for row in campaigns {
        table.add_row([
            row.name,
            if row.awaits_approval {
                "waits for approval".to_owned()
            } else {
                row.state.to_string()
            },
            row.listed.to_string(),
            row.released.to_string(),
            row.refused.to_string(),
            minute(row.created_at),
            row.created_by,
            row.campaign_id.to_string(),
        ]);
    }
    out!("{table}");
    Ok(())
}

pub(super) async fn show(fleet: &Fleet, command: &Show) -> Result<()> {
    known(&fleet.store, &command.of.casino).await?;
    let mut tx = fleet.store.bind(&command.of.casino).await?;
    let row = super::named::named(&mut tx, &command.of.casino, &command.campaign).await?;
    let counts = tx.campaign_counts(CampaignId(row.campaign_id)).await?;
    let on = tx.switched().await?;
    tx.commit().await?;
    if command.json.json {
        out!("{}", json!({ "campaign": row, "counts": counts }));
        return Ok(());
    }
    out!("{} ({})", row.name, row.campaign_id);
    out!(
        "  state     {}, by {} since {}",
        row.state,
        row.created_by,
        utc(row.created_at)
    );
    if row.awaits_approval {
        out!("  approval  waits for a second person");
    }
    if let (Some(by), Some(at)) = (&row.approved_by, row.approved_at) {
        out!("  approval  by {by} at {}", utc(at));
    }
    if let Some(at) = row.ended_at {
        out!("  ended     {}", utc(at));
    }
    out!("  EN        {}", row.text_en);
    out!("  ES        {}", row.text_es);
    for (what, n) in counts {
        let (state, reason) = what.split_once(": ").unwrap_or((&what, ""));
        out!(
            "{}",
            format!("  {n:>6}  {state:<12} {}", sentence(reason)).trim_end()
        );
    }
    let silent = on.into_iter().filter(|switch| *switch != Switch::Agents);
    silent.for_each(|switch| out!("  waits: {} is on", switch.as_str()));
    Ok(())
}

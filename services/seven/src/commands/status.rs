//! `seven status`: what stands where. Counts come from Postgres, waiting messages from NATS; the two may disagree for a moment.

use std::path::Path;

use anyhow::Result;
use serde_json::json;
use seven_bus::topology::CONSUMING;

use super::fleet;
use crate::out;

#[derive(Debug, clap::Args)]
pub struct Status {
    /// One JSON document instead of tables.
    #[arg(long)]
    json: bool,
}

pub async fn run(config: Option<&Path>, command: &Status) -> Result<()> {
    let fleet = fleet(config).await?;
    let counts = fleet.store.counts().await?;
    let mut lag = Vec::new();
    for stage in CONSUMING {
        lag.extend(fleet.bus.lag(stage).await?);
    }
    let providers = super::provider::Standing::of(&fleet).await?;
    if command.json {
        let lag: Vec<_> = lag
            .iter()
            .map(|l| json!({ "consumer": l.consumer, "pending": l.pending, "in_flight": l.in_flight }))
            .collect();
        out!("{}", json!({ "rows": counts, "bus": lag, "providers": providers }));
        return Ok(());
    }
    let mut table = super::table(["casino", "what", "state", "rows"]);
    for count in counts {
        table.add_row([count.casino, count.what, count.state, count.n.to_string()]);
    }
    out!("{table}");
    let busy: Vec<_> = lag.iter().filter(|l| l.pending > 0 || l.in_flight > 0).collect();
    if busy.is_empty() {
        out!("Bus: nothing waits.");
    }
    for lag in busy {
        out!("Bus: {} has {} waiting, {} in work", lag.consumer, lag.pending, lag.in_flight);
    }
    providers.print();
    Ok(())
}

//! `seven status`: what stands where. Counts come from Postgres, waiting messages from NATS; the two may disagree for a moment.

use std::path::Path;

use anyhow::Result;
use serde_json::json;
use seven_bus::topology::CONSUMING;

use super::fleet;
use crate::out;

#[derive(Debug, clap::Args)]
pub struct Status {
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
    if command.json {
        let lag: Vec<_> = lag.iter().map(|(name, pending, in_flight, _)| json!({ "consumer": name, "pending": pending, "in_flight": in_flight })).collect();
        out!("{}", json!({ "rows": counts, "bus": lag }));
        return Ok(());
    }
    let mut table = super::table(["casino", "what", "state", "rows"]);
    for count in counts {
        table.add_row([count.casino, count.what, count.state, count.n.to_string()]);
    }
    out!("{table}");
    let busy: Vec<_> = lag.iter().filter(|(_, pending, in_flight, _)| *pending > 0 || *in_flight > 0).collect();
    out!("Bus: {}", if busy.is_empty() { "nothing waits".to_owned() } else { String::new() });
    for (name, pending, in_flight, _) in busy {
        out!("  {name}: {pending} waiting, {in_flight} in work");
    }
    Ok(())
}

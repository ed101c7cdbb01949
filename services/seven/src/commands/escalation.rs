//! `seven escalation list|ack`: cases a person has to look at, the gravest first (SEC-104, SEC-113).

use std::path::Path;

use anyhow::{Result, ensure};
use clap::Subcommand;
use seven_domain::CasinoId;
use uuid::Uuid;

use super::{fleet, known};
use crate::out;

#[derive(Debug, Subcommand)]
pub enum Escalation {
    /// Open cases; `--all` shows the acknowledged ones too.
    List {
        #[arg(long, value_name = "ID")]
        casino: CasinoId,
        #[arg(long)]
        all: bool,
        #[arg(long)]
        json: bool,
    },
    /// Say that you have a case in hand.
    Ack {
        /// The case, as `seven escalation list` shows it.
        id: Uuid,
        #[arg(long, value_name = "ID")]
        casino: CasinoId,
        /// Your name, for the record.
        #[arg(long)]
        by: String,
    },
}

pub async fn run(config: Option<&Path>, command: Escalation) -> Result<()> {
    let fleet = fleet(config).await?;
    match command {
        Escalation::List { casino, all, json } => {
            known(&fleet, &casino).await?;
            let mut tx = fleet.store.bind(&casino).await?;
            let rows = tx.escalations(all, 200).await?;
            tx.commit().await?;
            if json {
                rows.iter().try_for_each(|row| serde_json::to_string(row).map(|line| out!("{line}")))?;
                return Ok(());
            }
            let mut table = super::table(["case", "severity", "reason", "opened", "acknowledge by", "text", "state"]);
            for row in rows {
                let state = match (&row.acknowledged_by, row.overdue) {
                    (Some(by), _) => format!("in hand: {by}"),
                    (None, true) => "OVERDUE".to_owned(),
                    (None, false) => "open".to_owned(),
                };
                table.add_row([
                    row.escalation_id.to_string(),
                    row.severity,
                    row.reason,
                    row.created_at.format("%Y-%m-%d %H:%M:%S").to_string(),
                    row.ack_due_at.map(|at| at.format("%H:%M:%S").to_string()).unwrap_or_default(),
                    row.inbound_id.map(|id| id.to_string()).unwrap_or_default(),
                    state,
                ]);
            }
            out!("{table}");
        }
        Escalation::Ack { id, casino, by } => {
            let mut tx = fleet.store.bind(&casino).await?;
            let done = tx.acknowledge(id, &by).await?;
            tx.commit().await?;
            ensure!(done, "{casino} has no open case {id}; `seven escalation list --casino {casino}` shows them");
            out!("Case {id} is in hand: {by}.");
        }
    }
    Ok(())
}

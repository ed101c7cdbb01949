//! `seven escalation list|ack|resolve`: cases a person has to look at, the gravest first (SEC-104, SEC-113).

use std::path::Path;

use anyhow::{Context, Result, ensure};
use clap::Subcommand;
use seven_domain::CasinoId;
use uuid::Uuid;

use super::{
    conversation::{announce, go_on},
    fleet, given, known,
};
use crate::out;

#[derive(Debug, Subcommand)]
pub enum Escalation {
    /// Cases that are not settled; `--all` shows the settled ones too.
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
        #[arg(value_parser = given::id)]
        id: Uuid,
        #[arg(long, value_name = "ID")]
        casino: CasinoId,
        /// Your name, for the record.
        #[arg(long, value_parser = given::words)]
        by: String,
    },
    /// Say that a case is settled. Its conversation goes on when no other case keeps it paused; the host answers what was kept.
    Resolve {
        /// The case, as `seven escalation list` shows it.
        #[arg(value_parser = given::id)]
        id: Uuid,
        #[arg(long, value_name = "ID")]
        casino: CasinoId,
        /// Your name, for the record.
        #[arg(long, value_parser = given::words)]
        by: String,
    },
}

pub async fn run(config: Option<&Path>, command: Escalation) -> Result<()> {
    let fleet = fleet(config).await?;
    match command {
        Escalation::List { casino, all, json } => {
            known(&fleet.store, &casino).await?;
            let mut tx = fleet.store.bind(&casino).await?;
            let rows = tx.escalations(all, 200).await?;
            tx.commit().await?;
            if json {
                rows.iter().try_for_each(|row| serde_json::to_string(row).map(|line| out!("{line}")))?;
                return Ok(());
            }
            let mut table =
                super::table(["case", "severity", "reason", "opened", "acknowledge by", "write by", "text", "state"]);
            for row in rows {
                let state = match (&row.resolved_by, &row.acknowledged_by, row.overdue) {
                    (Some(by), ..) => format!("settled: {by}"),
                    (None, Some(by), _) => format!("in hand: {by}"),
                    (None, None, true) => "OVERDUE".to_owned(),
                    (None, None, false) => "open".to_owned(),
                };
                let time = |at: Option<chrono::DateTime<chrono::Utc>>| {
                    at.map(|at| at.format("%H:%M:%S").to_string()).unwrap_or_default()
                };
                table.add_row([
                    row.escalation_id.to_string(),
                    row.severity,
                    row.reason,
                    row.created_at.format("%Y-%m-%d %H:%M:%S").to_string(),
                    time(row.ack_due_at),
                    time(row.respond_due_at),
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
        Escalation::Resolve { id, casino, by } => {
            known(&fleet.store, &casino).await?;
            let mut tx = fleet.store.bind(&casino).await?;
            let settled = tx.settle_case(id, &by).await?;
            let settled = settled.with_context(|| format!("{casino} has no open case {id}"))?;
            let resumed = match settled.resumes {
                Some(conversation) => go_on(&mut tx, conversation, &by).await?.map(|resumed| (conversation, resumed)),
                None => None,
            };
            tx.commit().await?;
            let mut on = String::new();
            if let Some((conversation, resumed)) = resumed {
                announce(&fleet, &casino, conversation, &resumed).await;
                on = format!(" The host goes on; {} text(s) were kept.", resumed.released);
            }
            out!("Case {id} is settled: {by}.{on}");
        }
    }
    Ok(())
}

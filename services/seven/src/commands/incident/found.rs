//! `seven incident found|settle|report`: incidents that the fleet found and contained itself.

use anyhow::Result;
use clap::{Args, Subcommand};
use seven_staff::incidents::{self, Outcome};
use seven_store::{incidents::found::FoundIncident, prefix::Named};
use uuid::Uuid;

use super::register::said;
use crate::{
    commands::{
        args::{By, Casino, Json},
        context::Context,
        id_prefix::IdPrefix,
        json_rows, known,
    },
    out,
};

/// Maximum number of incidents in a list.
const MOST: i64 = 500;

/// An incident of one casino.
#[derive(Debug, Args)]
pub struct One {
    /// Id of the incident, as `seven incident found` shows it; a unique prefix is enough.
    id: IdPrefix,
    #[command(flatten)]
    of: Casino,
    #[command(flatten)]
    by: By,
}

#[derive(Debug, Subcommand)]
pub enum Found {
    /// List incidents that the fleet found and contained at a casino.
    ///
    /// The fleet finds amounts of money that no content proves, texts after a STOP, missed cries
    /// for help, and rows that belong to another guest or casino.
    #[command(name = "found")]
    Caught {
        #[command(flatten)]
        of: Casino,
        /// Show closed rows too: incidents that are settled.
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        json: Json,
    },
    /// Settle an incident and its case. The host answers the guest again; switches that are on stay
    /// on.
    Settle {
        #[command(flatten)]
        which: One,
        /// The finding and the remedy. Name guests only by their id.
        #[arg(long, value_name = "TEXT", value_parser = said)]
        outcome: String,
        /// Record that nothing was wrong.
        #[arg(long)]
        false_alarm: bool,
    },
    /// Record the report about a settled incident: its cause, and what was changed.
    Report {
        #[command(flatten)]
        which: One,
        /// The report. Name guests only by their id.
        #[arg(long, value_parser = said)]
        text: String,
    },
}

pub(super) async fn found(ctx: &Context, command: Found) -> Result<()> {
    let fleet = ctx.fleet().await?;
    match command {
        Found::Caught { of, all, json } => {
            known(&fleet.store, &of.casino).await?;
            let mut tx = fleet.store.bind(&of.casino).await?;
            let rows = tx.found_incidents(all, MOST).await?;
            tx.commit().await?;
            list(ctx, rows, json.json)
        }
        Found::Settle {
            which,
            outcome,
            false_alarm,
        } => {
            let id = which.find(ctx).await?;
            let outcome = Outcome {
                said: &outcome,
                false_alarm,
            };
            incidents::settle(fleet, &which.of.casino, id, &which.by.by, outcome).await?;
            out!("Settled. `seven incident report {id}` records its cause.");
            Ok(())
        }
        Found::Report { which, text } => {
            let id = which.find(ctx).await?;
            incidents::report(fleet, &which.of.casino, id, &which.by.by, &text).await?;
            out!("Recorded.");
            Ok(())
        }
    }
}

impl One {
    async fn find(&self, ctx: &Context) -> Result<Uuid> {
        let fleet = ctx.fleet().await?;
        known(&fleet.store, &self.of.casino).await?;
        let mut tx = fleet.store.bind(&self.of.casino).await?;
        let id = self.id.find(&mut tx, Named::Incident).await?;
        tx.commit().await?;
        Ok(id)
    }
}

fn list(ctx: &Context, rows: Vec<FoundIncident>, json: bool) -> Result<()> {
    if json {
        return json_rows(&rows);
    }
    let mut table = ctx
        .table([
            "incident",
            "kind",
            "severity",
            "state",
            "found",
            "contained",
            "actions",
            "traces",
            "outcome",
        ])
        .ids(["incident"])
        .wide(["contained", "actions", "traces"]);
    for one in rows {
        let outcome = match (&one.outcome, one.false_alarm) {
            (_, true) => "false alarm".to_owned(),
            (outcome, false) => outcome.clone().unwrap_or_default(),
        };
        table.add_row([
            one.incident_id.to_string(),
            one.kind.to_string(),
            one.severity.to_string(),
            one.state.to_string(),
            one.detected_at.format("%F %H:%M").to_string(),
            one.contained_at.format("%H:%M:%S").to_string(),
            one.actions.join(", "),
            one.traces.join(" "),
            outcome,
        ]);
    }
    out!("{table}");
    Ok(())
}

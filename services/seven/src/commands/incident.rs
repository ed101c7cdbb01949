//! `seven incident`: the register of incidents, drills, and a bundle of what stood where (OBS-19, PROD-36).

mod bundle;
mod drill;
mod register;

use std::path::Path;

use anyhow::Result;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum Incident {
    /// Collects status, alerts, dead letters, switches, audit entries and metrics in one archive, without guests in any of them.
    Bundle(bundle::Bundle),
    /// Notes a recovery that was drilled, and says whether it passed: docs/runbook.md, "When the database is lost", each quarter.
    Drill(drill::Drill),
    #[command(flatten)]
    Register(register::Register),
}

pub async fn run(config: Option<&Path>, command: Incident) -> Result<()> {
    match command {
        Incident::Bundle(bundle) => bundle.collect(config).await,
        Incident::Register(command) => register::run(config, command).await,
        Incident::Drill(drill) => drill.note(config).await,
    }
}

//! `seven incident`: the register of incidents, recovery drills, and the diagnostic bundle (OBS-19,
//! PROD-36).

mod bundle;
mod drill;
mod register;

use std::path::Path;

use anyhow::Result;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum Incident {
    /// Collect status, alerts, dead letters, switches, audit entries and metrics in one archive
    /// without guest data.
    Bundle(bundle::Bundle),
    /// Record a recovery drill and print whether it passed: docs/runbook.md, "When the database is
    /// lost", each quarter.
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

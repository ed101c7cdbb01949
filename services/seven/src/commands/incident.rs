//! `seven incident`: the register of incidents, recovery drills, and the diagnostic bundle.

mod bundle;
mod drill;
mod found;
mod register;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use super::context::{Context, Operate};

#[derive(Debug, Subcommand)]
pub enum Incident {
    /// Collect the fleet's state in one archive without guest data.
    ///
    /// It holds status, alerts, dead letters, switches, audit entries and metrics.
    Bundle(bundle::Bundle),
    /// Record a recovery drill, due each quarter, and print whether it passed.
    ///
    /// docs/runbook.md, "When the database is lost", has the steps.
    Drill(drill::Drill),
    #[command(flatten)]
    Found(found::Found),
    #[command(flatten)]
    Register(register::Register),
}

impl Operate for Incident {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        match self {
            Self::Bundle(bundle) => bundle.collect(ctx).await?,
            Self::Found(command) => found::found(ctx, command).await?,
            Self::Register(command) => register::register(ctx, command).await?,
            Self::Drill(drill) => drill.note(ctx).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

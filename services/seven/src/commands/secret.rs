//! `seven secret list|rotated`: shows when each secret must be rotated, and records a finished
//! rotation. The secrets themselves stay in their store.

use std::process::ExitCode;

use anyhow::Result;
use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};
use serde_json::json;
use seven_domain::{AuditEvent, CasinoId, Clock};
use seven_settings::rotation::{self, SECRETS};
use seven_store::audit::Entry;

use super::{
    args::{By, Json},
    context::{Context, Operate},
    given, json_rows, known,
};
use crate::out;

#[derive(Debug, Subcommand)]
pub enum Secret {
    /// List the secrets that this fleet uses, sorted by the date on which they are due.
    List(Json),
    /// Record in the audit log that a secret was rotated and the old one no longer works.
    Rotated(Rotated),
}

#[derive(Debug, Args)]
pub struct Rotated {
    /// Name in the settings, such as telnyx.api_key; backup is the key of the encrypted backups.
    #[arg(value_parser = names())]
    name: String,
    /// The casino's id, as `seven casino list` shows it, for a secret that only this casino has.
    /// Without it: the fleet's secret.
    #[arg(long, value_name = "ID")]
    casino: Option<CasinoId>,
    #[command(flatten)]
    by: By,
    /// The proof that the new secret works and the old one does not.
    #[arg(long, value_name = "TEXT", value_parser = given::words)]
    verified: String,
}

/// Returns the names of the secrets that have a rotation period, and `backup`. `backup` is the key
/// of the encrypted backups, which the fleet itself never gets.
fn names() -> Vec<&'static str> {
    SECRETS
        .iter()
        .map(|secret| secret.name)
        .chain(["backup"])
        .collect()
}

impl Operate for Secret {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        match self {
            Self::List(json) => list(ctx, json.json).await?,
            Self::Rotated(command) => rotated(ctx, command).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

async fn list(ctx: &Context, json: bool) -> Result<()> {
    let settings = ctx.settings()?;
    let upkeep = ctx.store()?.upkeep().await?;
    let rotations = rotation::rotations(&settings, &upkeep);
    if json {
        return json_rows(&rotations);
    }
    let now = Clock::default().now();
    let mut table = ctx.table(["secret", "every", "last rotated", "due", "state"]);
    for rotation in rotations {
        let day = |at: DateTime<Utc>| at.format("%Y-%m-%d").to_string();
        let left = (rotation.due_at - now).num_days();
        table.add_row([
            rotation.secret.to_owned(),
            format!("{} days", rotation.days),
            rotation
                .rotated_at
                .map_or_else(|| "never noted".to_owned(), day),
            day(rotation.due_at),
            if rotation.due_at < now {
                "overdue".to_owned()
            } else {
                format!("in {left} days")
            },
        ]);
    }
    out!("{table}");
    Ok(())
}

async fn rotated(
    ctx: &Context,
    Rotated {
        name,
        casino,
        by: By { by },
        verified,
    }: Rotated,
) -> Result<()> {
    let store = ctx.store()?;
    let whose = casino.clone().unwrap_or_else(CasinoId::unknown);
    if let Some(casino) = &casino {
        known(&store, casino).await?;
    }
    let mut tx = store.bind(&whose).await?;
    tx.audit(&Entry::of(
        AuditEvent::SecretRotated,
        &by,
        &name,
        json!({ "verified": verified }),
    ))
    .await?;
    tx.commit().await?;
    out!(
        "Noted: {name} of {} was rotated by {by}.",
        casino.as_ref().map_or("the fleet", CasinoId::as_str)
    );
    Ok(())
}

//! `seven secret list|rotated`: when each secret is due to be changed (SEC-131), and the last step of changing one (SEC-132). The secrets
//! themselves stay in their store; docs/rotation.md has the steps.

use std::path::Path;

use anyhow::Result;
use chrono::{DateTime, Utc};
use clap::Subcommand;
use serde_json::json;
use seven_domain::{AuditEvent, CasinoId, Clock};
use seven_settings::{
    Settings,
    rotation::{self, SECRETS},
};
use seven_store::audit::Entry;

use super::{casino::verify::store, given, known, table};
use crate::out;

#[derive(Debug, Subcommand)]
pub enum Secret {
    /// The secrets this fleet uses: when each was changed last and when it is due, the first due at the top.
    List {
        /// One JSON line per secret instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Write into the audit log that a secret was rotated and the old one is gone.
    Rotated {
        /// Its name in the settings, such as telnyx.api_key; `backup` is the key the backups are encrypted with.
        #[arg(value_parser = names())]
        name: String,
        /// A casino's own; when left out, the fleet's.
        #[arg(long, value_name = "ID")]
        casino: Option<CasinoId>,
        /// Your name, for the record.
        #[arg(long, value_parser = given::words)]
        by: String,
        /// How you saw that the new one works and the old one does not.
        #[arg(long, value_parser = given::words)]
        verified: String,
    },
}

/// Those with a period, and the key of the backups, which the fleet never sees.
fn names() -> Vec<&'static str> {
    SECRETS.iter().map(|secret| secret.name).chain(["backup"]).collect()
}

pub async fn run(config: Option<&Path>, command: Secret) -> Result<()> {
    match command {
        Secret::List { json } => list(config, json).await,
        Secret::Rotated { name, casino, by, verified } => rotated(config, &name, casino.as_ref(), &by, &verified).await,
    }
}

async fn list(config: Option<&Path>, json: bool) -> Result<()> {
    seven_telemetry::init(seven_telemetry::LogTarget::Stderr, crate::commands::LOG)?;
    let settings = Settings::load(config)?;
    let upkeep = store(&settings, &settings.postgres.url)?.upkeep().await?;
    let rotations = rotation::rotations(&settings, &upkeep);
    if json {
        rotations.iter().try_for_each(|line| serde_json::to_string(line).map(|text| out!("{text}")))?;
        return Ok(());
    }
    let now = Clock::default().now();
    let mut table = table(["secret", "every", "last changed", "due", ""]);
    for rotation in rotations {
        let day = |at: DateTime<Utc>| at.format("%Y-%m-%d").to_string();
        let left = (rotation.due_at - now).num_days();
        table.add_row([
            rotation.secret.to_owned(),
            format!("{} days", rotation.days),
            rotation.rotated_at.map_or_else(|| format!("never noted; the fleet began {}", day(upkeep.begun)), day),
            day(rotation.due_at),
            if rotation.due_at < now { "overdue".to_owned() } else { format!("in {left} days") },
        ]);
    }
    out!("{table}");
    Ok(())
}

async fn rotated(config: Option<&Path>, name: &str, casino: Option<&CasinoId>, by: &str, verified: &str) -> Result<()> {
    seven_telemetry::init(seven_telemetry::LogTarget::Stderr, crate::commands::LOG)?;
    let settings = Settings::load(config)?;
    let store = store(&settings, &settings.postgres.url)?;
    let whose = casino.cloned().unwrap_or_else(CasinoId::unknown);
    if let Some(casino) = casino {
        known(&store, casino).await?;
    }
    let mut tx = store.bind(&whose).await?;
    tx.audit(&Entry::of(AuditEvent::SecretRotated, by, name, json!({ "verified": verified }))).await?;
    tx.commit().await?;
    out!("Noted: {name} of {} was rotated by {by}.", casino.map_or("the fleet", CasinoId::as_str));
    Ok(())
}

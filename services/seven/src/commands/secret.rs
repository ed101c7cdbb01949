//! `seven secret rotated`: the last step of a rotation (SEC-132). The secrets themselves stay in their store; docs/rotation.md has the steps.

use std::path::Path;

use anyhow::{Result, ensure};
use clap::Subcommand;
use serde_json::json;
use seven_domain::{AuditEvent, CasinoId};
use seven_store::audit::Entry;

use super::casino::verify::store;
use crate::{out, settings::Settings};

/// What docs/rotation.md knows, by its names in the settings.
const SECRETS: [&str; 13] = [
    "telnyx.public_keys",
    "telnyx.api_key",
    "twilio.auth_tokens",
    "twilio.api_key_secret",
    "model.api_key",
    "knowledge.api_key",
    "alerts.pagerduty_routing_key",
    "alerts.slack_webhook_url",
    "postgres.url",
    "postgres.owner_url",
    "nats.url",
    "redis.url",
    "backup",
];

#[derive(Debug, Subcommand)]
pub enum Secret {
    /// Write into the audit log that a secret was rotated and the old one is gone.
    Rotated {
        /// Its name in the settings, such as telnyx.api_key; `backup` is the key the backups are encrypted with.
        #[arg(value_parser = SECRETS)]
        name: String,
        /// A casino's own; when left out, the fleet's.
        #[arg(long, value_name = "ID")]
        casino: Option<CasinoId>,
        /// Your name, for the record.
        #[arg(long)]
        by: String,
        /// How you saw that the new one works and the old one does not.
        #[arg(long)]
        verified: String,
    },
}

pub async fn run(config: Option<&Path>, command: Secret) -> Result<()> {
    let Secret::Rotated { name, casino, by, verified } = command;
    ensure!(!by.trim().is_empty(), "--by is empty; say who you are");
    ensure!(!verified.trim().is_empty(), "--verified is empty; say how you saw that it works");
    seven_telemetry::init(seven_telemetry::LogTarget::Stderr, crate::commands::LOG)?;
    let settings = Settings::load(config)?;
    let store = store(&settings, &settings.postgres.url)?;
    let whose = casino.clone().unwrap_or_else(CasinoId::unknown);
    let mut tx = store.bind(&whose).await?;
    if let Some(casino) = &casino {
        ensure!(tx.casino_row().await?.is_some(), "no casino {casino}; `seven casino list` shows them");
    }
    tx.audit(&Entry::of(AuditEvent::SecretRotated, &by, &name, json!({ "verified": verified }))).await?;
    tx.commit().await?;
    out!("Noted: {name} of {} was rotated by {by}.", casino.as_ref().map_or("the fleet", CasinoId::as_str));
    Ok(())
}

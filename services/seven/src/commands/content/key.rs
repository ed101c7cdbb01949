//! `seven content key`: the key with which a casino's spreadsheet signs its calls.

use anyhow::{Context as _, Result};
use clap::Args;
use secrecy::ExposeSecret;
use serde_json::json;
use seven_content::webhook;
use seven_domain::AuditEvent;
use seven_store::audit::Entry;

use crate::{
    commands::{
        args::{By, Casino},
        context::Context,
    },
    out,
};

#[derive(Debug, Args)]
pub struct Key {
    #[command(flatten)]
    of: Casino,
    #[command(flatten)]
    by: By,
}

pub(super) async fn key(ctx: &Context, command: Key) -> Result<()> {
    let Key {
        of: Casino { casino },
        by: By { by },
    } = command;
    let fleet = ctx.fleet().await?;
    let mut tx = fleet.store.bind(&casino).await?;
    let row = tx.casino_row().await?;
    let row = row.with_context(|| format!("no casino {casino}; `seven casino list` shows them"))?;
    let version = row.config.operational.content_key_version;
    let detail = json!({ "content_key": version });
    let entry = Entry::of(AuditEvent::ContentUpdated, &by, casino.as_str(), detail);
    tx.audit(&entry).await?;
    tx.commit().await?;
    let key = webhook::key(&fleet.keys, &casino, version);
    out!("{}", key.expose_secret());
    Ok(())
}

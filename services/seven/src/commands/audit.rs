//! `seven audit list|export|daily|seals`: the audit log, its exports and the seals of its days.

mod daily;
mod export;

use std::process::ExitCode;

use anyhow::Result;
use clap::{ArgGroup, Args, Subcommand};
use seven_domain::{AuditEvent, CasinoId, Severity};
use seven_store::audit::Query;

use super::{
    args::{Json, Period},
    context::{Context, Operate},
    guest_ref::GuestRef,
    json_rows, known,
    output::short,
};
use crate::out;

#[derive(Debug, Subcommand)]
pub enum Audit {
    /// List the entries of one casino or of the fleet itself, the newest first.
    List(List),
    /// Print the entries of a period, oldest first, as CSV or JSON lines.
    ///
    /// The log gets an entry about the export itself.
    Export(export::Export),
    /// Write the sealed days of every casino as files, unless they exist; guests appear as [HASH].
    ///
    /// A day's files are the same whenever they are written. If a day's entries have changed since
    /// it was sealed, the day is named and not written, and the command exits with 1.
    Daily(daily::Daily),
    /// Check whether the entries of the sealed days are unchanged; exit with 1 if not.
    Seals(export::Seals),
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("whose").required(true))]
pub struct List {
    /// The casino's id, as `seven casino list` shows it.
    #[arg(long, value_name = "ID", group = "whose")]
    casino: Option<CasinoId>,
    /// Show entries that belong to no casino: rotated secrets, forged webhooks, backups, stops of a
    /// provider for all casinos.
    #[arg(long = "fleet", group = "whose", conflicts_with = "guest")]
    of_the_fleet: bool,
    /// Type of the entries, such as consent_revoked or guardrail_triggered.
    #[arg(long, value_name = "TYPE")]
    event: Vec<AuditEvent>,
    /// Severity of the entries: info, warning or critical.
    #[arg(long)]
    severity: Vec<Severity>,
    /// The guest: phone, guest id, hmac:<key>:<hex>, or - to read a phone from stdin.
    #[arg(long, value_name = "GUEST")]
    guest: Option<GuestRef>,
    /// Guardrail layer of the entries, such as crisis.
    #[arg(long)]
    layer: Option<String>,
    #[command(flatten)]
    period: Period,
    /// Number of rows to show, at most.
    #[arg(long, value_name = "N", default_value_t = 100)]
    #[arg(value_parser = clap::value_parser!(i64).range(1..=1_000))]
    most: i64,
    #[command(flatten)]
    json: Json,
}

impl Operate for Audit {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        match self {
            Self::List(command) => list(ctx, command).await?,
            Self::Export(command) => export::export(ctx.fleet().await?, &command).await?,
            Self::Daily(command) => daily::daily(ctx.fleet().await?, &command).await?,
            Self::Seals(command) => {
                return export::seals(ctx, ctx.fleet().await?, &command).await;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

async fn list(ctx: &Context, command: List) -> Result<()> {
    let List {
        casino,
        event,
        severity,
        guest,
        layer,
        period,
        most,
        json,
        ..
    } = command;
    let fleet = ctx.fleet().await?;
    if let Some(casino) = &casino {
        known(&fleet.store, casino).await?;
    }
    let casino = casino.unwrap_or_else(CasinoId::unknown);
    let guest = match guest {
        Some(guest) => Some(guest.hash(fleet, &casino).await?),
        None => None,
    };
    let (since, until) = period.at(fleet.clock.now());
    let mut tx = fleet.store.bind(&casino).await?;
    let rows = tx
        .audit_entries(&Query {
            events: event,
            severities: severity,
            guest,
            layer,
            since,
            until,
            older_than: None,
            limit: most,
        })
        .await?;
    tx.commit().await?;
    if json.json {
        return json_rows(&rows);
    }
    let mut table = ctx
        .table(["at", "event", "by", "detail", "severity", "about"])
        .wide(["severity", "about"]);
    for row in rows {
        table.add_row([
            row.at.format("%m-%d %T").to_string(),
            row.event_type,
            row.actor,
            short(&row.detail.to_string(), ctx.view),
            row.severity.to_string(),
            row.subject,
        ]);
    }
    out!("{table}");
    Ok(())
}

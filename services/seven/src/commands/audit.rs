//! `seven audit list`: the audit log, newest first (SEC-141, SEC-142).

use std::path::Path;

use anyhow::Result;
use chrono::{DateTime, Utc};
use clap::Subcommand;
use seven_domain::{AuditEvent, CasinoId, Severity};
use seven_store::audit::Query;

use super::{fleet, given, guest_ref::GuestRef, known};
use crate::out;

#[derive(Debug, Subcommand)]
pub enum Audit {
    /// Entries of one casino, or of the fleet itself, newest first, at most 1000.
    #[command(group = clap::ArgGroup::new("whose").required(true))]
    List {
        #[arg(long, value_name = "ID", group = "whose")]
        casino: Option<CasinoId>,
        /// Entries of no casino: rotated secrets, forged webhooks, backups, what stops a provider for all.
        #[arg(long = "fleet", group = "whose", conflicts_with = "guest")]
        of_the_fleet: bool,
        /// Only this event type, such as consent_revoked or guardrail_triggered.
        #[arg(long, value_name = "TYPE")]
        event: Option<AuditEvent>,
        /// info, warning or critical.
        #[arg(long)]
        severity: Option<Severity>,
        /// Phone, guest id, hmac:<key>:<hex>, or - for a phone on stdin.
        #[arg(long)]
        guest: Option<GuestRef>,
        /// Guardrail entries of this layer only.
        #[arg(long)]
        layer: Option<String>,
        /// From this time on (RFC 3339).
        #[arg(long, value_name = "TIME", value_parser = given::moment)]
        since: Option<DateTime<Utc>>,
        /// Before this time (RFC 3339).
        #[arg(long, value_name = "TIME", value_parser = given::moment)]
        until: Option<DateTime<Utc>>,
        /// How many at most.
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..=1_000))]
        most: i64,
        /// One JSON line per entry instead of a table.
        #[arg(long)]
        json: bool,
    },
}

pub async fn run(config: Option<&Path>, command: Audit) -> Result<()> {
    let Audit::List { casino, of_the_fleet, event, severity, guest, layer, since, until, most, json } = command;
    let fleet = fleet(config).await?;
    let casino = match casino.filter(|_| !of_the_fleet) {
        Some(casino) => {
            known(&fleet.store, &casino).await?;
            casino
        }
        None => CasinoId::unknown(),
    };
    let guest = match guest {
        Some(guest) => Some(guest.hash(&fleet, &casino).await?),
        None => None,
    };
    let mut tx = fleet.store.bind(&casino).await?;
    let rows = tx.audit_entries(&Query { event, severity, guest, layer, since, until, limit: most }).await?;
    tx.commit().await?;
    if json {
        rows.iter().try_for_each(|row| serde_json::to_string(row).map(|line| out!("{line}")))?;
        return Ok(());
    }
    let mut table = super::table(["at", "event", "severity", "by", "about", "detail"]);
    for row in rows {
        table.add_row([
            row.at.format("%Y-%m-%d %H:%M:%S").to_string(),
            row.event_type,
            row.severity,
            row.actor,
            row.subject,
            short(&row.detail.to_string()),
        ]);
    }
    out!("{table}");
    Ok(())
}

/// A table shows the beginning; `--json` has it all.
fn short(text: &str) -> String {
    const MOST: usize = 80;
    if text.chars().count() <= MOST { text.to_owned() } else { text.chars().take(MOST).chain("…".chars()).collect() }
}

//! `seven recover`: reads the providers' records of the time between backup and restore (D5). It
//! never sends a text; each record is handled like the webhook that would have reported it.

use std::time::Duration;

use anyhow::{Context, Result};
use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;
use seven_domain::{CasinoId, GuestHash};
use seven_providers::records::Records;
use seven_runtime::Fleet;
use seven_scheduler::reconcile::{How, Report, reconcile};

/// Records are read from this long before the backup. Our clock and the provider's may differ, and
/// the provider lists a text only after a moment.
pub const MARGIN: TimeDelta = TimeDelta::minutes(15);

/// Result of one casino's comparison with its provider's records.
#[derive(Debug)]
pub struct Compared {
    pub casino: CasinoId,
    /// The comparison, or the error in words if the provider could not be asked.
    pub report: Result<Report, String>,
    /// The casino's numbers at providers whose records were not read.
    pub unread: Vec<String>,
}

/// One line of `seven audit list --event ccpa_data_deleted --json`.
#[derive(Debug, Deserialize)]
struct Deleted {
    timestamp: DateTime<Utc>,
    guest_phone_hash: Option<String>,
}

/// Creates the streams, consumers and bucket, which a new NATS server lacks. Then compares every
/// casino with the provider's records.
pub async fn compare(
    fleet: &Fleet,
    records: &dyn Records,
    since: DateTime<Utc>,
) -> Result<Vec<Compared>> {
    fleet
        .bus
        .ensure_streams()
        .await
        .context("making the streams")?;
    let mut all = Vec::new();
    for entry in fleet.store.roster().await? {
        fleet
            .bus
            .onboard(&entry.casino)
            .await
            .with_context(|| format!("making the consumers of {}", entry.casino))?;
        fleet
            .bus
            .mirror(&seven_scheduler::control(entry.clone()))
            .await?;
        let mut tx = fleet.store.bind(&entry.casino).await?;
        let ours = tx
            .casino_row()
            .await?
            .map(|row| row.config.operational.clone());
        tx.commit().await?;
        let unread = ours.iter().flat_map(|ours| {
            let strange = ours.numbers().filter(|number| {
                ours.owner_of(number)
                    .is_some_and(|owner| owner != records.name())
            });
            strange.map(|number| number.as_str().to_owned())
        });
        let unread = unread.collect();
        let report = reconcile(fleet, records, &entry, since, How::Record)
            .await
            .map_err(|error| words(&error));
        all.push(Compared {
            casino: entry.casino,
            report,
            unread,
        });
    }
    Ok(all)
}

fn words(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        words = format!("{words}: {cause}");
        source = cause.source();
    }
    words
}

/// Requests again the deletions in `lines` that were done after the backup, because the restore
/// brought the deleted data back. Returns how many were requested.
///
/// Fails when a line is not an audit entry, or the database cannot be queried.
pub async fn forget_again(
    fleet: &Fleet,
    casino: &CasinoId,
    lines: &str,
    backup: DateTime<Utc>,
) -> Result<usize> {
    let mut asked = 0;
    for (number, line) in lines
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let entry: Deleted = serde_json::from_str(line).with_context(|| {
            format!(
                "line {}: expected a line of `seven audit list --event ccpa_data_deleted --json`",
                number + 1
            )
        })?;
        // A deletion from before the backup is skipped. If the backup holds a guest with this hash,
        // that guest wrote again after the deletion.
        if entry.timestamp < backup {
            continue;
        }
        let guest = entry
            .guest_phone_hash
            .as_deref()
            .and_then(GuestHash::from_tag);
        let guest = guest
            .with_context(|| format!("line {} names no guest as hmac:<key>:<hex>", number + 1))?;
        let mut tx = fleet.store.bind(casino).await?;
        if let Some(id) = tx.guest_by_hash(&guest).await? {
            let by = "seven recover: done after the backup";
            let new = tx
                .request_deletion(
                    fleet.ids.uuid(),
                    &guest,
                    id,
                    by,
                    entry.timestamp,
                    Duration::ZERO,
                )
                .await?;
            asked += usize::from(new);
        }
        tx.commit().await?;
    }
    Ok(asked)
}

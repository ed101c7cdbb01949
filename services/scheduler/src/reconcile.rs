//! The provider's record of our texts against our own (D5): texts of guests whose webhook never came enter the pipeline under their
//! provider's id, sends in doubt get their last word, opt-outs we never heard of become suppressions.
//!
//! Reads the provider's records and never sends: what it finds goes the way a webhook would have gone.

mod inbound;
mod opt_outs;
mod outbound;

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use seven_domain::{CasinoId, PhoneE164};
use seven_providers::records::{Page, Records, RecordsFuture, Unread};
use seven_runtime::{Error, Fleet};
use seven_store::{fleet::RosterEntry, numbers::Number};
use seven_telemetry::{Alert, metrics};
use tokio::time::sleep;

use crate::mutant;

/// Each run looks again at this much of what the last one saw: lists are not complete at once.
const OVERLAP: TimeDelta = TimeDelta::minutes(15);
/// The first run, or one after a long rest, goes back this far.
const FIRST: TimeDelta = TimeDelta::hours(2);
/// The provider's own look-up of a message reaches no further.
const FURTHEST: TimeDelta = TimeDelta::days(10);
const TRIES: u32 = 4;

/// The findings and actions of one run; in a dry run, the actions it would have taken.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Report {
    /// Calls of the provider.
    pub requests: u32,
    /// Texts of guests in its list.
    pub texts_listed: usize,
    /// Those whose webhook never came.
    pub texts_recovered: usize,
    /// Sends of ours without a last word.
    pub sends_in_doubt: usize,
    pub sends_settled: usize,
    /// Never at the provider and still of use: they go out.
    pub sends_requeued: usize,
    /// Never at the provider and of no use any more.
    pub sends_ended: usize,
    pub opt_outs_listed: usize,
    pub opt_outs_taken_over: usize,
}

impl Report {
    fn lost(&self) -> usize {
        self.texts_recovered + self.sends_settled + self.opt_outs_taken_over
    }
}

/// The actions that a run may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Only tell.
    Dry,
    /// Take over what the provider's record says. A text it has no record of stays `unknown`: its list may lag, and no text goes out
    /// twice (D5).
    Record,
    /// The same, and send such texts once more: an operator's decision.
    Resend,
}

/// A number, and the time in which what was written to it is this casino's; no bound where no other casino had it.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) number: PhoneE164,
    pub(crate) since: Option<DateTime<Utc>>,
    pub(crate) until: Option<DateTime<Utc>>,
}

/// The casino's numbers out of all. One that was handed on changed hands when its route of today began.
fn held<'a>(all: &'a [Number], casino: &'a CasinoId) -> impl Iterator<Item = Held> + 'a {
    let handed_on = |number: &Number| all.iter().any(|other| other.now_of.is_some() && other.number == number.number);
    let today = |number: &Number| all.iter().find(|other| other.now_of.is_none() && other.number == number.number);
    all.iter().filter(|number| number.casino_id == casino.as_str()).filter_map(move |number| {
        let (since, until) = match number.now_of {
            None => (number.since.filter(|_| handed_on(number)), None),
            Some(_) => (None, Some(today(number)?.since?)),
        };
        Some(Held { number: number.number.parse().ok()?, since, until })
    })
}

/// One run for one casino at one provider.
pub(crate) struct Run<'a> {
    pub(crate) fleet: &'a Fleet,
    pub(crate) records: &'a dyn Records,
    pub(crate) casino: &'a CasinoId,
    /// The numbers at this provider that the casino has, and those that were handed on from it.
    pub(crate) numbers: Vec<Held>,
    pub(crate) since: DateTime<Utc>,
    /// Younger texts may still come by themselves.
    pub(crate) until: DateTime<Utc>,
    /// When this database was restored from a backup last.
    pub(crate) restored_at: Option<DateTime<Utc>>,
    pub(crate) dry: bool,
    /// Texts the provider has no record of go out again.
    pub(crate) resend: bool,
    pub(crate) report: Report,
}

impl<'a> Run<'a> {
    /// Every item of a list, page by page.
    pub(crate) async fn all<T>(&mut self, page: impl Fn(usize) -> RecordsFuture<'a, Page<T>>) -> Result<Vec<T>, Error> {
        let mut all = Vec::new();
        for number in 1.. {
            let Page { items, last } = self.ask(|| page(number)).await?;
            all.extend(items);
            if last {
                break;
            }
        }
        Ok(all)
    }

    /// One request at the pace of two a second; what may pass is asked again, four times in all.
    pub(crate) async fn ask<'b, T>(&mut self, call: impl Fn() -> RecordsFuture<'b, T>) -> Result<T, Error> {
        let pace = self.fleet.timing.records_pace();
        let mut tries = 0;
        loop {
            self.report.requests += 1;
            tries += 1;
            match call().await {
                Ok(answer) => {
                    sleep(pace).await;
                    return Ok(answer);
                }
                Err(Unread { transient: true, .. }) if tries < TRIES => sleep(pace * 4u32.pow(tries)).await,
                Err(unread) => return Err(Error::Other(unread.to_string())),
            }
        }
    }
}

/// Compares one casino's texts since `since` with the provider's records.
///
/// # Errors
/// When the provider or a store cannot be asked; what was done until then stays done, and doing it again does nothing.
pub async fn reconcile(
    fleet: &Fleet,
    records: &dyn Records,
    entry: &RosterEntry,
    since: DateTime<Utc>,
    how: How,
) -> Result<Report, Error> {
    let now = fleet.clock.now();
    let mut tx = fleet.store.bind(&entry.casino).await?;
    let row = tx.casino_row().await?;
    tx.commit().await?;
    let Some(row) = row else { return Ok(Report::default()) };
    let ours = &row.config.operational;
    let all = fleet.store.numbers().await?;
    let numbers = held(&all, &entry.casino)
        .filter(|held| ours.owner_of(&held.number).is_none_or(|owner| owner == records.name()))
        .collect();
    let margin = TimeDelta::from_std(fleet.timing.records_margin()).unwrap_or_default();
    let mut run = Run {
        fleet,
        records,
        casino: &entry.casino,
        numbers,
        since: since.max(now - FURTHEST),
        until: now - margin,
        restored_at: fleet.store.restored_at().await?,
        dry: how == How::Dry,
        resend: how == How::Resend,
        report: Report::default(),
    };
    // Texts first: a STOP among them is newer than what the list of opt-outs makes of it.
    run.texts().await?;
    run.opt_outs().await?;
    run.sends().await?;
    let report = run.report;
    if how != How::Dry {
        let mut tx = fleet.store.bind(&entry.casino).await?;
        let result = serde_json::to_value(&report).unwrap_or_default();
        tx.note_reconciliation(records.name(), now - margin, &result).await?;
        tx.commit().await?;
        metrics().swept.with_label_values(&["reconciled"]).inc_by(u64::try_from(report.lost()).unwrap_or_default());
    }
    Ok(report)
}

/// All casinos in turn; each at most once per period, whoever comes first.
pub(crate) async fn round(fleet: Fleet, records: Vec<Arc<dyn Records>>) -> Result<(), Error> {
    if mutant::reconciles_nothing() {
        return Ok(());
    }
    let roster = fleet.store.roster().await?;
    for records in &records {
        let due = fleet.store.unreconciled(records.name(), fleet.timing.reconcile_every()).await?;
        for entry in roster.iter().filter(|entry| due.contains(&entry.casino)) {
            match claimed_round(&fleet, records.as_ref(), entry).await {
                // One casino's or provider's trouble is not the next one's.
                Err(error) if !error.is_away() => {
                    tracing::warn!(casino = %entry.casino, provider = records.name(), error = &error as &dyn std::error::Error, "reconciliation failed; the next round begins where this one did");
                }
                ended => ended?,
            }
        }
    }
    Ok(())
}

async fn claimed_round(fleet: &Fleet, records: &dyn Records, entry: &RosterEntry) -> Result<(), Error> {
    let mut tx = fleet.store.bind(&entry.casino).await?;
    let claimed = tx.claim_reconciliation(records.name(), fleet.timing.reconcile_every()).await?;
    tx.commit().await?;
    let Some(done_until) = claimed else { return Ok(()) };
    let now = fleet.clock.now();
    let since = done_until.map_or(now - FIRST, |at| at - OVERLAP);
    let report = reconcile(fleet, records, entry, since, How::Record).await?;
    tell(&entry.casino, records.name(), &report);
    Ok(())
}

fn tell(casino: &CasinoId, provider: &str, report: &Report) {
    tracing::info!(%casino, provider, ?report, "compared with the provider's records");
    if report.lost() > 0 {
        let text = "webhooks of this provider never reached us; the texts were recovered from its records. See `seven reconcile --dry-run`, and the webhook addresses at the provider";
        Alert { name: "webhooks_lost", casino: casino.as_str(), provider, code: "", text }.raise();
    }
}

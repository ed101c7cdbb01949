//! Compares the provider's records of our texts with our own rows (D5). It only reads the records
//! and sends nothing: its findings go through the same stages as webhooks.

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

/// Each run overlaps the previous run by this much, because new texts appear late in the provider's
/// lists.
const RUN_OVERLAP: TimeDelta = TimeDelta::minutes(15);
/// How far back a casino's first run goes. Each later run goes back to the end of the run before,
/// and [`RUN_OVERLAP`] further.
const FIRST_RUN_LOOKBACK: TimeDelta = TimeDelta::hours(2);
/// How far back the provider can look up a text.
const MAX_LOOKBACK: TimeDelta = TimeDelta::days(10);
const TRIES: u32 = 4;

/// The findings and actions of one run. In a dry run, the actions are those that a real run would
/// take.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Report {
    /// Number of requests that were made to the provider.
    pub requests: u32,
    /// How many guests' texts the provider lists.
    pub texts_listed: usize,
    /// How many of these texts were recovered, because their webhook never came.
    pub texts_recovered: usize,
    /// How many of our sends have an unknown outcome.
    pub sends_in_doubt: usize,
    pub sends_settled: usize,
    /// How many sends never reached the provider and are still useful, so that they are sent again.
    pub sends_requeued: usize,
    /// How many sends never reached the provider and are no longer useful.
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
    /// Only report.
    Dry,
    /// Record what the provider's records show. A text without a record stays `unknown`: the
    /// provider's list may lag, and no text may be sent twice (D5).
    Record,
    /// Like `Record`, but send texts without a record once more. Only an operator may decide this.
    Resend,
}

/// A number, and the period in which texts to it belong to this casino. Without `since`, the period
/// has no beginning; without `until`, the casino still has the number.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) number: PhoneE164,
    pub(crate) since: Option<DateTime<Utc>>,
    pub(crate) until: Option<DateTime<Utc>>,
}

/// Returns the casino's numbers, including numbers that it handed on to another casino. A number
/// was handed on when its present route began.
fn held<'a>(all: &'a [Number], casino: &'a CasinoId) -> impl Iterator<Item = Held> + 'a {
    let handed_on = |number: &Number| {
        all.iter()
            .any(|other| other.now_of.is_some() && other.number == number.number)
    };
    let today = |number: &Number| {
        all.iter()
            .find(|other| other.now_of.is_none() && other.number == number.number)
    };
    all.iter()
        .filter(|number| number.casino_id == casino.as_str())
        .filter_map(move |number| {
            let (since, until) = match number.now_of {
                None => (number.since.filter(|_| handed_on(number)), None),
                Some(_) => (None, Some(today(number)?.since?)),
            };
            Some(Held {
                number: number.number.parse().ok()?,
                since,
                until,
            })
        })
}

/// One reconciliation of one casino's texts with one provider's records.
pub(crate) struct Run<'a> {
    pub(crate) fleet: &'a Fleet,
    pub(crate) records: &'a dyn Records,
    pub(crate) casino: &'a CasinoId,
    /// The casino's present numbers at this provider, and numbers that it has handed on.
    pub(crate) numbers: Vec<Held>,
    pub(crate) since: DateTime<Utc>,
    /// End of the period. Later texts are left out, because their webhooks may still come.
    pub(crate) until: DateTime<Utc>,
    /// When this database was last restored from a backup, if ever.
    pub(crate) restored_at: Option<DateTime<Utc>>,
    pub(crate) dry: bool,
    /// Whether texts without a record at the provider are sent again.
    pub(crate) resend: bool,
    pub(crate) report: Report,
}

impl<'a> Run<'a> {
    /// Returns all items of a list, which is read page by page.
    pub(crate) async fn all<T>(
        &mut self,
        page: impl Fn(usize) -> RecordsFuture<'a, Page<T>>,
    ) -> Result<Vec<T>, Error> {
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

    /// Makes one request, at most two a second. A transient failure is tried again, up to four
    /// times in all.
    pub(crate) async fn ask<'b, T>(
        &mut self,
        call: impl Fn() -> RecordsFuture<'b, T>,
    ) -> Result<T, Error> {
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
                Err(Unread {
                    transient: true, ..
                }) if tries < TRIES => sleep(pace * 4u32.pow(tries)).await,
                Err(unread) => return Err(Error::Other(unread.to_string())),
            }
        }
    }
}

/// Compares one casino's texts since `since` with the provider's records.
///
/// # Errors
/// If the provider or a store cannot be reached. Work done until then stays done, and
/// repeating it changes nothing.
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
    let Some(row) = row else {
        return Ok(Report::default());
    };
    let ours = &row.config.operational;
    let all = fleet.store.numbers().await?;
    let numbers = held(&all, &entry.casino)
        .filter(|held| {
            ours.owner_of(&held.number)
                .is_none_or(|owner| owner == records.name())
        })
        .collect();
    let margin = TimeDelta::from_std(fleet.timing.records_margin()).unwrap_or_default();
    let mut run = Run {
        fleet,
        records,
        casino: &entry.casino,
        numbers,
        since: since.max(now - MAX_LOOKBACK),
        until: now - margin,
        restored_at: fleet.store.restored_at().await?,
        dry: how == How::Dry,
        resend: how == How::Resend,
        report: Report::default(),
    };
    // Guests' texts come first, so that their STOPs are written before the provider's list of
    // opt-outs is compared.
    run.texts().await?;
    run.opt_outs().await?;
    run.sends().await?;
    let report = run.report;
    if how != How::Dry {
        let mut tx = fleet.store.bind(&entry.casino).await?;
        let result = serde_json::to_value(&report).unwrap_or_default();
        tx.note_reconciliation(records.name(), now - margin, &result)
            .await?;
        tx.commit().await?;
        metrics()
            .swept
            .with_label_values(&["reconciled"])
            .inc_by(u64::try_from(report.lost()).unwrap_or_default());
    }
    Ok(report)
}

/// Reconciles one casino after the other, each at most once per period, however many schedulers
/// run.
pub(crate) async fn round(fleet: Fleet, records: Vec<Arc<dyn Records>>) -> Result<(), Error> {
    if mutant::reconciles_nothing() {
        return Ok(());
    }
    let roster = fleet.store.roster().await?;
    for records in &records {
        let due = fleet
            .store
            .unreconciled(records.name(), fleet.timing.reconcile_every())
            .await?;
        for entry in roster.iter().filter(|entry| due.contains(&entry.casino)) {
            match claimed_round(&fleet, records.as_ref(), entry).await {
                // A failure at one casino or provider does not stop the others.
                Err(error) if !error.is_away() => {
                    tracing::warn!(
                        casino = %entry.casino,
                        provider = records.name(),
                        error = &error as &dyn std::error::Error,
                        "reconciliation failed; the next run covers the same time again"
                    );
                }
                ended => ended?,
            }
        }
    }
    Ok(())
}

async fn claimed_round(
    fleet: &Fleet,
    records: &dyn Records,
    entry: &RosterEntry,
) -> Result<(), Error> {
    let mut tx = fleet.store.bind(&entry.casino).await?;
    let claimed = tx
        .claim_reconciliation(records.name(), fleet.timing.reconcile_every())
        .await?;
    tx.commit().await?;
    let Some(done_until) = claimed else {
        return Ok(());
    };
    let now = fleet.clock.now();
    let since = done_until.map_or(now - FIRST_RUN_LOOKBACK, |at| at - RUN_OVERLAP);
    let report = reconcile(fleet, records, entry, since, How::Record).await?;
    tell(&entry.casino, records.name(), &report);
    Ok(())
}

fn tell(casino: &CasinoId, provider: &str, report: &Report) {
    tracing::info!(%casino, provider, ?report, "compared with the provider's records");
    if report.lost() > 0 {
        let text = "webhooks of this provider never reached us; the texts were recovered from its records. See `seven reconcile --dry-run`, and the webhook addresses at the provider";
        Alert {
            name: "webhooks_lost",
            casino: casino.as_str(),
            provider,
            code: "",
            text,
        }
        .raise();
    }
}

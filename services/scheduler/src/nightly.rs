//! Runs each casino's nightly jobs from 03:00 in its time zone. Each job is claimed by date, so
//! that only one of several schedulers runs it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, Days, NaiveDate, TimeDelta, Timelike, Utc, Weekday};
use chrono_tz::Tz;
use serde_json::{Value, json};
use seven_compliance::chain::Action;
use seven_domain::{
    AuditEvent, CaseSeverity, CaseSource, CasinoConfig, CasinoId, ConsentTier, GuestHash, GuestId,
};
use seven_packs::Rules;
use seven_runtime::{Error, Fleet, counted};
use seven_store::{
    Tx,
    audit::Entry,
    consent::{Consent, method},
    escalations::NewEscalation,
};
use seven_telemetry::metrics;
use uuid::Uuid;

use crate::{letters, seals, weekly};

/// The jobs of a night, in the order in which they are run.
pub const NIGHTLY_JOBS: [&str; 7] = [
    "consent_chains",
    "consent_decay",
    "turn_facts",
    "retention",
    "audit_seals",
    "weekly_reports",
    weekly::JOB,
];
pub(crate) const FROM_HOUR: u32 = 3;
/// Only consent chains with an event in the last `CHAIN_DAYS` days are checked.
const CHAIN_DAYS: i32 = 30;
/// How long to wait before a casino's failed jobs are tried again.
pub(crate) const RETRY_DELAY: TimeDelta = TimeDelta::minutes(10);
/// Dead letters to numbers that belong to no casino are kept for this many days.
const UNKNOWN_LETTER_DAYS: i32 = 90;
/// Age in days at which an unfinished deletion opens a case.
const OVERDUE_DAYS: i32 = 40;

/// When each casino's next night begins; until then, no query is made for it. A casino without an
/// entry is checked at once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Nights(Arc<Mutex<HashMap<CasinoId, DateTime<Utc>>>>);

impl Nights {
    pub(crate) fn is_due(&self, casino: &CasinoId, now: DateTime<Utc>) -> bool {
        self.known().get(casino).is_none_or(|next| *next <= now)
    }

    pub(crate) fn next(&self, casino: CasinoId, at: DateTime<Utc>) {
        self.known().insert(casino, at);
    }

    fn known(&self) -> MutexGuard<'_, HashMap<CasinoId, DateTime<Utc>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) async fn round(fleet: Fleet, nights: Nights) -> Result<(), Error> {
    let now = fleet.clock.property_now();
    let unknown = CasinoId::unknown();
    if nights.is_due(&unknown, now) {
        let next = match forget_unknown(&fleet).await {
            Ok(()) => TimeDelta::days(1),
            Err(error) if !error.is_away() => {
                tracing::error!(
                    casino = %unknown,
                    error = &error as &dyn std::error::Error,
                    "nightly jobs failed; they are tried again in ten minutes"
                );
                RETRY_DELAY
            }
            Err(error) => return Err(error),
        };
        nights.next(unknown, now + next);
    }
    // Includes removed casinos, so that their data is deleted in time, too.
    for casino in fleet.store.tenants().await? {
        if !nights.is_due(&casino, now) {
            continue;
        }
        match casino_round(&fleet, &casino, now).await {
            Ok(next) => nights.next(casino, next),
            // A failure at one casino does not stop the others.
            Err(error) if !error.is_away() => {
                tracing::error!(
                    %casino,
                    error = &error as &dyn std::error::Error,
                    "nightly jobs failed; they are tried again in ten minutes"
                );
                nights.next(casino, now + RETRY_DELAY);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Deletes expired dead letters to numbers that belong to no casino. Also deletes records of
/// casinos' former numbers, once a STOP to such a number no longer concerns the former casino.
async fn forget_unknown(fleet: &Fleet) -> Result<(), Error> {
    fleet.store.forget_former_numbers().await?;
    let mut tx = fleet.store.bind(&CasinoId::unknown()).await?;
    let letters = tx.forget_letters(UNKNOWN_LETTER_DAYS).await?;
    if letters > 0 {
        let detail = json!({ "dead_letters": letters });
        tx.audit(&Entry::of(
            AuditEvent::RetentionApplied,
            "scheduler",
            "numbers of no casino",
            detail,
        ))
        .await?;
    }
    Ok(tx.commit().await?)
}

/// Runs tonight's jobs, if it is past 03:00 in the casino's time zone. Returns when the next night
/// begins.
async fn casino_round(
    fleet: &Fleet,
    casino: &CasinoId,
    now: DateTime<Utc>,
) -> Result<DateTime<Utc>, Error> {
    let mut tx = fleet.store.bind(casino).await?;
    let row = tx.casino_row().await?;
    tx.commit().await?;
    let Some(row) = row else { return Ok(now) };
    let local = now.with_timezone(&row.config.operational.timezone);
    if local.hour() >= FROM_HOUR {
        night(fleet, &row.config, local.date_naive()).await?;
    }
    Ok(next_night(local))
}

/// Returns the next 03:00 in the casino's time zone. If the clocks skip 03:00 that day, returns the
/// time an hour from now. If the casino's time zone changes, the next night still begins at 03:00
/// in the old zone.
pub(crate) fn next_night(local: DateTime<Tz>) -> DateTime<Utc> {
    let date = local.date_naive() + Days::new(u64::from(local.hour() >= FROM_HOUR));
    let three = date
        .and_hms_opt(FROM_HOUR, 0, 0)
        .and_then(|at| at.and_local_timezone(local.timezone()).earliest());
    three.map_or_else(|| local.to_utc() + TimeDelta::hours(1), |at| at.to_utc())
}

/// Runs all jobs of one casino for this date, except those that have run. A job that fails does not
/// stop the others.
///
/// # Errors
/// The error of the first job that failed.
pub async fn night(fleet: &Fleet, config: &CasinoConfig, date: NaiveDate) -> Result<(), Error> {
    let mut done = Ok(());
    for job in NIGHTLY_JOBS {
        let ended = nightly(fleet, config, date, job).await;
        done = done.and(ended);
    }
    done
}

async fn nightly(
    fleet: &Fleet,
    config: &CasinoConfig,
    date: NaiveDate,
    job: &str,
) -> Result<(), Error> {
    let rules = &fleet.packs.of(config)?.rules;
    let week = weekly::Week {
        casino: &config.casino_id,
        ended: date.week(Weekday::Mon).first_day(),
        zone: config.operational.timezone,
    };
    // The weekly job is claimed by week: the first night of a week runs it. If it fails, a later
    // night runs it.
    let (date, run) = match job {
        weekly::JOB => (week.ended, weekly::ask(fleet, week).await?),
        _ => (date, None),
    };
    let mut tx = fleet.store.bind(&config.casino_id).await?;
    if !tx.claim_nightly(job, date).await? {
        return Ok(());
    }
    let result = match job {
        "consent_chains" => verify_chains(fleet, &mut tx).await?,
        "consent_decay" => decay(fleet, rules, &mut tx).await?,
        "turn_facts" => facts(&mut tx).await?,
        "audit_seals" => seals::seal_days(fleet, &mut tx).await?,
        "weekly_reports" => {
            let zone = config.operational.timezone;
            json!({ "planned": letters::plan(&mut tx, zone, date).await? })
        }
        weekly::JOB => weekly::check(fleet, &mut tx, week, run.as_ref()).await?,
        _ => retention(fleet, rules, &mut tx).await?,
    };
    tx.note_nightly(job, &result).await?;
    tx.commit().await?;
    metrics().swept.with_label_values(&[job]).inc();
    tracing::info!(casino = %config.casino_id, job, %result, "nightly work done");
    Ok(())
}

async fn verify_chains(fleet: &Fleet, tx: &mut Tx) -> Result<Value, Error> {
    let guests = tx.chains(Some(CHAIN_DAYS)).await?;
    let mut broken = 0;
    for guest in &guests {
        let report = tx.verify_chain(guest, &fleet.keys).await?;
        if report.valid {
            continue;
        }
        broken += 1;
        tracing::error!(
            casino = %tx.casino(),
            guest = guest.tag(),
            ?report,
            "a consent chain does not verify"
        );
        let detail = serde_json::to_value(&report).unwrap_or_default();
        tx.audit(&Entry {
            event: AuditEvent::ConsentChainBroken,
            actor: "scheduler",
            subject: &guest.tag(),
            guest: Some(guest),
            detail,
            trace: None,
        })
        .await?;
        let case = compliance_case(
            fleet.ids.uuid(),
            Some(guest),
            "consent_chain_broken",
            CaseSeverity::Sev0,
            Some(450),
            Some(15),
        );
        counted::open_case(tx, &case).await?;
    }
    Ok(json!({ "checked": guests.len(), "broken": broken }))
}

async fn decay(fleet: &Fleet, rules: &Rules, tx: &mut Tx) -> Result<Value, Error> {
    let days = rules.consent.decay_days;
    let mut lapsed = 0;
    for (guest_id, key_id, hash) in tx.decayed_consents(days).await? {
        let Ok(bytes) = hash.try_into() else { continue };
        let change = Consent {
            guest: &GuestHash { key_id, bytes },
            guest_id: Some(GuestId(guest_id)),
            action: Action::Updated,
            method: method::DECAY,
            tier: ConsentTier::Transactional,
            at: fleet.clock.now(),
            evidence: json!({ "days_without_a_sign": days }),
            actor: "scheduler",
            trace: None,
        };
        tx.record_consent(&change, &fleet.keys).await?;
        lapsed += 1;
    }
    Ok(json!({ "lapsed": lapsed }))
}

/// Copies figures of the turns since the last night, for analysis. The copy begins one day earlier,
/// to include turns that ended late.
async fn facts(tx: &mut Tx) -> Result<Value, Error> {
    let since = tx
        .facts_until()
        .await?
        .map(|newest| newest - TimeDelta::days(1));
    let (mut after, mut written) = (None, 0);
    loop {
        let batch = tx
            .copy_facts(after, since, seven_store::facts::BATCH)
            .await?;
        written += batch.written;
        after = batch.last;
        if after.is_none() {
            return Ok(json!({ "copied": written }));
        }
    }
}

/// Opens a case for each deletion older than 40 days; the law allows 45.
async fn overdue(tx: &mut Tx) -> Result<usize, Error> {
    let late = tx.overdue_deletions(OVERDUE_DAYS).await?;
    for id in &late {
        tracing::error!(casino = %tx.casino(), deletion_id = %id, "a deletion is overdue");
        // The case has the deletion's id, so that later nights do not open a second case.
        let case = compliance_case(
            *id,
            None,
            "deletion_overdue",
            CaseSeverity::Sev1,
            Some(1_800),
            Some(60),
        );
        counted::open_case(tx, &case).await?;
    }
    Ok(late.len())
}

pub(crate) fn compliance_case<'a>(
    id: Uuid,
    guest: Option<&'a GuestHash>,
    reason: &'a str,
    severity: CaseSeverity,
    ack_seconds: Option<u32>,
    respond_minutes: Option<u32>,
) -> NewEscalation<'a> {
    NewEscalation {
        escalation_id: id,
        conversation_id: None,
        guest_id: None,
        guest,
        inbound_id: None,
        severity,
        source: CaseSource::Compliance,
        reason,
        pattern_id: None,
        subject: "",
        detail: None,
        ack_seconds,
        respond_minutes,
        actor: "scheduler",
        trace: None,
    }
}

async fn retention(fleet: &Fleet, rules: &Rules, tx: &mut Tx) -> Result<Value, Error> {
    let rules = &rules.privacy;
    let mut counts = tx
        .apply_retention(rules.warm_days, rules.archive_days)
        .await?;
    counts["former_senders"] = json!(tx.forget_former_senders().await?);
    let mut forgotten = 0;
    for (guest_id, guest) in tx.idle_guests(rules.phone_days).await? {
        let (id, now) = (fleet.ids.uuid(), fleet.clock.now());
        tx.request_deletion(
            id,
            &guest,
            guest_id,
            "retention",
            now,
            std::time::Duration::ZERO,
        )
        .await?;
        forgotten += 1;
    }
    counts["tickets_closed"] = json!(tx.close_idle_tickets().await?);
    counts["guests_due_for_deletion"] = json!(forgotten);
    counts["deletions_overdue"] = json!(overdue(tx).await?);
    if counts
        .as_object()
        .is_some_and(|counts| counts.values().any(|n| n != &json!(0)))
    {
        let casino = tx.casino().to_string();
        tx.audit(&Entry::of(
            AuditEvent::RetentionApplied,
            "scheduler",
            &casino,
            counts.clone(),
        ))
        .await?;
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SEC-74
    fn the_next_night_begins_at_three_there_whatever_the_clock_does() {
        let at = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
        for (zone, now, next) in [
            (
                chrono_tz::America::New_York,
                "2026-01-14T07:59:00Z",
                "2026-01-14T08:00:00Z",
            ),
            (
                chrono_tz::America::New_York,
                "2026-01-14T08:00:00Z",
                "2026-01-15T08:00:00Z",
            ),
            (
                chrono_tz::America::New_York,
                "2026-01-15T01:00:00Z",
                "2026-01-15T08:00:00Z",
            ),
            // The clocks go from 02:00 to 03:00 in spring and from 02:00 back to 01:00 in autumn.
            (
                chrono_tz::America::New_York,
                "2026-03-07T20:00:00Z",
                "2026-03-08T07:00:00Z",
            ),
            (
                chrono_tz::America::New_York,
                "2026-10-31T20:00:00Z",
                "2026-11-01T08:00:00Z",
            ),
            // The clocks go from 03:00 to 04:00. There is no 03:00, so the result is an hour from
            // now.
            (
                chrono_tz::Europe::Helsinki,
                "2026-03-28T23:30:00Z",
                "2026-03-29T00:30:00Z",
            ),
            // The clocks go back from 04:00 to 03:00. 03:00 occurs twice, and the night begins at
            // the first.
            (
                chrono_tz::Europe::Helsinki,
                "2026-10-24T20:00:00Z",
                "2026-10-25T00:00:00Z",
            ),
        ] {
            assert_eq!(
                next_night(at(now).with_timezone(&zone)),
                at(next),
                "{zone} {now}"
            );
        }
    }

    #[test] // SEC-74
    fn a_casino_is_left_alone_until_its_next_night() {
        let (nights, casino) = (Nights::default(), "here".parse::<CasinoId>().unwrap());
        let now = "2026-01-14T08:00:00Z".parse::<DateTime<Utc>>().unwrap();
        assert!(nights.is_due(&casino, now), "nobody has looked yet");
        nights.next(casino.clone(), now + TimeDelta::hours(24));
        assert!(!nights.is_due(&casino, now));
        assert!(nights.is_due(&casino, now + TimeDelta::hours(24)));
    }
}

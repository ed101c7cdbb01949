//! What each casino has done once a night, from three o'clock its own time: consent chains checked (SEC-74), consents without a sign of
//! life lapsed (SMS-21), figures of the day's turns copied (OBS-35), what has been kept long enough removed (DATA-49 to DATA-55). Claimed by
//! date: many schedulers do it once.

use chrono::{NaiveDate, TimeDelta, Timelike};
use serde_json::{Value, json};
use seven_compliance::chain::Action;
use seven_domain::{AuditEvent, CasinoConfig, GuestHash, GuestId};
use seven_packs::Rules;
use seven_runtime::{Error, Fleet};
use seven_store::{
    Tx,
    audit::Entry,
    consent::{Consent, method},
    escalations::NewEscalation,
};
use seven_telemetry::metrics;
use uuid::Uuid;

const FROM_HOUR: u32 = 3;
/// Chains with events of these days are checked.
const CHAIN_DAYS: i32 = 30;
/// Days after which a deletion that is not done is a case.
const OVERDUE_DAYS: i32 = 40;

pub(crate) async fn round(fleet: Fleet) -> Result<(), Error> {
    for entry in fleet.store.roster().await? {
        let mut tx = fleet.store.bind(&entry.casino).await?;
        let Some(row) = tx.casino_row().await? else { continue };
        tx.commit().await?;
        let local = fleet.clock.property_now().with_timezone(&row.config.operational.timezone);
        if local.hour() >= FROM_HOUR {
            night(&fleet, &row.config, local.date_naive()).await?;
        }
    }
    Ok(())
}

/// All jobs of one casino for this date; those that have run are skipped.
pub async fn night(fleet: &Fleet, config: &CasinoConfig, date: NaiveDate) -> Result<(), Error> {
    let rules = &fleet.packs.of(config)?.rules;
    for job in ["consent_chains", "consent_decay", "turn_facts", "retention"] {
        let mut tx = fleet.store.bind(&config.casino_id).await?;
        if !tx.claim_nightly(job, date).await? {
            continue;
        }
        let result = match job {
            "consent_chains" => verify_chains(fleet, &mut tx).await?,
            "consent_decay" => decay(fleet, rules, &mut tx).await?,
            "turn_facts" => facts(&mut tx).await?,
            _ => retention(fleet, rules, &mut tx).await?,
        };
        tx.note_nightly(job, &result).await?;
        tx.commit().await?;
        metrics().swept.with_label_values(&[job]).inc();
        tracing::info!(casino = %config.casino_id, job, %result, "nightly work done");
    }
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
        tracing::error!(casino = %tx.casino(), guest = guest.tag(), ?report, "a consent chain does not verify");
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
        let case = compliance_case(fleet.ids.uuid(), Some(guest), "consent_chain_broken", "sev0", Some(450), Some(15));
        tx.escalate(&case).await?;
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
            tier: "transactional",
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

/// Figures of the turns since the last night, for analysis (OBS-35); a day more, for turns that ended late.
async fn facts(tx: &mut Tx) -> Result<Value, Error> {
    let since = tx.facts_until().await?.map(|newest| newest - TimeDelta::days(1));
    let (mut after, mut written) = (None, 0);
    loop {
        let batch = tx.copy_facts(after, since, seven_store::facts::BATCH).await?;
        written += batch.written;
        after = batch.last;
        if after.is_none() {
            return Ok(json!({ "copied": written }));
        }
    }
}

/// A deletion must be done within the law's 45 days; five before that somebody looks (DATA-57).
async fn overdue(tx: &mut Tx) -> Result<usize, Error> {
    let late = tx.overdue_deletions(OVERDUE_DAYS).await?;
    for id in &late {
        tracing::error!(casino = %tx.casino(), deletion_id = %id, "a deletion is overdue");
        // The deletion's id names the case: night after night it is one case.
        tx.escalate(&compliance_case(*id, None, "deletion_overdue", "sev1", Some(1_800), Some(60))).await?;
    }
    Ok(late.len())
}

fn compliance_case<'a>(
    id: Uuid,
    guest: Option<&'a GuestHash>,
    reason: &'a str,
    severity: &'static str,
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
        source: "compliance",
        reason,
        pattern_id: None,
        ack_seconds,
        respond_minutes,
        actor: "scheduler",
        trace: None,
    }
}

async fn retention(fleet: &Fleet, rules: &Rules, tx: &mut Tx) -> Result<Value, Error> {
    let rules = &rules.privacy;
    let mut counts = tx.apply_retention(rules.warm_days, rules.archive_days).await?;
    let mut forgotten = 0;
    for (guest_id, guest) in tx.idle_guests(rules.phone_days).await? {
        let (id, now) = (fleet.ids.uuid(), fleet.clock.now());
        tx.request_deletion(id, &guest, guest_id, "retention", now, std::time::Duration::ZERO).await?;
        forgotten += 1;
    }
    counts["guests_due_for_deletion"] = json!(forgotten);
    counts["deletions_overdue"] = json!(overdue(tx).await?);
    if counts.as_object().is_some_and(|counts| counts.values().any(|n| n != &json!(0))) {
        let casino = tx.casino().to_string();
        tx.audit(&Entry::of(AuditEvent::RetentionApplied, "scheduler", &casino, counts.clone())).await?;
    }
    Ok(counts)
}

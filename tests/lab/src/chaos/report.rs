//! Prints the report of a run: the number of items examined, one line per promise, and whether the
//! run examined enough.

use std::{sync::atomic::Ordering, time::Duration};

use anyhow::Result;
use seven::out;
use seven_domain::CasinoId;
use seven_settings::Worker;

use super::{
    check::{Finding, in_flight},
    facts::Facts,
    ground::{Ground, casino_id},
    plan::Server,
    size::{CASINOS, WORKERS},
    strike::Struck,
    watch::Seen,
};

/// Minimum numbers for ten minutes of load; a shorter run needs a proportional share. `KILLS`:
/// kills of each kind of process. `STOPS`: STOPs that arrive before the guest's question is
/// answered.
const KILLS: f64 = 5.0;
const STOPS: f64 = 50.0;
/// Maximum number of violations that are printed per promise.
const SHOWN: usize = 10;

/// Verifies every consent chain of every casino.
pub(crate) async fn chains(ground: &Ground) -> Result<Finding> {
    let mut finding = Finding::new("every consent chain is whole", "chains");
    let fleet = &ground.stack.fleet;
    for n in 0..CASINOS {
        let casino: CasinoId = casino_id(n).parse()?;
        let mut tx = fleet.store.bind(&casino).await?;
        let guests = tx.chains(None).await?;
        for guest in &guests {
            let report = tx.verify_chain(guest, &fleet.keys).await?;
            finding.look((!report.valid).then(|| format!("{} at {casino}", guest.tag())));
        }
        tx.commit().await?;
    }
    Ok(finding)
}

/// Prints the report. Returns true when every promise held and enough was examined.
pub(crate) fn print(
    facts: &Facts,
    struck: &Struck,
    seen: &Seen,
    findings: &[Finding],
    span: Duration,
    settled: Option<Duration>,
) -> bool {
    let stops = facts.texts.iter().filter(|t| t.word == "STOP").count();
    let flying = in_flight(facts);
    let gave_up = facts
        .texts
        .iter()
        .filter(|t| t.acknowledged_at.is_none())
        .count();
    let calls: usize = facts.texts.iter().map(|t| t.calls).sum();
    out!("examined:");
    out!(
        "  {} texts in {calls} webhook calls ({gave_up} the carrier gave up on), {} sends",
        facts.texts.len(),
        facts.accepted.len()
    );
    out!("  {stops} STOPs, {flying} of them in flight");
    let kills: Vec<String> = struck
        .kills
        .iter()
        .map(|(kind, n)| format!("{kind} {n}"))
        .collect();
    out!("  kills: {}", kills.join(", "));
    out!(
        "  {} redeliveries sampled, {} connections over proxies, {} cuts, {} slow spells, {} \
         faults of the send API, {} pauses, {} workers that ended by themselves",
        seen.redeliveries.load(Ordering::Relaxed),
        seen.connections.load(Ordering::Relaxed),
        struck.cuts,
        struck.slowed,
        struck.spoiled,
        struck.pauses.len(),
        seen.ended_by_themselves.load(Ordering::Relaxed),
    );
    out!(
        "  texts in: {}",
        counted(
            facts
                .inbound
                .iter()
                .map(|r| with_reason(&r.disposition, r.reason.as_deref()))
        )
    );
    out!(
        "  texts out: {}",
        counted(
            facts
                .outbound
                .values()
                .map(|r| with_reason(&r.state, r.reason.as_deref()))
        )
    );
    for row in facts.outbound.values().filter(|row| row.state == "unknown") {
        out!("  unknown: {}", row.outbound_id);
    }
    for dead in &facts.dead {
        out!(
            "  dead letter of {}: {} ({})",
            dead.stage,
            dead.reason,
            dead.message_key
        );
    }
    let mut held = true;
    match settled {
        Some(took) => out!("ok      settled {:.1} s after the load", took.as_secs_f64()),
        None => {
            held = false;
            out!("BROKEN  not settled in time after the load");
        }
    }
    for finding in findings {
        let (n, what) = (finding.examined, finding.what);
        if finding.violations.is_empty() && n > 0 {
            out!("ok      {} ({n} {what})", finding.promise);
            continue;
        }
        held = false;
        // A check that examined nothing finds no violation, but it proves nothing.
        if finding.violations.is_empty() {
            out!("EMPTY   {} (no {what})", finding.promise);
            continue;
        }
        out!(
            "BROKEN  {} ({} of {n} {what})",
            finding.promise,
            finding.violations.len()
        );
        finding
            .violations
            .iter()
            .take(SHOWN)
            .for_each(|violation| out!("          {violation}"));
    }
    let floor = floors(struck, flying, span);
    floor.iter().for_each(|short| out!("SHORT   {short}"));
    held && floor.is_empty()
}

fn floors(struck: &Struck, stops_in_flight: usize, span: Duration) -> Vec<String> {
    let share = span.as_secs_f64() / 600.0;
    let owed = |per_ten: f64| (per_ten * share).ceil() as usize;
    let mut short = Vec::new();
    for kind in WORKERS
        .map(Worker::name)
        .into_iter()
        .chain(Server::ALL.map(Server::name))
    {
        let kills = struck.kills.get(kind).copied().unwrap_or_default();
        if kills < owed(KILLS) {
            short.push(format!(
                "{kind} was killed {kills} times; at least {}",
                owed(KILLS)
            ));
        }
    }
    if stops_in_flight < owed(STOPS) {
        short.push(format!(
            "{stops_in_flight} STOPs in flight; at least {}",
            owed(STOPS)
        ));
    }
    short
}

fn with_reason(state: &str, reason: Option<&str>) -> String {
    reason.map_or_else(|| state.to_owned(), |reason| format!("{state} ({reason})"))
}

fn counted(names: impl Iterator<Item = String>) -> String {
    let mut counts = std::collections::BTreeMap::new();
    names.for_each(|name| *counts.entry(name).or_insert(0_usize) += 1);
    counts
        .into_iter()
        .map(|(name, n)| format!("{name} {n}"))
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_little_is_a_failure() {
        let mut struck = Struck::default();
        for kind in WORKERS
            .map(Worker::name)
            .into_iter()
            .chain(Server::ALL.map(Server::name))
        {
            struck.kills.insert(kind, 5);
        }
        let ten = Duration::from_secs(600);
        assert!(floors(&struck, 50, ten).is_empty());
        assert_eq!(floors(&struck, 49, ten).len(), 1);
        struck.kills.insert("nats", 4);
        assert_eq!(floors(&struck, 50, ten).len(), 1);
        assert!(floors(&struck, 5, Duration::from_secs(60)).is_empty());
        assert_eq!(
            floors(&Struck::default(), 5, Duration::from_secs(60)).len(),
            11
        );
    }
}

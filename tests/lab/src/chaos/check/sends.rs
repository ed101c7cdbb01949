//! Checks the sends. Each text must be sent once, and none during a pause. Every text must reach a
//! final state.

use std::{collections::HashMap, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use seven_domain::TimeScale;
use seven_runtime::Timing;
use uuid::Uuid;

use super::Finding;
use crate::chaos::{facts::Facts, size::SCALE};

/// Checks that the carrier accepted each text once. A safety text in doubt may be sent once more
/// (D5).
pub(super) fn once(facts: &Facts) -> Finding {
    let mut finding = Finding::new(
        "no text was sent twice (a safety text in doubt: twice at most)",
        "texts sent",
    );
    let mut times: HashMap<Uuid, usize> = HashMap::new();
    for (sent, known) in facts.sends() {
        match known {
            Some((_, row)) => *times.entry(row.outbound_id).or_default() += 1,
            None if facts.forgotten.contains(&sent.to) => {}
            None => finding.look(Some(format!(
                "carrier message {} belongs to no attempt of ours",
                sent.id
            ))),
        }
    }
    for (id, times) in times {
        let safety = facts
            .outbound
            .get(&id)
            .is_some_and(|row| row.lane == "safety");
        finding.look(
            (times > if safety { 2 } else { 1 })
                .then(|| format!("outbound {id} was accepted {times} times")),
        );
    }
    finding
}

/// Checks that no guest gets the same words more often than the guest wrote texts. Safety texts are
/// left out.
pub(super) fn same_words_once(facts: &Facts) -> Finding {
    let mut finding = Finding::new("no guest reads one answer twice", "guests");
    let mut wrote: HashMap<&str, usize> = HashMap::new();
    for text in &facts.texts {
        *wrote.entry(&text.guest.1).or_default() += 1;
    }
    let mut read: HashMap<&str, HashMap<&str, usize>> = HashMap::new();
    for (sent, known) in facts.sends() {
        if known.is_some_and(|(_, row)| row.lane == "safety") {
            continue;
        }
        *read
            .entry(sent.to.as_str())
            .or_default()
            .entry(sent.text.as_deref().unwrap_or_default())
            .or_default() += 1;
    }
    for (guest, words) in read {
        let most = words.values().max().copied().unwrap_or_default();
        let asked = wrote.get(&guest).copied().unwrap_or_default();
        finding.look((most > asked).then(|| {
            format!("a guest wrote {asked} text(s) and read the same words {most} times")
        }));
    }
    finding
}

/// Checks that no call began while the casino was paused.
pub(super) fn windows(facts: &Facts) -> Finding {
    let mut finding = Finding::new("no send in a paused window", "sends");
    // `from` is read after the pause switch is committed, `to` before the switch is removed. Both
    // times and the attempts' start times come from the clock of one machine.
    for (_, known) in facts.sends() {
        let Some((attempt, row)) = known.filter(|(_, row)| row.lane != "safety") else {
            continue;
        };
        let hit = facts.paused.iter().any(|p| {
            p.casino == row.casino_id && attempt.started_at > p.from && attempt.started_at < p.to
        });
        finding.look(hit.then(|| {
            format!(
                "outbound {} was sent at {} in a pause",
                row.outbound_id, attempt.started_at
            )
        }));
    }
    finding
}

pub(super) fn settled(facts: &Facts) -> Finding {
    let mut finding = Finding::new(
        "every outbound text is in a final state, or unknown and listed",
        "texts",
    );
    for row in facts.outbound.values() {
        let open = matches!(row.state.as_str(), "queued" | "sending");
        finding.look(open.then(|| format!("outbound {} is {}", row.outbound_id, row.state)));
    }
    finding
}

/// Checks that the sweeps of an unprocessed row come at growing intervals (D3).
pub(super) fn sweeps_back_off(facts: &Facts) -> Finding {
    let mut finding = Finding::new("sweeps back off", "rows");
    let lived = |from: DateTime<Utc>, to: Option<DateTime<Utc>>| to.map(|to| to - from);
    // If a text was held for a person, its sweeps begin anew when it is released.
    let texts = facts.inbound.iter().map(|r| {
        let since_release = r.released_at.and_then(|at| lived(at, r.closed_at));
        let more = since_release.map_or(0, most_sweeps);
        (
            r.inbound_id,
            r.sweeps,
            more,
            lived(r.stored_at, r.closed_at),
        )
    });
    // If a text returns to the queue after a provider call, its sweeps begin anew, so one more
    // sweep is allowed. If the text was sent in the end, its last call did not put it back.
    let mut calls: HashMap<Uuid, i64> = HashMap::new();
    for attempt in facts.attempts.values() {
        *calls.entry(attempt.outbound_id).or_default() += 1;
    }
    let outbound = facts.outbound.values().map(|r| {
        let sent = !matches!(r.state.as_str(), "suppressed" | "expired");
        let calls = calls.get(&r.outbound_id).copied().unwrap_or_default();
        let queued_again = if sent { (calls - 1).max(0) } else { calls };
        let lived = lived(r.created_at, r.ended_at);
        (r.outbound_id, r.sweeps, queued_again, lived)
    });
    for (id, sweeps, more, lived) in texts.chain(outbound) {
        let Some(lived) = lived else { continue };
        finding.look(
            (sweeps > most_sweeps(lived) + more)
                .then(|| format!("row {id} was swept {sweeps} times in {lived}")),
        );
    }
    finding
}

/// Longest duration of a transaction that closes a row. A row's end time is the start of that
/// transaction, but the row may be swept until the transaction commits.
const LONGEST_TRANSACTION: TimeDelta = TimeDelta::seconds(5);

fn most_sweeps(lived: TimeDelta) -> i64 {
    let plan = Timing::new(TimeScale::new(SCALE)).sweep();
    let (mut at, mut wait, mut sweeps) = (Duration::ZERO, plan.base, 0);
    let lived = (lived + LONGEST_TRANSACTION).to_std().unwrap_or_default();
    while at + wait <= lived {
        at += wait;
        wait = (wait * 2).min(plan.longest);
        sweeps += 1;
    }
    sweeps
}

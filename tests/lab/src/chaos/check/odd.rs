//! Checks the odd guests:
//! - machines that answer our texts,
//! - floods of HELP,
//! - cries for help in a flood or a crowd,
//! - deletions that the guest cancels late,
//! - texts that come hours late,
//! - numbers that pass to another casino.

use std::collections::{HashMap, HashSet};

use super::Finding;
use crate::chaos::{
    facts::{Facts, OutboundRow, Texted},
    stale,
    visits::{Odd, Visit},
};

/// Maximum number of texts to one machine, or to one guest who floods us. They are:
/// - the answer to the first text,
/// - one safety text of each kind that the guest's words call for,
/// - one repeat of a safety text whose send was in doubt.
const MOST: usize = 5;

/// Maximum number of answers to a crowd's HELPs that may be sent while the answer to a cry waits:
/// half of a crowd. Senders already hold some of these answers when the cry arrives. If a sender is
/// killed while it holds the cry's answer, more are sent until redelivery.
const MOST_BEFORE_A_CRY: usize = 30;

fn of(facts: &Facts, wanted: impl Fn(Odd) -> bool) -> impl Iterator<Item = &Visit> {
    facts
        .odd
        .iter()
        .filter(move |visit| visit.odd.is_some_and(&wanted))
}

fn said<'a>(facts: &'a Facts, phone: &str, word: &str) -> Option<&'a Texted> {
    facts
        .texts
        .iter()
        .find(|text| text.guest.1 == phone && text.word == word)
}

pub(super) fn no_loops(facts: &Facts) -> Finding {
    let mut finding = Finding::new(
        "no machine and no flood is answered over and over",
        "machines and floods",
    );
    let mut got: HashMap<&str, usize> = HashMap::new();
    for sent in &facts.accepted {
        *got.entry(sent.to.as_str()).or_default() += 1;
    }
    for visit in of(facts, |odd| matches!(odd, Odd::Machine(_) | Odd::Flood)) {
        let texts = got.get(visit.phone.as_str()).copied().unwrap_or_default();
        finding.look((texts > MOST).then(|| format!("{texts} texts to one {:?}", visit.odd)));
    }
    finding
}

pub(super) fn cries_heard(facts: &Facts) -> Finding {
    let mut finding = Finding::new("every cry for help in a flood is answered", "cries");
    let cries: Vec<&str> = of(facts, |odd| odd == Odd::Cry)
        .map(|visit| visit.phone.as_str())
        .collect();
    for text in facts
        .texts
        .iter()
        .filter(|text| cries.contains(&text.guest.1.as_str()))
    {
        if text.acknowledged_at.is_some() {
            let sent = facts.accepted.iter().any(|sent| sent.to == text.guest.1);
            // A provider is called at most twice for an answer (D5). If both calls are in doubt,
            // the answer is listed as unknown, which is allowed.
            let listed = answer_of(facts, text).is_some_and(|row| {
                let calls = facts.attempts.values();
                let calls = calls.filter(|call| call.outbound_id == row.outbound_id);
                row.state == "unknown" && calls.count() == 2
            });
            finding.look((!sent && !listed).then(|| {
                format!(
                    "text {} cried for help and nothing was sent",
                    text.message_id
                )
            }));
        }
    }
    finding
}

fn answer_of<'f>(facts: &'f Facts, text: &Texted) -> Option<&'f OutboundRow> {
    let mut rows = facts.inbound.iter();
    let row = rows.find(|row| row.provider_message_id == text.message_id)?;
    facts.outbound.get(&row.disposition_ref?)
}

/// Checks that the answer to a cry for help does not wait behind a crowd's answers.
pub(super) fn gravest_first(facts: &Facts) -> Finding {
    let promise = "the answer to a cry for help does not wait behind a crowd of HELPs";
    let mut finding = Finding::new(promise, "cries");
    let phones = |kind| -> HashSet<&str> {
        of(facts, |odd| odd == kind)
            .map(|visit| visit.phone.as_str())
            .collect()
    };
    let (crowd, cries) = (phones(Odd::Crowd), phones(Odd::CryInCrowd));
    let mut answered = HashSet::new();
    for (sent, known) in facts.sends().filter(|(s, _)| cries.contains(s.to.as_str())) {
        let Some((_, row)) = known.filter(|_| answered.insert(&sent.to)) else {
            continue;
        };
        let waited = row.created_at..sent.accepted_at;
        let before = facts
            .accepted
            .iter()
            .filter(|other| crowd.contains(other.to.as_str()))
            .filter(|other| waited.contains(&other.accepted_at))
            .count();
        finding.look((before > MOST_BEFORE_A_CRY).then(|| {
            let id = row.outbound_id;
            format!("outbound {id} waited while {before} answers to a crowd left")
        }));
    }
    finding
}

/// Checks texts that reached the gates hours after ingress received them. They must be closed as
/// too old, and nothing may be sent to their guests.
pub(super) fn stale_closed(facts: &Facts) -> Finding {
    let promise = "a text that comes hours late is closed, not answered";
    let mut finding = Finding::new(promise, "texts");
    for visit in of(facts, |odd| odd == Odd::Stale) {
        let sent = facts.accepted.iter().any(|sent| sent.to == visit.phone);
        for n in 0..visit.script.len() {
            let id = stale::message_id(&visit.phone, n);
            let row = facts
                .inbound
                .iter()
                .find(|row| row.provider_message_id == id);
            let closed = row.is_some_and(|row| row.reason.as_deref() == Some("stale"));
            finding.look((sent || !closed).then(|| match row {
                None => "an old text is nowhere".to_owned(),
                Some(row) => format!("inbound {} is {}", row.inbound_id, row.disposition),
            }));
        }
    }
    finding
}

/// Checks that a KEEP cancels the deletion of its guest, if ingress acknowledged the KEEP before
/// the deletion was due.
pub(super) fn kept(facts: &Facts) -> Finding {
    let mut finding = Finding::new(
        "a KEEP before the deletion was due takes it back",
        "deletions",
    );
    for (phone, deletion) in &facts.deletions {
        let Some(at) = said(facts, phone, "KEEP").and_then(|keep| keep.acknowledged_at) else {
            continue;
        };
        if at < deletion.due_at {
            let state = &deletion.state;
            finding.look(
                (state != "withdrawn").then(|| format!("taken back at {at}, and it is {state}")),
            );
        }
    }
    finding
}

/// Checks STOPs to a number that was reassigned to another casino (D40). If the guest wrote to the
/// number's former casino before, the STOP must reach that casino, too.
pub(super) fn stops_reach_the_former(facts: &Facts) -> Finding {
    let mut finding = Finding::new(
        "a STOP to a number that was handed on reaches its former casino",
        "STOPs",
    );
    let Some(handed_on) = facts.handed_on else {
        return finding;
    };
    for visit in of(facts, |odd| odd == Odd::HandedOn) {
        let first = facts
            .texts
            .iter()
            .find(|text| text.guest.1 == visit.phone)
            .and_then(|text| text.acknowledged_at);
        let spoke = first.is_some_and(|at| at < handed_on);
        let late = said(facts, &visit.phone, "STOP").filter(|stop| stop.acknowledged_at.is_some());
        if spoke && late.is_some_and(|stop| stop.told_at > handed_on) {
            let reached = facts.stopped_at_former.contains(&visit.phone);
            finding.look((!reached).then(|| "a guest is with the former casino still".to_owned()));
        }
    }
    finding
}

//! Checks that every text is answered, closed with a reason, or parked as a dead letter.

use std::collections::{HashMap, HashSet};

use uuid::Uuid;

use super::Finding;
use crate::chaos::facts::{Facts, InboundRow, OutboundRow};

/// Checks that every text whose webhook was answered 2xx is stored. The text must also be answered,
/// closed, parked, or held while a ticket waits for a person. Every message of a visitor must end
/// in one of these ways, too.
pub(super) fn disposed(facts: &Facts) -> Finding {
    let mut finding = Finding::new("every acknowledged message has a disposition", "messages");
    let stored: HashMap<&str, &InboundRow> = facts
        .inbound
        .iter()
        .map(|row| (row.provider_message_id.as_str(), row))
        .collect();
    let dead: HashSet<&str> = facts.dead.iter().map(|d| d.message_key.as_str()).collect();
    for text in facts.texts.iter().filter(|t| t.acknowledged_at.is_some()) {
        let id = text.message_id.as_str();
        if facts.forgotten.contains(&text.guest.1) {
            continue;
        }
        finding.look(match stored.get(id) {
            Some(row) => undisposed(facts, row),
            None if dead.contains(id) => None,
            None => Some(format!("text {id} was acknowledged and is nowhere")),
        });
    }
    let on_web: HashSet<Uuid> = facts.browsed.iter().filter_map(|(_, id)| *id).collect();
    let on_web = facts
        .inbound
        .iter()
        .filter(|row| on_web.contains(&row.conversation_id));
    on_web.for_each(|row| finding.look(undisposed(facts, row)));
    finding
}

fn undisposed(facts: &Facts, row: &InboundRow) -> Option<String> {
    let id = row.inbound_id;
    match row.disposition.as_str() {
        "answered" | "canned" => None,
        "held" if facts.waiting.contains(&row.conversation_id) => None,
        "closed" if row.reason.is_some() => None,
        "parked" if !facts.dead.is_empty() => None,
        other => Some(format!("inbound {id} is {other} (reason {:?})", row.reason)),
    }
}

/// Checks that the reply to every text marked as answered was accepted by the carrier, or ended
/// with a reason.
pub(super) fn answered(facts: &Facts) -> Finding {
    let mut finding = Finding::new(
        "every answered text has its answer, or the reason why it was not sent",
        "texts",
    );
    let sent = facts.sent();
    let mut of_turn: HashMap<Uuid, Vec<&OutboundRow>> = HashMap::new();
    let mut of_text: HashMap<Uuid, Vec<&OutboundRow>> = HashMap::new();
    for row in facts.outbound.values() {
        row.turn_id
            .into_iter()
            .for_each(|turn| of_turn.entry(turn).or_default().push(row));
        row.inbound_id
            .into_iter()
            .for_each(|text| of_text.entry(text).or_default().push(row));
    }
    let ended = |rows: Option<&Vec<&OutboundRow>>| {
        rows.is_some_and(|rows| {
            rows.iter().all(|o| {
                let went = matches!(o.state.as_str(), "sent" | "delivered" | "undelivered");
                if went {
                    sent.contains(&o.outbound_id) || o.web_seq.is_some()
                } else {
                    o.state == "unknown" || o.reason.is_some()
                }
            })
        })
    };
    for row in &facts.inbound {
        let id = row.inbound_id;
        match row.disposition.as_str() {
            "answered" => {
                let turn = row.disposition_ref.and_then(|turn| facts.turns.get(&turn));
                finding.look(match turn {
                    None => Some(format!("inbound {id} is answered by no turn")),
                    Some(turn) if turn.state != "shaped" => (turn.state == "drafted"
                        || turn.reason.is_none())
                    .then(|| format!("turn {} is {}", turn.turn_id, turn.state)),
                    Some(turn) => (!ended(of_turn.get(&turn.turn_id)))
                        .then(|| format!("turn {} has no text that ended", turn.turn_id)),
                });
            }
            "canned" => {
                // If a person answered, `disposition_ref` names the person's text. One such text
                // answers everything that the guest wrote during the takeover.
                let persons = row
                    .disposition_ref
                    .and_then(|answer| Some(vec![facts.outbound.get(&answer)?]));
                let answer = of_text.get(&id).or(persons.as_ref());
                finding.look(
                    (!ended(answer))
                        .then(|| format!("inbound {id} is canned and has no text that ended")),
                );
            }
            _ => {}
        }
    }
    finding
}

/// Checks that each stored turn answers at least one text. None of its texts may have arrived later
/// than the newest text that the turn read. If a STOP overtakes a turn, the turn must not be
/// stored.
pub(super) fn read_by_its_turn(facts: &Facts) -> Finding {
    let mut finding = Finding::new(
        "every turn read the texts it answers, and answers some",
        "turns and texts",
    );
    let mut answering = HashSet::new();
    for row in facts
        .inbound
        .iter()
        .filter(|row| row.disposition == "answered")
    {
        let Some(turn) = row.disposition_ref.and_then(|turn| facts.turns.get(&turn)) else {
            continue;
        };
        answering.insert(turn.turn_id);
        finding.look((row.received_at > turn.newest_text_at).then(|| {
            format!(
                "inbound {} came after turn {} had read",
                row.inbound_id, turn.turn_id
            )
        }));
    }
    for turn in facts.turns.keys() {
        finding.look((!answering.contains(turn)).then(|| format!("turn {turn} answers no text")));
    }
    finding
}

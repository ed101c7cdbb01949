//! Checks the visitors of the websites (D33). A visitor must read each message of the fleet once
//! and whole, even if gateways die. A visitor's message must be stored once, even if it was sent
//! repeatedly.

use std::collections::HashMap;

use uuid::Uuid;

use super::Finding;
use crate::chaos::facts::{Facts, OutboundRow};

/// Checks that every message that a gateway accepted is stored. Repeated calls must not store it
/// again.
pub(super) fn stored_once(facts: &Facts) -> Finding {
    let mut finding = Finding::new(
        "a visitor's message that a gateway took is stored once",
        "visits",
    );
    let mut stored: HashMap<Uuid, usize> = HashMap::new();
    for row in &facts.inbound {
        *stored.entry(row.conversation_id).or_default() += 1;
    }
    for (visit, conversation) in &facts.browsed {
        let rows = conversation.and_then(|id| stored.get(&id).copied());
        let (rows, taken) = (rows.unwrap_or_default(), visit.taken.len());
        let shown = conversation.unwrap_or_default();
        finding.look((rows < taken || rows > visit.posted).then(|| {
            format!(
                "conversation {shown}: {} messages were sent, {taken} taken and {rows} stored",
                visit.posted
            )
        }));
        finding.violations.extend(
            visit
                .refused
                .iter()
                .map(|status| format!("conversation {shown}: a gateway answered {status}")),
        );
    }
    finding
}

/// Checks that the texts on a visitor's screen are the delivered messages, character for character.
pub(super) fn read_once(facts: &Facts) -> Finding {
    let mut finding = Finding::new(
        "a visitor reads each message once, whole and in order",
        "messages",
    );
    let mut delivered: HashMap<Uuid, Vec<&OutboundRow>> = HashMap::new();
    for row in facts.outbound.values().filter(|row| row.web_seq.is_some()) {
        delivered.entry(row.conversation_id).or_default().push(row);
    }
    for (visit, conversation) in &facts.browsed {
        let rows = conversation.and_then(|id| delivered.remove(&id));
        let rows = rows.unwrap_or_default();
        for row in &rows {
            let seq = row.web_seq.unwrap_or_default();
            let read = visit.read.messages.get(&seq);
            let after = visit.left_at.is_some_and(|left| row.sent_at > Some(left));
            let fault = match read {
                None if after => None,
                None => Some("was not read"),
                Some((text, _)) if Some(text) != row.web_body.as_ref() => {
                    Some("was read in part or more than once")
                }
                Some((_, sources)) if *sources > 1 => Some("told its sources more than once"),
                Some(_) => None,
            };
            let id = row.outbound_id;
            finding.look(fault.map(|fault| format!("outbound {id} (number {seq}) {fault}")));
        }
        let shown = conversation.unwrap_or_default();
        let others = visit.read.messages.len().saturating_sub(rows.len());
        if others > 0 || visit.read.disordered > 0 {
            finding.violations.push(format!(
                "conversation {shown}: {others} messages that are not there, {} frames out of order",
                visit.read.disordered
            ));
        }
    }
    let strangers = delivered.len();
    if strangers > 0 {
        let lost = format!("{strangers} conversations on the web have no visitor");
        finding.violations.push(lost);
    }
    finding
}

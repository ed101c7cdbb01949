//! Checks conversations that a person took over (D4, D14).

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::Finding;
use crate::chaos::facts::{Facts, OutboundRow};

/// Returns each message that went out, with a time. For a text this is the start of our call of the
/// provider, for a message of the web its delivery.
fn went(facts: &Facts) -> impl Iterator<Item = (DateTime<Utc>, &OutboundRow)> {
    let sent = facts.sends().filter_map(|(_, known)| {
        let (attempt, row) = known?;
        Some((attempt.started_at, row))
    });
    let on_web = facts.outbound.values().filter(|row| row.web_seq.is_some());
    sent.chain(on_web.filter_map(|row| Some((row.sent_at?, row))))
}

/// Checks that the host sends nothing while a person has the conversation. A call that began before
/// the takeover is no violation, even if the carrier accepted it later.
pub(super) fn silent(facts: &Facts) -> Finding {
    let mut finding = Finding::new(
        "no text of the host while a person has the conversation",
        "takeovers",
    );
    let mut by_conversation: HashMap<Uuid, Vec<(DateTime<Utc>, &OutboundRow)>> = HashMap::new();
    for (at, row) in went(facts).filter(|(_, row)| row.turn_id.is_some()) {
        let texts = by_conversation.entry(row.conversation_id).or_default();
        texts.push((at, row));
    }
    for held in &facts.held {
        let texts = by_conversation.get(&held.conversation);
        let broken = texts.and_then(|texts| {
            let inside = |(at, _): &&(DateTime<Utc>, _)| *at > held.from && *at < held.to;
            texts.iter().find(inside)
        });
        finding.look(broken.map(|(at, row)| {
            format!(
                "outbound {} went at {at}, after the takeover",
                row.outbound_id
            )
        }));
    }
    finding
}

/// Checks that every text of a person is sent, or ends with a reason.
pub(super) fn heard(facts: &Facts) -> Finding {
    let mut finding = Finding::new("what a person writes reaches the guest", "texts");
    let sent = facts.sent();
    let held: Vec<Uuid> = facts.held.iter().map(|held| held.conversation).collect();
    let persons = facts
        .outbound
        .values()
        .filter(|row| row.kind == "person" && held.contains(&row.conversation_id));
    for row in persons {
        let reached = sent.contains(&row.outbound_id) || row.web_seq.is_some();
        let id = row.outbound_id;
        finding.look((!reached && row.reason.is_none()).then(|| format!("outbound {id} is lost")));
    }
    finding
}

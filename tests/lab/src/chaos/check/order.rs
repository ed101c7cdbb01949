//! Checks that a guest gets texts in the order in which they were written. Only safety texts may
//! overtake others.

use std::collections::{HashMap, HashSet};

use super::Finding;
use crate::chaos::facts::Facts;

pub(super) fn kept(facts: &Facts) -> Finding {
    let mut finding = Finding::new("per-guest order is kept", "sends");
    let mut sends: Vec<_> = facts
        .sends()
        .filter_map(|(sent, known)| Some((sent.accepted_at, known?.1)))
        .collect();
    // Messages on the web are sorted by their numbers, which give the order of delivery.
    let on_web = facts.outbound.values().filter(|row| row.web_seq.is_some());
    sends.extend(on_web.filter_map(|row| Some((row.sent_at?, row))));
    sends.sort_by_key(|(at, row)| (row.web_seq, *at));
    let mut newest: HashMap<_, i64> = HashMap::new();
    let mut seen = HashSet::new();
    // If a text was sent twice, only its first send is looked at here. `sends::once` checks how
    // often a text was sent.
    for (at, row) in sends.into_iter().filter(|(_, row)| row.lane != "safety") {
        if !seen.insert(row.outbound_id) {
            continue;
        }
        let last = newest.entry(row.conversation_id).or_insert(row.seq);
        finding.look((row.seq < *last).then(|| {
            format!(
                "outbound {} (seq {}) went at {at} after seq {last}",
                row.outbound_id, row.seq
            )
        }));
        *last = row.seq.max(*last);
    }
    finding
}

//! The states of an outbound text as data (D5): every allowed transition, and the effect of
//! receipts. The database refuses any other transition; migration 0015 has the same list of
//! transitions.

use crate::OutboundState::{
    self, Delivered, Expired, Failed, Queued, Sending, Sent, Suppressed, Undelivered, Unknown,
};

/// Every allowed transition with its cause: (from, to, why).
pub const TRANSITIONS: &[(OutboundState, OutboundState, &str)] = &[
    (Queued, Sending, "the last look let it pass"),
    (
        Queued,
        Suppressed,
        "STOP, a switch, a failed earlier part or the last look forbids it",
    ),
    (Queued, Expired, "of no use any more"),
    (
        Queued,
        Sent,
        "a receipt of an earlier attempt that was in doubt",
    ),
    (
        Queued,
        Delivered,
        "a receipt of an earlier attempt that was in doubt",
    ),
    (
        Queued,
        Failed,
        "a receipt of an earlier attempt that was in doubt",
    ),
    (
        Queued,
        Undelivered,
        "a receipt of an earlier attempt that was in doubt",
    ),
    (Sending, Sent, "the provider took it"),
    (
        Sending,
        Queued,
        "it certainly did not arrive, or a safety text in doubt goes out once more",
    ),
    (Sending, Failed, "refused for good"),
    (
        Sending,
        Unknown,
        "in doubt, and no webhook within the grace",
    ),
    (Sending, Delivered, "its receipt was faster than the answer"),
    (
        Sending,
        Undelivered,
        "its receipt was faster than the answer",
    ),
    (Unknown, Sent, "a late receipt, or the provider's record"),
    (
        Unknown,
        Delivered,
        "a late receipt, or the provider's record",
    ),
    (
        Unknown,
        Failed,
        "a late receipt, or the provider never had it and it is of no use any more",
    ),
    (
        Unknown,
        Undelivered,
        "a late receipt, or the provider's record",
    ),
    (
        Unknown,
        Queued,
        "the provider never had it, and an operator sends it again",
    ),
    (Sent, Delivered, "its receipt"),
    (Sent, Failed, "its receipt"),
    (Sent, Undelivered, "its receipt"),
    (Failed, Delivered, "the last word corrects a failure"),
    (Failed, Queued, "its dead letter is replayed"),
    (Undelivered, Delivered, "the last word corrects a failure"),
];

/// Returns whether a text may change from one state to another.
pub fn may_move(from: OutboundState, to: OutboundState) -> bool {
    TRANSITIONS.iter().any(|(a, b, _)| (*a, *b) == (from, to))
}

/// Returns the state to which a receipt moves a text; `None` if the receipt does not change the
/// state. `status` is the provider's term.
pub fn by_receipt(from: OutboundState, status: &str) -> Option<OutboundState> {
    let to = match status {
        "queued" | "sending" | "sent" | "delivery_unconfirmed" => Sent,
        "delivered" => Delivered,
        "sending_failed" | "failed" | "expired" | "gw_timeout" => Failed,
        "delivery_failed" | "dlr_timeout" => Undelivered,
        _ => return None,
    };
    // A receipt never moves a text back to the queue, and `delivered` is final.
    (from != to && may_move(from, to)).then_some(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SMS-43
    fn late_and_repeated_receipts_change_nothing() {
        let table = [
            (Sending, "sent", Some(Sent)),
            (Sending, "delivered", Some(Delivered)),
            (Sent, "sent", None),
            (Sent, "delivered", Some(Delivered)),
            (Sent, "delivery_failed", Some(Undelivered)),
            (Delivered, "sent", None),
            (Delivered, "delivery_failed", None),
            (Undelivered, "delivered", Some(Delivered)),
            (Undelivered, "sending_failed", None),
            (Failed, "sent", None),
            (Unknown, "delivered", Some(Delivered)),
            (Queued, "sent", Some(Sent)),
            (Suppressed, "delivered", None),
            (Expired, "delivered", None),
            (Sending, "delivery_unconfirmed", Some(Sent)),
            (Sending, "a word of next year", None),
        ];
        for (from, status, to) in table {
            assert_eq!(by_receipt(from, status), to, "{from} + {status}");
        }
    }

    #[test] // D5
    fn every_state_is_reached_and_the_last_word_is_the_last() {
        for state in OutboundState::ALL.iter().filter(|state| **state != Queued) {
            assert!(TRANSITIONS.iter().any(|(_, to, _)| to == state), "{state}");
        }
        for end in [Delivered, Suppressed, Expired] {
            assert!(
                TRANSITIONS.iter().all(|(from, ..)| *from != end),
                "{end} ends"
            );
        }
        let mut moves: Vec<_> = TRANSITIONS.iter().map(|(from, to, _)| (from, to)).collect();
        moves.sort_unstable();
        moves.dedup();
        assert_eq!(moves.len(), TRANSITIONS.len(), "each move once");
    }
}

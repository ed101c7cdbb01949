//! Outcomes of texts, per casino.

use prometheus::IntCounterVec;

use super::{TimedVec, define::SLOW};

instruments! {
    /// Metrics about texts. The finest labels are casino and provider; no label identifies a guest.
    Texts {
        replies: TimedVec = "seven_reply_seconds",
            "Seconds from the webhook of a guest's newest text to the provider's request; part `whole`, or `processing` without quiet window and typing delay",
        ["casino", "part"], SLOW;
        segments: IntCounterVec = "seven_segments_total", "Segments accepted by a provider",
            ["casino", "class"];
        outcomes: IntCounterVec = "seven_deliveries_total",
            "Texts by delivery receipt (sent, delivered, failed, undelivered)",
            ["casino", "provider", "status"];
    }
}

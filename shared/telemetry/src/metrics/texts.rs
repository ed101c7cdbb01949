//! Outcomes of texts, per casino.

use prometheus::IntCounterVec;

use super::{TimedVec, define::SLOW};

instruments! {
    /// The finest labels are the casino and the provider.
    Texts {
        replies: TimedVec = "seven_reply_seconds", "Seconds from the guest's newest text at our webhook to the provider's request; part whole, or processing: without the quiet window and the typing delay (PROD-44, C-20)", ["casino", "part"], SLOW;
        segments: IntCounterVec = "seven_segments_total", "Segments that a provider took (OBS-13)", ["casino", "class"];
        outcomes: IntCounterVec = "seven_deliveries_total", "Texts by what receipts say of them (sent, delivered, failed, undelivered)", ["casino", "provider", "status"];
    }
}

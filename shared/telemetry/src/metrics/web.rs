//! Metrics of the gateway for guests of the casinos' websites.

use prometheus::{IntCounterVec, IntGauge};

instruments! {
    Web {
        calls: IntCounterVec = "seven_web_calls_total",
            "Calls of guests' browsers by route, HTTP status and problem (`none` where there is none)",
            ["route", "status", "problem"];
        sessions: IntCounterVec = "seven_web_sessions_total", "Sessions that began", ["casino"];
        messages: IntCounterVec = "seven_web_messages_total",
            "Messages of guests that were made durable, by where (bus, spool)", ["casino", "by"];
        streams: IntGauge = "seven_web_streams", "Streams that are open", [];
    }
}

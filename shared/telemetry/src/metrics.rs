//! Defines all metrics of the fleet; no other code may define any. Each process exports its own
//! values. The rules in `deploy/observe` add them up for each casino.

#[macro_use]
mod define;
mod bounded;
mod content;
mod fleet;
mod guests;
mod openmetrics;
mod process;
mod texts;
mod timed;
mod web;

use std::sync::OnceLock;

use prometheus::{Encoder, IntCounter, IntCounterVec, IntGaugeVec, Registry, TextEncoder};

use self::define::{FAST, SECONDS, SLOW};
pub use self::{
    bounded::code,
    content::Content,
    define::{Definition, LABELS},
    fleet::Figures,
    guests::Guests,
    process::Process,
    texts::Texts,
    timed::{Timed, TimedVec},
    web::Web,
};

instruments! {
    /// Labels are stages, outcomes, reasons and casinos, never a guest, a conversation or a text.
    Metrics {
        webhooks: IntCounterVec = "seven_webhooks_total",
            "Webhook answers by HTTP status and reason", ["status", "reason"];
        connections_displaced: IntCounter = "seven_connections_displaced_total",
            "Connections without a call that gave way to newer ones", [];
        connections_refused: IntCounter = "seven_connections_refused_total",
            "Connections closed at once because all were in use", [];
        messages: IntCounterVec = "seven_messages_total",
            "Messages handled by stage and outcome (done, retry, wait, unavailable, park)",
            ["stage", "outcome", "casino"];
        handling: TimedVec = "seven_handling_seconds",
            "Seconds from a message's delivery to its outcome", ["stage"], FAST;
        duplicates: IntCounterVec = "seven_duplicates_total", "Duplicates that ended early",
            ["stage"];
        inbound: IntCounterVec = "seven_inbound_total",
            "Texts of guests by verdict and what became of them", ["casino", "verdict", "reason"];
        presend_check: IntCounterVec = "seven_presend_check_total",
            "Decisions of the pre-send check by class and reason (sent when it passed)",
            ["casino", "class", "reason"];
        sends: IntCounterVec = "seven_sends_total", "Calls of providers by outcome and error code",
            ["casino", "provider", "outcome", "error_code"];
        failovers: IntCounterVec = "seven_failovers_total",
            "Texts that took another provider than their first", ["to"];
        alerts: IntCounterVec = "seven_alerts_total", "Alerts raised", ["alert", "provider"];
        alerts_dropped: IntCounter = "seven_alerts_dropped_total",
            "Alerts that found no room in memory while the database was away; the log has them", [];
        notices: IntCounterVec = "seven_notices_total",
            "Notices of alerts by channel and outcome (told, later, given_up)",
            ["channel", "outcome"];
        receipts: IntCounterVec = "seven_receipts_total",
            "Receipts by outcome (moved, no_change, stranger)", ["outcome"];
        swept: IntCounterVec = "seven_swept_total",
            "Rows that a scheduler signalled again, by stage or duty", ["what"];
        rounds: TimedVec = "seven_round_seconds",
            "Seconds of a round of one of the scheduler's duties, done or failed",
            ["duty", "outcome"], SLOW;
        repairs: IntCounterVec = "seven_repairs_total",
            "Streams, consumers, buckets, letters and due rows put back", ["what"];
        dead: IntCounterVec = "seven_dead_letters_total", "Messages that died",
            ["stage", "casino", "reason"];
        dead_open: IntGaugeVec = "seven_dead_letters_open", "Dead letters that wait for a person",
            ["stage", "casino", "reason"];
        guardrails: IntCounterVec = "seven_guardrail_hits_total",
            "Guardrail patterns that hit (SEC-154)", ["layer", "pattern", "language"];
        incidents: IntCounterVec = "seven_incidents_total",
            "Incidents that the fleet found and contained, by kind", ["casino", "kind"];
        escalations: IntCounterVec = "seven_escalations_total",
            "Cases opened for a person (SEC-153)", ["casino", "severity", "reason"];
        stop_duplicates: IntCounter = "seven_stop_duplicates_total",
            "STOPs of guests who were opted out (SEC-150)", [];
        stop_cancelled: IntCounter = "seven_stop_cancelled_total",
            "Queued and deferred texts that a STOP cancelled (SEC-150)", [];
        stop_failures: IntCounterVec = "seven_stop_failures_total",
            "STOPs whose effect could not be written at once and are written when they come again (SEC-150)",
            ["casino", "effect"];
        second_readings: TimedVec = "seven_second_reading_seconds",
            "Seconds in which a suspicious text was read a second time (D20)", [], FAST;
        stop_seconds: TimedVec = "seven_stop_processing_seconds",
            "Seconds from a STOP's receipt to its effect: the suppression, the consent entry (SEC-150)",
            ["effect"], FAST;
        pace_waits: TimedVec = "seven_pace_wait_seconds",
            "Seconds that a limit of sending held texts back: number, campaign, casino, account, fleet",
            ["level"], SECONDS;
        deferred: IntCounterVec = "seven_deferred_total",
            "Proactive texts put off to the next window", ["class"];
        model_calls: IntCounterVec = "seven_model_calls_total",
            "Calls of models by kind (chat, embedding) and outcome (ok or the kind of error)",
            ["model", "kind", "outcome"];
        model_seconds: TimedVec = "seven_model_seconds",
            "Seconds of a model's call, retries included", ["model"], SLOW;
        model_tokens: IntCounterVec = "seven_model_tokens_total", "Tokens billed",
            ["model", "direction"];
        model_cost: IntCounterVec = "seven_model_cost_nano_usd_total",
            "Billionths of a dollar that models cost", ["model"];
        model_retries: IntCounterVec = "seven_model_retries_total",
            "Calls of models repeated, by kind of error", ["model", "error"];
        breakers: IntCounterVec = "seven_breaker_transitions_total", "Breakers that moved",
            ["name", "to"];
        turns: IntCounterVec = "seven_turns_total",
            "Turns by agent and ending (reply, greeting, off_topic, fallback, degraded)",
            ["casino", "agent", "ending"];
        findings: IntCounterVec = "seven_findings_total",
            "Rules that a draft broke, and whether it was sent all the same", ["rule", "sent"];
        cache_fallbacks: IntCounterVec = "seven_cache_fallbacks_total",
            "Redis calls answered locally", ["what"];
        spans_dropped: IntCounterVec = "seven_spans_dropped_total",
            "Spans that were not exported, by reason (full, export)", ["reason"];
        waiting: IntGaugeVec = "seven_stage_waiting", "1 while a stage waits for a dependency",
            ["stage"];
    }
    parts {
        /// Outcomes of texts, per casino.
        texts: Texts,
        /// Changes of casinos' content.
        content: Content,
        /// Activity of guests and of the host, per casino.
        guests: Guests,
        /// The state of the fleet, read by a scheduler.
        fleet: Figures,
        /// Guests of the casinos' websites.
        web: Web,
        /// CPU, memory and version of this process.
        process: Process,
    }
}

/// Returns the metrics of this process.
pub fn metrics() -> &'static Metrics {
    &made().1
}

fn made() -> &'static (Registry, Metrics) {
    static MADE: OnceLock<(Registry, Metrics)> = OnceLock::new();
    MADE.get_or_init(|| {
        let registry = Registry::new();
        let metrics = Metrics::new(&registry);
        (registry, metrics)
    })
}

/// Returns all metrics in Prometheus text format. Reads the CPU and memory of the process first.
pub fn render() -> String {
    metrics().process.read();
    let mut text = Vec::new();
    if let Err(error) = TextEncoder::new().encode(&made().0.gather(), &mut text) {
        tracing::warn!(%error, "encoding metrics");
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Returns all metrics as `OpenMetrics` 1.0 text. Buckets of durations carry an exemplar there: the
/// id of a trace with such a duration.
pub fn render_open() -> String {
    metrics().process.read();
    openmetrics::encode(&made().0.gather(), timed::exemplars_of)
}

/// Returns every metric with its labels; dashboards and rules may use only these.
pub fn definitions() -> Vec<Definition> {
    let parts = [
        Texts::DEFINITIONS,
        Content::DEFINITIONS,
        Guests::DEFINITIONS,
        Figures::DEFINITIONS,
        Process::DEFINITIONS,
        Web::DEFINITIONS,
    ];
    Metrics::DEFINITIONS
        .iter()
        .chain(parts.into_iter().flatten())
        .copied()
        .collect()
}

#[cfg(test)]
mod tests;

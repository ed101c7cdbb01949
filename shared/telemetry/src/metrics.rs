//! The fleet's instruments. Raw metric macros are not used anywhere: a counter that is not here does not exist.

use std::sync::OnceLock;

use prometheus::{
    Encoder, HistogramVec, IntCounter, IntCounterVec, IntGaugeVec, Registry, TextEncoder, histogram_opts, opts,
};

/// Labels are stages, outcomes, reasons and casinos: never a guest.
#[derive(Debug, Clone)]
pub struct Metrics {
    registry: Registry,
    /// Webhook answers by HTTP status and reason.
    pub webhooks: IntCounterVec,
    /// Messages handled by stage and outcome (done, retry, wait, unavailable, park, undecodable, panicked).
    pub messages: IntCounterVec,
    /// Seconds from delivery to outcome, by stage.
    pub handling: HistogramVec,
    /// Duplicates that ended early, by stage.
    pub duplicates: IntCounterVec,
    /// Texts in, by verdict and disposition reason.
    pub inbound: IntCounterVec,
    /// Texts refused or sent at the last look, by class and reason (`sent` when it passed).
    pub last_look: IntCounterVec,
    /// Provider calls by outcome and error code.
    pub sends: IntCounterVec,
    /// Texts that took another provider than their first, by provider.
    pub failovers: IntCounterVec,
    /// Alerts raised, by name and provider.
    pub alerts: IntCounterVec,
    /// Alerts that found no room in memory while the database was away; the log has them.
    pub alerts_dropped: IntCounter,
    /// What channels answered, by channel and outcome (told, later, given_up).
    pub notices: IntCounterVec,
    /// Receipts by outcome (moved, no_change, stranger).
    pub receipts: IntCounterVec,
    /// Rows a scheduler signalled again, by stage or kind.
    pub swept: IntCounterVec,
    /// Repairs of streams, consumers and the bucket, by what.
    pub repairs: IntCounterVec,
    /// Messages that died, by stage, casino and reason.
    pub dead: IntCounterVec,
    /// Dead letters that wait for a person, by stage, casino and reason.
    pub dead_open: IntGaugeVec,
    /// Guardrail patterns that hit, by layer and pattern (SEC-154).
    pub guardrails: IntCounterVec,
    /// Cases opened for a person, by severity and reason.
    pub escalations: IntCounterVec,
    /// STOPs of guests who were opted out (SEC-150).
    pub stop_duplicates: IntCounter,
    /// Queued and deferred texts that a STOP cancelled.
    pub stop_cancelled: IntCounter,
    /// Seconds from a STOP's receipt to the suppression, and to the consent entry.
    pub stop_seconds: HistogramVec,
    /// By the limit that held a text back: number, campaign, casino, account, fleet.
    pub pace_waits: HistogramVec,
    /// Proactive texts put off to the next window, by class.
    pub deferred: IntCounterVec,
    /// Calls of models by model and outcome (`ok` or the kind of error).
    pub model_calls: IntCounterVec,
    /// Seconds of a call, retries included, by model.
    pub model_seconds: HistogramVec,
    /// Tokens billed, by model and direction.
    pub model_tokens: IntCounterVec,
    /// Billionths of a dollar, by model.
    pub model_cost: IntCounterVec,
    pub model_retries: IntCounterVec,
    /// Breakers that moved, by name and new state.
    pub breakers: IntCounterVec,
    /// Turns by agent and ending (reply, greeting, off_topic, fallback, degraded).
    pub turns: IntCounterVec,
    /// Rules that a draft broke, by rule and whether it was sent all the same.
    pub findings: IntCounterVec,
    /// Redis calls that fell back to a local answer, by what.
    pub cache_fallbacks: IntCounterVec,
    /// 1 while a stage waits for a dependency.
    pub waiting: IntGaugeVec,
    /// Spans that were not exported, by reason (full, export).
    pub spans_dropped: IntCounterVec,
}

impl Metrics {
    fn new() -> Self {
        let registry = Registry::new();
        let counter = |name: &str, help: &str, labels: &[&str]| {
            let vec = IntCounterVec::new(opts!(name, help), labels)
                .expect("metric names and labels are constants that prometheus accepts");
            registry.register(Box::new(vec.clone())).expect("each metric is registered once");
            vec
        };
        let histogram = |name: &str, help: &str, label: &str, seconds: &[f64]| {
            let vec = HistogramVec::new(histogram_opts!(name, help, seconds.to_vec()), &[label])
                .expect("metric names and labels are constants that prometheus accepts");
            registry.register(Box::new(vec.clone())).expect("each metric is registered once");
            vec
        };
        let messages = counter("seven_messages_total", "Messages handled", &["stage", "outcome"]);
        let handling = histogram(
            "seven_handling_seconds",
            "From delivery to outcome",
            "stage",
            &[0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0],
        );
        let waiting =
            IntGaugeVec::new(opts!("seven_stage_waiting", "1 while a stage waits for a dependency"), &["stage"])
                .expect("metric names and labels are constants that prometheus accepts");
        registry.register(Box::new(waiting.clone())).expect("each metric is registered once");
        let dead_open = IntGaugeVec::new(
            opts!("seven_dead_letters_open", "Dead letters that wait for a person"),
            &["stage", "casino", "reason"],
        )
        .expect("metric names and labels are constants that prometheus accepts");
        registry.register(Box::new(dead_open.clone())).expect("each metric is registered once");
        let stop_seconds = histogram(
            "seven_stop_processing_seconds",
            "From a STOP's receipt to its effect",
            "effect",
            &[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0],
        );
        let model_seconds = histogram(
            "seven_model_seconds",
            "A model's call, retries included",
            "model",
            &[0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0],
        );
        let pace_waits = histogram(
            "seven_pace_wait_seconds",
            "Texts held back by a limit of sending",
            "level",
            &[0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0],
        );
        let plain = |name: &str, help: &str| {
            let counter = IntCounter::new(name, help).expect("metric names are constants that prometheus accepts");
            registry.register(Box::new(counter.clone())).expect("each metric is registered once");
            counter
        };
        Self {
            guardrails: counter("seven_guardrail_hits_total", "Guardrail patterns that hit", &["layer", "pattern"]),
            escalations: counter("seven_escalations_total", "Cases opened for a person", &["severity", "reason"]),
            deferred: counter("seven_deferred_total", "Proactive texts put off to the next window", &["class"]),
            stop_duplicates: plain("seven_stop_duplicates_total", "STOPs of guests who were opted out"),
            stop_cancelled: plain("seven_stop_cancelled_total", "Queued and deferred texts that a STOP cancelled"),
            stop_seconds,
            pace_waits,
            webhooks: counter("seven_webhooks_total", "Webhook answers", &["status", "reason"]),
            duplicates: counter("seven_duplicates_total", "Duplicates that ended early", &["stage"]),
            inbound: counter("seven_inbound_total", "Texts in", &["verdict", "reason"]),
            last_look: counter("seven_last_look_total", "Decisions of the last look", &["class", "reason"]),
            sends: counter("seven_sends_total", "Provider calls", &["outcome", "error_code"]),
            failovers: counter("seven_failovers_total", "Texts that took another provider", &["to"]),
            alerts_dropped: plain("seven_alerts_dropped_total", "Alerts that found no room in memory"),
            notices: counter("seven_notices_total", "Notices of alerts", &["channel", "outcome"]),
            alerts: counter("seven_alerts_total", "Alerts raised", &["alert", "provider"]),
            receipts: counter("seven_receipts_total", "Receipts", &["outcome"]),
            swept: counter("seven_swept_total", "Rows signalled again", &["what"]),
            repairs: counter("seven_repairs_total", "Streams, consumers and buckets put back", &["what"]),
            dead: counter("seven_dead_letters_total", "Messages that died", &["stage", "casino", "reason"]),
            model_calls: counter("seven_model_calls_total", "Calls of models", &["model", "outcome"]),
            model_seconds,
            model_tokens: counter("seven_model_tokens_total", "Tokens billed", &["model", "direction"]),
            model_cost: counter("seven_model_cost_nano_usd_total", "Billionths of a dollar", &["model"]),
            model_retries: counter("seven_model_retries_total", "Calls repeated", &["model", "error"]),
            breakers: counter("seven_breaker_transitions_total", "Breakers that moved", &["name", "to"]),
            turns: counter("seven_turns_total", "Turns that ended", &["agent", "ending"]),
            findings: counter("seven_findings_total", "Rules that drafts broke", &["rule", "sent"]),
            cache_fallbacks: counter("seven_cache_fallbacks_total", "Redis calls answered locally", &["what"]),
            spans_dropped: counter("seven_spans_dropped_total", "Spans that were not exported", &["reason"]),
            messages,
            handling,
            waiting,
            dead_open,
            registry,
        }
    }
}

/// The process's instruments.
pub fn metrics() -> &'static Metrics {
    static METRICS: OnceLock<Metrics> = OnceLock::new();
    METRICS.get_or_init(Metrics::new)
}

/// All instruments in Prometheus text format.
pub fn render() -> String {
    let mut text = Vec::new();
    if let Err(error) = TextEncoder::new().encode(&metrics().registry.gather(), &mut text) {
        tracing::warn!(%error, "encoding metrics");
    }
    String::from_utf8_lossy(&text).into_owned()
}

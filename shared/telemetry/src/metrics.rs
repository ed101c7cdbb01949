//! The fleet's instruments. Raw metric macros are not used anywhere: a counter that is not here does not exist.

use std::sync::OnceLock;

use prometheus::{Encoder, HistogramVec, IntCounterVec, IntGaugeVec, Registry, TextEncoder, histogram_opts, opts};

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
    /// Receipts by outcome (moved, no_change, stranger).
    pub receipts: IntCounterVec,
    /// Rows a scheduler signalled again, by stage or kind.
    pub swept: IntCounterVec,
    /// Repairs of streams, consumers and the bucket, by what.
    pub repairs: IntCounterVec,
    /// Dead letters filed, by stage and reason.
    pub dead: IntCounterVec,
    /// Redis calls that fell back to a local answer, by what.
    pub cache_fallbacks: IntCounterVec,
    /// 1 while a stage waits for a dependency.
    pub waiting: IntGaugeVec,
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
        let messages = counter("seven_messages_total", "Messages handled", &["stage", "outcome"]);
        let handling = HistogramVec::new(
            histogram_opts!(
                "seven_handling_seconds",
                "From delivery to outcome",
                vec![0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0]
            ),
            &["stage"],
        )
        .expect("metric names and labels are constants that prometheus accepts");
        registry.register(Box::new(handling.clone())).expect("each metric is registered once");
        let waiting =
            IntGaugeVec::new(opts!("seven_stage_waiting", "1 while a stage waits for a dependency"), &["stage"])
                .expect("metric names and labels are constants that prometheus accepts");
        registry.register(Box::new(waiting.clone())).expect("each metric is registered once");
        Self {
            webhooks: counter("seven_webhooks_total", "Webhook answers", &["status", "reason"]),
            duplicates: counter("seven_duplicates_total", "Duplicates that ended early", &["stage"]),
            inbound: counter("seven_inbound_total", "Texts in", &["verdict", "reason"]),
            last_look: counter("seven_last_look_total", "Decisions of the last look", &["class", "reason"]),
            sends: counter("seven_sends_total", "Provider calls", &["outcome", "error_code"]),
            receipts: counter("seven_receipts_total", "Receipts", &["outcome"]),
            swept: counter("seven_swept_total", "Rows signalled again", &["what"]),
            repairs: counter("seven_repairs_total", "Streams, consumers and buckets put back", &["what"]),
            dead: counter("seven_dead_letters_total", "Dead letters filed", &["stage", "reason"]),
            cache_fallbacks: counter("seven_cache_fallbacks_total", "Redis calls answered locally", &["what"]),
            messages,
            handling,
            waiting,
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

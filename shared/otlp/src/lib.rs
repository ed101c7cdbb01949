//! Exports spans to a collector over OTLP (HTTP, protobuf), in batches, without delaying other
//! work.
//!
//! If a collector is unreachable, refuses spans or hangs, only spans are lost;
//! `seven_spans_dropped_total` counts them.

mod convert;

use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry_otlp::{Protocol, RetryPolicy, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{Resource, trace::SpanExporter as _};
use seven_telemetry::{
    metrics,
    trace::{self, Kept, Outbox, Sample},
};
use tokio::task::JoinHandle;
use url::Url;

/// Maximum number of spans in one request.
const BATCH: usize = 512;
/// Longest time that an incomplete batch waits for more spans.
const BATCH_DELAY: Duration = Duration::from_millis(500);
/// Timeout of one request. A collector that hangs delays one batch and the spans queued behind it.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(5);

/// A collector that has not answered a request for this long counts as unreachable. After an error,
/// it counts as unreachable at once.
const UNREACHABLE_AFTER: Duration = Duration::from_secs(2);
/// Maximum number of spans that may wait while the collector is unreachable. A span takes about 1
/// kB, so these spans take about 0.5 MB of a worker's memory.
const ROOM_AWAY: usize = BATCH;

/// The address to which spans are sent, and the fields that describe this process in each span.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The collector's base URL, to which `/v1/traces` is appended.
    pub endpoint: Url,
    /// The share of traces that is exported. Traces of failures, consent, guardrails and safety are
    /// exported whatever the share is.
    pub sample: Sample,
    /// Maximum number of spans that may wait in the queue.
    pub room: usize,
    /// The service's name, such as `seven-compliance-gate`.
    pub service: String,
    pub version: String,
    pub environment: String,
    /// An id that distinguishes the processes of one service.
    pub instance: String,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("reading the collector's address {0}")]
    Endpoint(Url),
    #[error("building the collector's client")]
    Client(#[from] reqwest::Error),
    #[error("building the exporter")]
    Exporter(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// A running export; [`Exporting::flush`] ends it.
#[derive(Debug)]
pub struct Exporting {
    task: JoinHandle<()>,
}

/// Starts recording and exporting spans. The second value yields the ids of traces that this
/// process found important; other processes should export these traces too.
pub fn start(settings: &Settings) -> Result<(Exporting, Kept), Error> {
    let base = settings.endpoint.as_str().trim_end_matches('/');
    let endpoint = Url::parse(&format!("{base}/v1/traces"))
        .map_err(|_| Error::Endpoint(settings.endpoint.clone()))?;
    // Uses neither proxies nor redirects, because the operator configured the exact address.
    let client = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(Duration::from_secs(2))
        .timeout(EXPORT_TIMEOUT)
        .build()?;
    let mut exporter = SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_http_client(client)
        .with_endpoint(endpoint.as_str())
        .with_timeout(EXPORT_TIMEOUT)
        // Drops a failed batch instead of retrying, so that the next one can be sent.
        .with_retry_policy(RetryPolicy::disabled())
        .build()
        .map_err(|error| Error::Exporter(error.into()))?;
    exporter.set_resource(&resource(settings));
    let (outbox, kept) = trace::start(settings.sample.clone(), settings.room);
    Ok((
        Exporting {
            task: tokio::spawn(export(exporter, outbox)),
        },
        kept,
    ))
}

impl Exporting {
    /// Ends recording and sends the queued spans, within at most `most`.
    pub async fn flush(self, most: Duration) {
        trace::off();
        if tokio::time::timeout(most, self.task).await.is_err() {
            tracing::warn!("the last spans were not exported in time");
        }
    }
}

fn resource(settings: &Settings) -> Resource {
    let attributes = [
        ("service.name", &settings.service),
        ("service.version", &settings.version),
        ("service.instance.id", &settings.instance),
        ("deployment.environment.name", &settings.environment),
    ];
    let attributes = attributes.map(|(key, value)| KeyValue::new(key, value.clone()));
    Resource::builder_empty()
        .with_attributes(attributes)
        .with_attribute(KeyValue::new("service.namespace", "seven"))
        .build()
}

/// Exports spans, one request at a time. Of several failures in a row, it logs only the first. It
/// also logs the next success.
async fn export(exporter: SpanExporter, mut outbox: Outbox) {
    let mut failing = false;
    while let Some(mut batch) = outbox.next(BATCH).await {
        if batch.len() < BATCH && trace::on() {
            tokio::time::sleep(BATCH_DELAY).await;
            batch.extend(outbox.more(BATCH - batch.len()));
        }
        let count = batch.len();
        let spans = batch.into_iter().map(convert::span).collect();
        // The exporter's own timeout covers only the request; this one also covers the exporter's
        // work before and after the request.
        let sending = tokio::time::timeout(EXPORT_TIMEOUT * 2, exporter.export(spans));
        tokio::pin!(sending);
        let sent = tokio::select! {
            sent = &mut sending => sent,
            () = tokio::time::sleep(UNREACHABLE_AFTER) => {
                outbox.limit(ROOM_AWAY);
                sending.await
            }
        };
        outbox.done(count);
        outbox.limit(if matches!(sent, Ok(Ok(()))) {
            usize::MAX
        } else {
            ROOM_AWAY
        });
        match sent {
            Ok(Ok(())) => {
                if failing {
                    tracing::info!("the collector accepts spans again");
                }
                failing = false;
            }
            failed => {
                let lost = u64::try_from(count).unwrap_or(u64::MAX);
                metrics()
                    .spans_dropped
                    .with_label_values(&["export"])
                    .inc_by(lost);
                if !failing {
                    let error = failed.map_or_else(
                        |_| "no answer in time".to_owned(),
                        |e| e.map_or_else(|e| e.to_string(), |()| String::new()),
                    );
                    tracing::warn!(
                        error,
                        "the collector does not accept spans; they are dropped and counted"
                    );
                }
                failing = true;
            }
        }
    }
}

//! A stand-in for an OpenTelemetry collector: it takes OTLP over HTTP (protobuf), keeps every span,
//! and can refuse requests, delay them or leave them unanswered.
//!
//! ```no_run
//! # async fn demo() -> anyhow::Result<()> {
//! use seven_testkit::collector::{Collector, Mood};
//!
//! let collector = Collector::start().await?;
//! // ... point telemetry.otlp_endpoint at collector.url(), send texts ...
//! collector.be(Mood::Silent);
//! assert!(collector.spans().iter().all(|span| span.name.starts_with("seven.")));
//! # Ok(())
//! # }
//! ```

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::{Context, Result};
use axum::{
    Router,
    body::Bytes,
    extract::{DefaultBodyLimit, State},
    http::{StatusCode, header::CONNECTION},
    response::{IntoResponse, Response},
    routing::post,
};
use opentelemetry_proto::tonic::{
    collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse},
    common::v1::{AnyValue, KeyValue, any_value},
    trace::v1::status::StatusCode as SpanStatus,
};
use prost::Message;
use tokio::{net::TcpListener, task::JoinHandle};

/// The collector's reaction to requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mood {
    #[default]
    Takes,
    /// Answers 503.
    Refuses,
    /// Leaves the request unanswered while this mood lasts, then answers 503.
    Silent,
    /// Accepts the request after this many milliseconds.
    Slow(u64),
}

/// A received span; its ids are in hex.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    pub trace_id: String,
    pub span_id: String,
    /// Id of the parent span; empty for the first span of a trace.
    pub parent: String,
    pub name: String,
    /// Kind of the span: `Server`, `Consumer`, `Client` or `Internal`.
    pub kind: String,
    pub started_nanos: u64,
    pub ended_nanos: u64,
    /// Values as text; the items of a list are separated by commas.
    pub attributes: BTreeMap<String, String>,
    /// Trace id and span id of each linked span.
    pub links: Vec<(String, String)>,
    /// The message of the span's status, if the status is an error.
    pub error: Option<String>,
    /// Attributes of the process that sent the span.
    pub resource: BTreeMap<String, String>,
}

/// A running collector double; dropping it stops it.
#[derive(Debug)]
pub struct Collector {
    address: SocketAddr,
    desk: Arc<Mutex<Received>>,
    /// `None` while nobody listens, after [`Collector::leave`].
    serving: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct Received {
    mood: Mood,
    requests: usize,
    spans: Vec<Span>,
}

impl Collector {
    /// Starts listening on a free port of 127.0.0.1.
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .context("binding the collector's double")?;
        let address = listener.local_addr().context("reading the double's port")?;
        let collector = Self {
            address,
            desk: Arc::default(),
            serving: Mutex::default(),
        };
        collector.serve(listener);
        Ok(collector)
    }

    fn serve(&self, listener: TcpListener) {
        let app = Router::new()
            .route("/v1/traces", post(take))
            .layer(DefaultBodyLimit::max(64 * 1024 * 1024))
            .with_state(Arc::clone(&self.desk));
        let serving = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, app).await {
                tracing::error!(%error, "the collector's double ended");
            }
        });
        *lock(&self.serving) = Some(serving);
    }

    /// Stops listening. Open connections get 503 for their next request and close.
    pub fn leave(&self) {
        self.be(Mood::Refuses);
        if let Some(serving) = lock(&self.serving).take() {
            serving.abort();
        }
    }

    /// Listens at the same address again.
    ///
    /// # Errors
    ///
    /// Fails when another process took the port meanwhile.
    pub async fn come_back(&self) -> Result<()> {
        let listener = TcpListener::bind(self.address)
            .await
            .context("binding the collector's double again")?;
        self.serve(listener);
        self.be(Mood::Takes);
        Ok(())
    }

    /// Returns the URL for the setting `telemetry.otlp_endpoint`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sets the mood for all requests from now on.
    pub fn be(&self, mood: Mood) {
        lock(&self.desk).mood = mood;
    }

    /// Returns the number of requests received, including refused ones.
    #[must_use]
    pub fn requests(&self) -> usize {
        lock(&self.desk).requests
    }

    /// Returns the accepted spans in the order in which they came.
    #[must_use]
    pub fn spans(&self) -> Vec<Span> {
        lock(&self.desk).spans.clone()
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        if let Some(serving) = lock(&self.serving).take() {
            serving.abort();
        }
    }
}

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn take(State(desk): State<Arc<Mutex<Received>>>, body: Bytes) -> Response {
    let mood = {
        let mut desk = lock(&desk);
        desk.requests += 1;
        desk.mood
    };
    match mood {
        Mood::Takes => {}
        Mood::Refuses => return refusal(),
        Mood::Silent => {
            while lock(&desk).mood == Mood::Silent {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            return refusal();
        }
        Mood::Slow(millis) => tokio::time::sleep(Duration::from_millis(millis)).await,
    }
    let Ok(request) = ExportTraceServiceRequest::decode(body) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    lock(&desk).spans.extend(read(request));
    ExportTraceServiceResponse::default()
        .encode_to_vec()
        .into_response()
}

/// Answers 503 and closes the connection, as a server that shuts down does.
fn refusal() -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, [(CONNECTION, "close")]).into_response()
}

fn read(request: ExportTraceServiceRequest) -> Vec<Span> {
    let mut spans = Vec::new();
    for group in request.resource_spans {
        let resource = attributes(&group.resource.unwrap_or_default().attributes);
        for span in group.scope_spans.into_iter().flat_map(|scope| scope.spans) {
            let kind = format!("{:?}", span.kind());
            let failed = span
                .status
                .as_ref()
                .filter(|status| status.code() == SpanStatus::Error);
            spans.push(Span {
                trace_id: hex(&span.trace_id),
                span_id: hex(&span.span_id),
                parent: hex(&span.parent_span_id),
                kind,
                started_nanos: span.start_time_unix_nano,
                ended_nanos: span.end_time_unix_nano,
                attributes: attributes(&span.attributes),
                links: span
                    .links
                    .iter()
                    .map(|link| (hex(&link.trace_id), hex(&link.span_id)))
                    .collect(),
                error: failed.map(|status| status.message.clone()),
                resource: resource.clone(),
                name: span.name,
            });
        }
    }
    spans
}

fn attributes(list: &[KeyValue]) -> BTreeMap<String, String> {
    list.iter()
        .map(|pair| {
            (
                pair.key.clone(),
                pair.value.as_ref().map(text).unwrap_or_default(),
            )
        })
        .collect()
}

fn text(value: &AnyValue) -> String {
    match &value.value {
        Some(any_value::Value::StringValue(text)) => text.clone(),
        Some(any_value::Value::BoolValue(yes)) => yes.to_string(),
        Some(any_value::Value::IntValue(number)) => number.to_string(),
        Some(any_value::Value::DoubleValue(number)) => number.to_string(),
        Some(any_value::Value::ArrayValue(list)) => {
            list.values.iter().map(text).collect::<Vec<_>>().join(",")
        }
        other => format!("{other:?}"),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpStream;

    use super::*;

    #[tokio::test]
    async fn nobody_listens_while_it_is_away() {
        let collector = Collector::start().await.unwrap();
        let listens = async || TcpStream::connect(collector.address).await.is_ok();
        assert!(listens().await);
        collector.leave();
        // The listener closes only when the runtime next runs its aborted task.
        while listens().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        collector.come_back().await.unwrap();
        assert!(listens().await);
    }
}

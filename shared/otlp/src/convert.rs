//! Converts our spans to the form that the exporter of the OpenTelemetry SDK takes.

use opentelemetry::{
    Array, InstrumentationScope, KeyValue, StringValue, Value as Out,
    trace::{Link, SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState},
};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use seven_domain::TraceContext;
use seven_telemetry::trace::{Finished, Kind, Value};

pub(crate) fn span(span: Finished) -> SpanData {
    let context = TraceContext {
        trace_id: span.trace_id,
        span_id: span.span_id,
        sampled: true,
    };
    let mut links = SpanLinks::default();
    links.links = span
        .links
        .into_iter()
        .map(|link| Link::new(context_of(link, true), Vec::new(), 0))
        .collect();
    SpanData {
        span_context: context_of(context, false),
        parent_span_id: span.parent.map_or(SpanId::INVALID, SpanId::from_bytes),
        parent_span_is_remote: matches!(span.kind, Kind::Consumer),
        span_kind: match span.kind {
            Kind::Server => SpanKind::Server,
            Kind::Consumer => SpanKind::Consumer,
            Kind::Client => SpanKind::Client,
            Kind::Internal => SpanKind::Internal,
        },
        name: span.name,
        start_time: span.started,
        end_time: span.ended,
        attributes: span
            .attributes
            .into_iter()
            .map(|(key, value)| KeyValue::new(key, value_of(value)))
            .collect(),
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links,
        status: span.error.map_or(Status::Unset, Status::error),
        instrumentation_scope: InstrumentationScope::builder("seven").build(),
    }
}

fn context_of(context: TraceContext, remote: bool) -> SpanContext {
    let (trace, span) = (
        TraceId::from_bytes(context.trace_id),
        SpanId::from_bytes(context.span_id),
    );
    SpanContext::new(
        trace,
        span,
        TraceFlags::SAMPLED,
        remote,
        TraceState::default(),
    )
}

fn value_of(value: Value) -> Out {
    match value {
        Value::Text(text) => Out::String(text.into()),
        Value::Texts(texts) => Out::Array(Array::String(
            texts.into_iter().map(StringValue::from).collect(),
        )),
        Value::Int(number) => Out::I64(number),
        Value::Float(number) => Out::F64(number),
        Value::Bool(yes) => Out::Bool(yes),
    }
}

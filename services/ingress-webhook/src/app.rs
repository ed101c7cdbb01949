//! The HTTP surface: webhooks, health, metrics.

use std::sync::Arc;

use axum::{
    Json, Router,
    body::{Body, to_bytes},
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header::CONTENT_LENGTH},
    response::IntoResponse,
    routing::{get, post},
};
use seven_domain::{AttemptId, TraceContext};
use seven_providers::telnyx::signature::{SIGNATURE_HEADER, TIMESTAMP_HEADER, Verifier};
use seven_runtime::Fleet;
use tower_http::catch_panic::CatchPanicLayer;

use crate::{answer::Answer, intake::intake, intruders::Intruders};

/// Largest body we read; enforced with and without Content-Length.
const BODY_LIMIT: usize = 64 * 1024;

#[derive(Debug)]
pub(crate) struct App {
    pub(crate) fleet: Fleet,
    verifier: Verifier,
    intruders: Intruders,
}

pub(crate) fn router(fleet: Fleet, verifier: Verifier) -> Router {
    Router::new()
        .route("/webhooks/telnyx", post(general))
        .route("/sms/inbound", post(general))
        .route("/webhooks/telnyx/{attempt}", post(of_attempt))
        .route("/health/live", get(|| async { Json(serde_json::json!({ "status": "live" })) }))
        .route("/health/ready", get(ready))
        .route("/metrics", get(|| async { seven_telemetry::render() }))
        .layer(CatchPanicLayer::new())
        .with_state(Arc::new(App { fleet, verifier, intruders: Intruders::default() }))
}

async fn general(State(app): State<Arc<App>>, headers: HeaderMap, body: Body) -> Answer {
    app.receive(None, &headers, body).await
}

/// The address each send gives the provider: it names the attempt (D5).
async fn of_attempt(
    State(app): State<Arc<App>>,
    Path(attempt): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    app.receive(attempt.parse().ok(), &headers, body).await
}

impl App {
    async fn receive(&self, attempt: Option<AttemptId>, headers: &HeaderMap, body: Body) -> Answer {
        let announced = header(headers, CONTENT_LENGTH.as_str()).and_then(|n| n.parse::<usize>().ok());
        if announced.is_some_and(|n| n > BODY_LIMIT) {
            return Answer::TooLarge;
        }
        let Ok(body) = to_bytes(body, BODY_LIMIT).await else { return Answer::TooLarge };
        let now = self.fleet.clock.now();
        let verified = self.verifier.verify(
            header(headers, TIMESTAMP_HEADER),
            header(headers, SIGNATURE_HEADER),
            &body,
            now.timestamp(),
        );
        if let Err(refusal) = verified {
            self.intruders.note(&self.fleet, refusal);
            return Answer::Refused(refusal);
        }
        // A trace of our own: headers of a public address say nothing we could trust (OBS-1).
        let trace = TraceContext::start();
        self.accept(intake(&body, attempt, now), &body, &trace.to_string()).await
    }
}

/// Ready means: an event can be made durable, by the bus or by the spool.
async fn ready(State(app): State<Arc<App>>) -> impl IntoResponse {
    let (nats, postgres) = tokio::join!(app.fleet.bus.ready(), app.fleet.store.ready());
    let status = if nats || postgres { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(serde_json::json!({ "nats": nats, "postgres": postgres })))
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

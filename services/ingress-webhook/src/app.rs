//! The public HTTP surface: webhooks, and the health paths that load balancers ask. Metrics are the operations listener's.

use std::sync::Arc;

use axum::{
    Json, Router,
    body::{Body, to_bytes},
    extract::{FromRequest, Path, RawQuery, State},
    http::{
        HeaderMap, StatusCode,
        header::{CONTENT_LENGTH, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
    routing::{get, post},
};
use bytes::Bytes;
use seven_domain::{AttemptId, TraceContext};
use seven_providers::{
    telnyx::signature::{self as telnyx, Refusal, SIGNATURE_HEADER, TIMESTAMP_HEADER},
    twilio::{self as twilio_api, signature as twilio},
};
use seven_runtime::Fleet;
use tower_http::catch_panic::CatchPanicLayer;
use url::Url;

use crate::{
    answer::Answer,
    intake::{intake, intake_form},
    intruders::Intruders,
};

/// Largest body we read; enforced with and without Content-Length.
const BODY_LIMIT: usize = 64 * 1024;

#[derive(Debug)]
pub(crate) struct App {
    pub(crate) fleet: Fleet,
    verifiers: Verifiers,
    intruders: Intruders,
}

/// What a call must have been signed with.
#[derive(Debug)]
pub struct Verifiers {
    pub telnyx: telnyx::Verifier,
    /// None where the fleet has no account at Twilio: then nothing that claims to be its call is believed.
    pub twilio: Option<Twilio>,
}

/// Twilio signs the address it was told, so ours must be the one it knows.
#[derive(Debug)]
pub struct Twilio {
    pub verifier: twilio::Verifier,
    /// As in the settings; a status callback adds its attempt id.
    pub webhook_url: Url,
}

pub(crate) fn router(fleet: Fleet, verifiers: Verifiers) -> Router {
    Router::new()
        .route("/webhooks/telnyx", post(general))
        .route("/sms/inbound", post(general))
        .route("/webhooks/telnyx/{attempt}", post(of_attempt))
        .route("/webhooks/twilio", post(twilio_general))
        .route("/webhooks/twilio/{attempt}", post(twilio_attempt))
        .route("/health/live", get(|| async { Json(serde_json::json!({ "status": "live" })) }))
        .route("/health/ready", get(ready))
        .layer(CatchPanicLayer::new())
        .with_state(Arc::new(App { fleet, verifiers, intruders: Intruders::default() }))
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

async fn twilio_general(State(app): State<Arc<App>>, call: Call) -> Response {
    twiml(app.receive_form("", call).await)
}

async fn twilio_attempt(State(app): State<Arc<App>>, Path(attempt): Path<String>, call: Call) -> Response {
    twiml(app.receive_form(&attempt, call).await)
}

/// The parts of a call to Twilio's addresses.
#[derive(FromRequest)]
struct Call {
    query: RawQuery,
    headers: HeaderMap,
    body: Body,
}

/// Twilio takes a 2xx for an inbound message as TwiML and complains of anything else: an empty answer sends nothing.
fn twiml(answer: Answer) -> Response {
    let response = answer.into_response();
    if !response.status().is_success() {
        return response;
    }
    ([(CONTENT_TYPE, "text/xml")], "<Response/>").into_response()
}

impl App {
    async fn receive_form(&self, attempt: &str, call: Call) -> Answer {
        let body = match read(&call.headers, call.body).await {
            Ok(body) => body,
            Err(answer) => return answer,
        };
        let fields = twilio_api::webhook::fields(&body);
        let verified = match &self.verifiers.twilio {
            None => Err(Refusal::InvalidSignature),
            Some(ours) => {
                let mut url = ours.webhook_url.clone();
                if !attempt.is_empty() {
                    url.set_path(&format!("{}/{attempt}", url.path().trim_end_matches('/')));
                }
                url.set_query(call.query.0.as_deref());
                ours.verifier.verify(&url, &fields, header(&call.headers, twilio::SIGNATURE_HEADER))
            }
        };
        if let Err(refusal) = verified {
            self.intruders.note(&self.fleet, refusal);
            return Answer::Refused(refusal);
        }
        let trace = TraceContext::start();
        let intake = intake_form(&fields, attempt.parse().ok(), self.fleet.clock.now());
        self.accept(intake, &body, &trace.to_string()).await
    }

    async fn receive(&self, attempt: Option<AttemptId>, headers: &HeaderMap, body: Body) -> Answer {
        let body = match read(headers, body).await {
            Ok(body) => body,
            Err(answer) => return answer,
        };
        let now = self.fleet.clock.now();
        let verified = self.verifiers.telnyx.verify(
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

async fn read(headers: &HeaderMap, body: Body) -> Result<Bytes, Answer> {
    let announced = header(headers, CONTENT_LENGTH.as_str()).and_then(|n| n.parse::<usize>().ok());
    if announced.is_some_and(|n| n > BODY_LIMIT) {
        return Err(Answer::TooLarge);
    }
    to_bytes(body, BODY_LIMIT).await.map_err(|_| Answer::TooLarge)
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

//! The public HTTP routes: webhooks, and the health paths for load balancers. Metrics are served by
//! the operations listener.

use std::sync::Arc;

use axum::{
    Extension, Json, Router,
    body::Body,
    extract::{FromRequest, Path, RawQuery, State},
    http::{HeaderMap, StatusCode, header::CONTENT_TYPE},
    middleware,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use bytes::Bytes;
use seven_domain::{AttemptId, Stage, TraceContext};
use seven_providers::{
    telnyx::signature::{self as telnyx, Refusal, SIGNATURE_HEADER, TIMESTAMP_HEADER},
    twilio::{self as twilio_api, signature as twilio},
};
use seven_runtime::Fleet;
use seven_telemetry::trace;
use tower_http::catch_panic::CatchPanicLayer;
use url::Url;

use crate::{
    answer::Answer,
    auth_failures::AuthFailures,
    client::Proxies,
    intake::{Intake, intake, intake_form},
    limits::{Limits, Places, in_time},
    serve::Peer,
};

#[derive(Debug)]
pub(crate) struct App {
    pub(crate) fleet: Fleet,
    verifiers: Verifiers,
    proxies: Proxies,
    places: Places,
    auth_failures: AuthFailures,
}

/// Verifiers of the signatures that providers' calls must carry.
#[derive(Debug)]
pub struct Verifiers {
    pub telnyx: telnyx::Verifier,
    /// None where the fleet has no account at Twilio; then every call in Twilio's name is refused.
    pub twilio: Option<Twilio>,
}

/// The verifier for Twilio, which signs the address that it was given; ours must be exactly that
/// address.
#[derive(Debug)]
pub struct Twilio {
    pub verifier: twilio::Verifier,
    /// The webhook address from the settings; a status callback has its attempt id appended.
    pub webhook_url: Url,
}

pub(crate) fn router(fleet: Fleet, verifiers: Verifiers, proxies: Proxies, limits: &Limits) -> Router {
    let places = Places::new(limits);
    let app = App { fleet, verifiers, proxies, places: places.clone(), auth_failures: AuthFailures::default() };
    Router::new()
        .route("/webhooks/telnyx", post(general))
        .route("/sms/inbound", post(general))
        .route("/webhooks/telnyx/{attempt}", post(of_attempt))
        .route("/webhooks/twilio", post(twilio_general))
        .route("/webhooks/twilio/{attempt}", post(twilio_attempt))
        // Health paths have no time limit.
        .route_layer(middleware::from_fn_with_state(places, in_time))
        .route("/health/live", get(|| async { Json(serde_json::json!({ "status": "live" })) }))
        .route("/health/ready", get(ready))
        .layer(CatchPanicLayer::new())
        .with_state(Arc::new(app))
}

async fn general(State(app): State<Arc<App>>, call: Call) -> Answer {
    Box::pin(traced("/webhooks/telnyx", app.receive(None, call))).await
}

/// Receives calls to the address that each send gives the provider: it contains the attempt (D5).
async fn of_attempt(State(app): State<Arc<App>>, Path(attempt): Path<String>, call: Call) -> Answer {
    Box::pin(traced("/webhooks/telnyx/{attempt}", app.receive(attempt.parse().ok(), call))).await
}

async fn twilio_general(State(app): State<Arc<App>>, call: Call) -> Response {
    twiml(Box::pin(traced("/webhooks/twilio", app.receive_form("", call))).await)
}

async fn twilio_attempt(State(app): State<Arc<App>>, Path(attempt): Path<String>, call: Call) -> Response {
    twiml(Box::pin(traced("/webhooks/twilio/{attempt}", app.receive_form(&attempt, call))).await)
}

/// The parts of a webhook call.
#[derive(FromRequest)]
struct Call {
    peer: Extension<Peer>,
    query: RawQuery,
    headers: HeaderMap,
    body: Body,
}

/// Builds Twilio's response. Twilio reads a 2xx answer to an inbound message as TwiML and reports
/// an error for anything else; an empty response sends nothing.
fn twiml(answer: Answer) -> Response {
    let response = answer.into_response();
    if !response.status().is_success() {
        return response;
    }
    ([(CONTENT_TYPE, "text/xml")], "<Response/>").into_response()
}

impl App {
    async fn receive(&self, attempt: Option<AttemptId>, call: Call) -> Answer {
        self.handle_telnyx(attempt, call).await.unwrap_or_else(|answer| answer)
    }

    async fn receive_form(&self, attempt: &str, call: Call) -> Answer {
        self.handle_twilio(attempt, call).await.unwrap_or_else(|answer| answer)
    }

    /// Handles a Telnyx call. Checks the time and form of the signature first: a caller without
    /// them is refused before its body is read.
    async fn handle_telnyx(&self, attempt: Option<AttemptId>, call: Call) -> Result<Answer, Answer> {
        let now = self.fleet.clock.now();
        let (timestamp, signature) = (header(&call.headers, TIMESTAMP_HEADER), header(&call.headers, SIGNATURE_HEADER));
        let head =
            telnyx::Head::parse(timestamp, signature, now.timestamp()).map_err(|refusal| self.refuse(refusal))?;
        let body = self.read(&call.peer, &call.headers, call.body).await?;
        self.verifiers.telnyx.verify_body(&head, &body).map_err(|refusal| self.refuse(refusal))?;
        let _place = self.places.handle().await?;
        let intake = intake(&body, attempt, now);
        let trace = begin(&intake);
        Ok(self.accept(intake, &body, &trace).await)
    }

    async fn handle_twilio(&self, attempt: &str, call: Call) -> Result<Answer, Answer> {
        let Some(ours) = &self.verifiers.twilio else { return Err(self.refuse(Refusal::InvalidSignature)) };
        let signature = header(&call.headers, twilio::SIGNATURE_HEADER);
        twilio::given(signature).map_err(|refusal| self.refuse(refusal))?;
        let body = self.read(&call.peer, &call.headers, call.body).await?;
        let fields = twilio_api::webhook::fields(&body);
        let mut url = ours.webhook_url.clone();
        if !attempt.is_empty() {
            url.set_path(&format!("{}/{attempt}", url.path().trim_end_matches('/')));
        }
        let verified = ours.verifier.verify(&url, call.query.0.as_deref(), &fields, signature);
        verified.map_err(|refusal| self.refuse(refusal))?;
        let _place = self.places.handle().await?;
        let intake = intake_form(&fields, attempt.parse().ok(), self.fleet.clock.now());
        let trace = begin(&intake);
        Ok(self.accept(intake, &body, &trace).await)
    }

    async fn read(&self, peer: &Peer, headers: &HeaderMap, body: Body) -> Result<Bytes, Answer> {
        self.places.read(self.proxies.client(peer.0, headers), headers, body).await
    }

    fn refuse(&self, refusal: Refusal) -> Answer {
        self.auth_failures.note(&self.fleet, refusal);
        Answer::Refused(refusal)
    }
}

/// Runs one call in its span. Calls that are not the provider's leave no span, so that strangers
/// cannot write into our traces.
async fn traced(route: &'static str, work: impl Future<Output = Answer>) -> Answer {
    let answered = async {
        trace::set("http.request.method", "POST");
        trace::set("http.route", route);
        let answer = work.await;
        answer.tell_span();
        answer
    };
    trace::serve(Stage::Ingress.as_str(), answered).await
}

/// Begins the trace of the event. The trace id is ours: headers sent to a public address cannot be
/// trusted (OBS-1, C-29). A text's first span is this call's. A receipt belongs to its text's
/// trace, which the receipts stage finds, so this call leaves no span.
fn begin(intake: &Intake) -> String {
    match intake {
        Intake::Text { event, keyword, .. } => {
            if keyword.is_some() {
                trace::keep();
            }
            trace::assume(TraceContext::of_text(&event.provider, &event.provider_message_id));
        }
        Intake::Receipt { .. } | Intake::Ignored { .. } | Intake::OddSender { .. } => trace::discard(),
        Intake::Unusable { reason, .. } => trace::fail(reason),
    }
    trace::current().unwrap_or_else(TraceContext::start).to_string()
}

/// Returns readiness: an event can be made durable, by the bus or by the spool.
async fn ready(State(app): State<Arc<App>>) -> impl IntoResponse {
    let (nats, postgres) = tokio::join!(app.fleet.bus.ready(), app.fleet.store.ready());
    let status = if nats || postgres { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(serde_json::json!({ "nats": nats, "postgres": postgres })))
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

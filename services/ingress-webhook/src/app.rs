//! The public HTTP routes: webhooks, and the health paths for load balancers. Metrics are served by
//! the operations listener.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Request, State},
    http::StatusCode,
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{MethodRouter, get, post},
};
use seven_domain::{Stage, TraceContext};
use seven_intake::Intake;
use seven_providers::{
    telnyx::signature::{self as telnyx, Refusal},
    twilio::signature as twilio,
};
use seven_runtime::{Fleet, Proxies};
use seven_telemetry::trace;
use tower_http::catch_panic::CatchPanicLayer;
use url::Url;

use crate::{
    answer::Answer,
    auth_failures::AuthFailures,
    call::{self, Signer, Verified},
    content,
    limits::{Limits, Places, in_time},
};

#[derive(Debug)]
pub(crate) struct App {
    pub(crate) fleet: Fleet,
    pub(crate) verifiers: Verifiers,
    pub(crate) proxies: Proxies,
    pub(crate) places: Places,
    auth_failures: AuthFailures,
}

/// Verifiers of the signatures that providers' calls must carry.
#[derive(Debug)]
pub struct Verifiers {
    pub telnyx: telnyx::Verifier,
    /// `None` if the fleet has no account at Twilio; then every call in Twilio's name is refused.
    pub twilio: Option<Twilio>,
}

/// The verifier of Twilio's signatures. The signature covers the URL that Twilio was given, so
/// `webhook_url` must be exactly that URL.
#[derive(Debug)]
pub struct Twilio {
    pub verifier: twilio::Verifier,
    /// The webhook address from the settings. Twilio sends status callbacks to this address with
    /// the attempt's id appended.
    pub webhook_url: Url,
}

pub(crate) fn router(
    fleet: Fleet,
    verifiers: Verifiers,
    proxies: Proxies,
    limits: &Limits,
) -> Router {
    let places = Places::new(limits);
    let editors = content::routes(fleet.clone(), proxies.clone(), places.clone());
    let app = App {
        fleet,
        verifiers,
        proxies,
        places: places.clone(),
        auth_failures: AuthFailures::default(),
    };
    Router::new()
        .route(
            "/webhooks/telnyx",
            webhook::<call::Telnyx>("/webhooks/telnyx"),
        )
        .route("/sms/inbound", webhook::<call::Telnyx>("/webhooks/telnyx"))
        .route(
            "/webhooks/telnyx/{attempt}",
            webhook::<call::Telnyx>("/webhooks/telnyx/{attempt}"),
        )
        .route(
            "/webhooks/twilio",
            webhook::<call::Twilio>("/webhooks/twilio"),
        )
        .route(
            "/webhooks/twilio/{attempt}",
            webhook::<call::Twilio>("/webhooks/twilio/{attempt}"),
        )
        // Health paths have no time limit.
        .route_layer(middleware::from_fn_with_state(places, in_time))
        .route(
            "/health/live",
            get(|| async { Json(serde_json::json!({ "status": "live" })) }),
        )
        .route("/health/ready", get(ready))
        .with_state(Arc::new(app))
        .merge(editors)
        .layer(CatchPanicLayer::new())
}

/// Routes one of the addresses that a provider calls. `route` names the address in traces.
fn webhook<P: Signer>(route: &'static str) -> MethodRouter<Arc<App>> {
    let traced = middleware::from_fn(move |request, next| traced(route, request, next));
    post(receive::<P>).route_layer(traced)
}

/// Makes a verified call's event durable, then answers.
async fn receive<P: Signer>(State(app): State<Arc<App>>, call: Verified<P>) -> Response {
    let trace = begin(&call.intake);
    let answer = app.accept(call.intake, &call.body, &trace).await;
    drop(call.permit);
    P::respond(answer)
}

impl App {
    pub(crate) fn refuse(&self, refusal: Refusal) -> Answer {
        self.auth_failures.note(&self.fleet, refusal);
        Answer::Refused(refusal)
    }
}

/// Runs one call in a span. A call that does not come from the provider leaves no span, so that
/// strangers cannot write into our traces.
async fn traced(route: &'static str, request: Request, next: Next) -> Response {
    let answered = async {
        trace::set("http.request.method", "POST");
        trace::set("http.route", route);
        let response = next.run(request).await;
        match response.extensions().get::<Answer>() {
            Some(answer) => answer.tell_span(),
            None => trace::discard(),
        }
        response
    };
    trace::serve(Stage::Ingress.as_str(), answered).await
}

/// Begins the event's trace under our own id, because trace headers from a public address cannot be
/// trusted. A receipt leaves no span here; the sender adds it to the trace of its text.
fn begin(intake: &Intake) -> String {
    match intake {
        Intake::Text { event, keyword, .. } => {
            if keyword.is_some() {
                trace::keep();
            }
            trace::assume(TraceContext::of_text(
                &event.provider,
                &event.provider_message_id,
            ));
        }
        Intake::Receipt { .. } | Intake::Ignored { .. } | Intake::OddSender { .. } => {
            trace::discard();
        }
        Intake::Unusable { reason, .. } => trace::fail(reason),
    }
    trace::current()
        .unwrap_or_else(TraceContext::start)
        .to_string()
}

/// Reports whether an event can be made durable, by the bus or by the spool.
async fn ready(State(app): State<Arc<App>>) -> impl IntoResponse {
    let (nats, postgres) = tokio::join!(app.fleet.bus.ready(), app.fleet.store.ready());
    let status = if nats || postgres {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    (
        status,
        Json(serde_json::json!({ "nats": nats, "postgres": postgres })),
    )
}

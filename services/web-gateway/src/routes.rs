//! The routes of the gateway, and the headers that every response gets.

use axum::{
    Router,
    extract::{MatchedPath, Request},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use seven_telemetry::metrics;
use tokio::time::Instant;
use tower_http::catch_panic::CatchPanicLayer;
use uuid::Uuid;

use crate::{app::Shared, chat, pages, problem::Problem, property, widget};

/// Strict-Transport-Security for two years, as WEB-4 requires.
const HSTS: &str = "max-age=63072000; includeSubDomains";
/// The Content-Security-Policy of responses that are data, not pages. Browsers load nothing for
/// such a response and never show it in a frame.
const POLICY: &str = "default-src 'none'; frame-ancestors 'none'";
const REQUEST_ID: &str = "x-request-id";

pub(crate) fn router(app: Shared) -> Router {
    let routes = Router::new()
        .route("/chat", post(chat::chat))
        .route("/api/v1/chat/init", post(widget::init))
        .route("/api/v1/chat/stream", post(widget::say).get(widget::listen))
        .route("/api/v1/chat/history", get(widget::history))
        .route("/api/v1/chat/ack", post(widget::ack))
        .route("/", get(pages::concierge))
        .route("/embed", get(pages::embed))
        .route("/w.js", get(pages::widget))
        .route("/page.js", get(pages::script))
        .route("/page.css", get(pages::style))
        .route("/property", get(property::property))
        .route("/health", get(property::health))
        .fallback(|| async { Problem::NotFound });
    whole(routes).with_state(app)
}

/// Adds the layers that apply to every response, including the response to a call that panics.
fn whole<S: Clone + Send + Sync + 'static>(routes: Router<S>) -> Router<S> {
    routes
        .layer(CatchPanicLayer::custom(|_| {
            Problem::Internal.into_response()
        }))
        .layer(middleware::from_fn(around))
}

/// Answers CORS preflight requests, and gives every response its headers and its request id. The
/// log line has no address, token or text.
async fn around(request: Request, next: Next) -> Response {
    let began = Instant::now();
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or("none", MatchedPath::as_str).to_owned();
    let origin = request.headers().get(header::ORIGIN).cloned();
    let id = request_id(request.headers());
    let asks = request.method() == Method::OPTIONS
        && request
            .headers()
            .contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = match asks {
        // Every preflight is allowed. Only the call itself names the casino, so the call checks
        // whether the origin is one of the casino's. No call uses cookies.
        true => preflight(origin.clone()),
        false => next.run(request).await,
    };
    let problem = response
        .extensions()
        .get::<Problem>()
        .map_or("none", Problem::code);
    let status = response.status();
    metrics()
        .web
        .calls
        .with_label_values(&[route.as_str(), status.as_str(), problem])
        .inc();
    let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    tracing::info!(route, status = status.as_u16(), problem, millis, request_id = %id, "web call");
    let headers = response.headers_mut();
    // Only pages set their own policy, which says who may frame them.
    if !headers.contains_key(header::CONTENT_SECURITY_POLICY) {
        headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    }
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::STRICT_TRANSPORT_SECURITY, HSTS),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    if let Ok(id) = HeaderValue::from_str(&id.to_string()) {
        headers.insert(REQUEST_ID, id);
    }
    headers.insert("x-response-time-ms", HeaderValue::from(millis));
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    // Every origin may read the response. Each call checks the origin before it returns data, and a
    // refused page may read why it was refused.
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        let exposed = HeaderValue::from_static("retry-after, x-request-id");
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    }
    response
}

fn preflight(origin: Option<HeaderValue>) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    for (name, value) in [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST"),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "authorization, content-type, last-event-id, accept",
        ),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    }
    response
}

/// Returns the caller's request id if it is a UUID, or else a new one.
fn request_id(headers: &HeaderMap) -> Uuid {
    let given = headers
        .get(REQUEST_ID)
        .and_then(|id| id.to_str().ok()?.parse().ok());
    given.unwrap_or_else(Uuid::new_v4)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use tower::ServiceExt;

    use super::*;

    #[tokio::test] // WEB-8
    async fn a_panic_is_a_problem_with_its_request_id() {
        let panics = || async { std::panic::resume_unwind(Box::new("a test")) as () };
        let router = whole(Router::new().route("/panics", get(panics)));
        let request = Request::get("/panics").body(Body::empty()).unwrap();
        let response = router.oneshot(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers();
        assert_eq!(headers[header::CONTENT_TYPE], "application/problem+json");
        assert!(headers.contains_key(REQUEST_ID), "{headers:?}");
    }
}

//! Wraps every page in four rules: a form must come from our own pages, browsers must not store
//! answers, only our own scripts may run, and a fault becomes a page.

use askama::Template;
use axum::{
    Router,
    body::Body,
    extract::{DefaultBodyLimit, Request, State},
    http::{
        HeaderMap, HeaderValue, Method, StatusCode,
        header::{
            ACCEPT_LANGUAGE, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY,
            CONTENT_TYPE, LOCATION, ORIGIN, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY,
            X_CONTENT_TYPE_OPTIONS,
        },
    },
    middleware::{Next, from_fn_with_state},
    response::{Html, IntoResponse, Response},
};

use crate::{
    app::{App, Shared},
    fault::Fault,
    frame::Frame,
    words::Words,
};

const FORM_BYTES: usize = 64 * 1024;
/// The content security policy: pages load nothing from other sites, evaluate no text as code, and
/// cannot be framed. Only the Trusted Types policy `htmx`, which `assets/console.js` creates, may
/// turn text into markup.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'; trusted-types htmx";

pub(crate) fn around(pages: Router<Shared>, app: &Shared) -> Router<Shared> {
    pages
        .fallback(|| async { Fault::NotFound })
        .method_not_allowed_fallback(|| async { Fault::NotFound })
        .layer(DefaultBodyLimit::max(FORM_BYTES))
        .layer(from_fn_with_state(app.clone(), guarded))
}

#[derive(Template)]
#[template(path = "fault.html")]
struct FaultPage {
    frame: Frame,
    text: String,
}

async fn guarded(State(app): State<Shared>, request: Request, next: Next) -> Response {
    let words = words_of(request.headers());
    let by_script = request.headers().contains_key("hx-request");
    let is_stream = request.uri().path().ends_with("/stream");
    let ours = request.method() != Method::POST || is_ours(&app, request.headers());
    let mut response = if ours {
        next.run(request).await
    } else {
        Fault::Forbidden.into_response()
    };
    if let Some(fault) = response.extensions().get::<Fault>().copied() {
        // A refused stream must not look like a stream that ended, or the browser opens it again at
        // once.
        response = match fault {
            Fault::LoggedOut if is_stream => StatusCode::UNAUTHORIZED.into_response(),
            fault => page_of(fault, words, by_script && !is_stream),
        };
    }
    let headers = response.headers_mut();
    for (name, value) in [
        (CACHE_CONTROL, "no-store"),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // With `no-referrer`, older browsers would not name an origin when they send our own forms.
        (REFERRER_POLICY, "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if app.console.public_url.scheme() == "https" {
        let value = HeaderValue::from_static("max-age=31536000");
        headers.insert(STRICT_TRANSPORT_SECURITY, value);
    }
    response
}

/// Returns the words in the browser's preferred language, for callers who are not logged in.
pub(crate) fn words_of(headers: &HeaderMap) -> Words {
    let accept = headers.get(ACCEPT_LANGUAGE);
    Words::preferred(
        accept
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default(),
    )
}

/// Returns whether the browser says that a page of ours sent this form. Browsers say so by
/// `Sec-Fetch-Site`, older ones by `Origin`.
fn is_ours(app: &App, headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    match (text("sec-fetch-site"), text(ORIGIN.as_str())) {
        (Some(site), _) => site == "same-origin",
        (None, Some(origin)) => origin == app.console.public_url.origin().ascii_serialization(),
        (None, None) => false,
    }
}

fn page_of(fault: Fault, words: Words, by_script: bool) -> Response {
    if fault == Fault::NotFound && by_script {
        // A script asked for a part of its page, and the person may no longer see it. The browser
        // must leave the whole page.
        return ([("hx-redirect", "/")], ()).into_response();
    }
    if fault == Fault::LoggedOut {
        // The script would follow a plain redirect by itself. It would put the login page into the
        // part of the page that it fetched.
        return if by_script {
            ([("hx-redirect", "/login")], ()).into_response()
        } else {
            (fault.status(), [(LOCATION, "/login")]).into_response()
        };
    }
    let text = words.t(fault.words()).to_owned();
    let page = FaultPage {
        frame: Frame::plain(words, &text),
        text,
    };
    (fault.status(), shown(&page)).into_response()
}

/// Renders a template. If rendering fails, logs the error and returns an empty page.
pub(crate) fn shown(page: &impl Template) -> Html<String> {
    Html(page.render().unwrap_or_else(|error| {
        tracing::error!(%error, "a page could not be rendered");
        String::new()
    }))
}

/// Redirects the browser to another page after a form was handled.
pub(crate) fn go_to(path: &str) -> Response {
    (StatusCode::SEE_OTHER, [(LOCATION, path)]).into_response()
}

/// Returns a file as a download. `name` must be ASCII without quotes.
pub(crate) fn file(name: &str, body: impl Into<Body>) -> Response {
    let kind = match name.rsplit_once('.') {
        Some((_, "csv")) => "text/csv; charset=utf-8",
        Some((_, "json")) => "application/json",
        _ => "application/x-ndjson",
    };
    let disposition = format!("attachment; filename=\"{name}\"");
    let headers = [
        (CONTENT_TYPE, kind.to_owned()),
        (CONTENT_DISPOSITION, disposition),
    ];
    (headers, body.into()).into_response()
}

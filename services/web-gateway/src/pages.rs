//! The concierge's page, its version for an iframe, and the widget's script. The page loads only
//! files of this gateway, so that its Content-Security-Policy can forbid all others.

use askama::Template;
use axum::{
    extract::{Query, State},
    http::{HeaderValue, header},
    response::{Html, IntoResponse, Response},
};
use seven_domain::CasinoConfig;

use crate::{
    app::Shared,
    call::{Caller, casino_of, named},
    problem::Problem,
    property::Which,
    words::Words,
};

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
/// Maximum number of suggested questions on the page.
const MOST_SUGGESTIONS: usize = 4;

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    lang: &'a str,
    words: &'a Words,
    name: &'a str,
    casino: &'a str,
    phone: &'a str,
    topics: String,
    suggestions: Vec<&'a str>,
    /// Whether to show only the chat, for an iframe.
    bare: bool,
}

pub(crate) async fn widget() -> Response {
    file(JAVASCRIPT, include_str!("../assets/widget.js"))
}

pub(crate) async fn script() -> Response {
    file(JAVASCRIPT, include_str!("../assets/page.js"))
}

pub(crate) async fn style() -> Response {
    file(
        "text/css; charset=utf-8",
        include_str!("../assets/page.css"),
    )
}

/// Returns a file that pages of other origins may load, too.
fn file(kind: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE.as_str(), kind),
        (header::CACHE_CONTROL.as_str(), "public, max-age=300"),
        ("cross-origin-resource-policy", "cross-origin"),
    ];
    (headers, text).into_response()
}

pub(crate) async fn concierge(
    State(app): State<Shared>,
    caller: Caller,
    Query(which): Query<Which>,
) -> Result<Response, Problem> {
    page(&app, &caller, which, false).await
}

pub(crate) async fn embed(
    State(app): State<Shared>,
    caller: Caller,
    Query(which): Query<Which>,
) -> Result<Response, Problem> {
    page(&app, &caller, which, true).await
}

async fn page(
    app: &Shared,
    caller: &Caller,
    which: Which,
    bare: bool,
) -> Result<Response, Problem> {
    let casino = named(app, which.casino)?;
    let config = casino_of(app, &casino).await?;
    let mut tx = app.fleet.store.bind(&casino).await?;
    let categories = tx.active_categories().await?;
    tx.commit().await?;
    let language = which.lang.unwrap_or_else(|| caller.language());
    let words = Words::of(language);
    let of = |names: &'static std::collections::BTreeMap<String, String>| {
        let known = categories.iter().filter_map(|(name, _)| names.get(name));
        known.map(String::as_str).collect::<Vec<_>>()
    };
    let page = Page {
        lang: language.as_str(),
        words,
        name: &config.prompts.casino_name_display,
        casino: casino.as_str(),
        phone: &config.operational.contact_phone,
        topics: of(&words.categories).join(", "),
        suggestions: of(&words.suggestions)
            .into_iter()
            .take(MOST_SUGGESTIONS)
            .collect(),
        bare,
    };
    let html = page.render().map_err(|_| Problem::Internal)?;
    let mut response = Html(html).into_response();
    let framed_by = if bare {
        frame_ancestors(&config)
    } else {
        "'none'".to_owned()
    };
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; \
         trusted-types 'none'; frame-ancestors {framed_by}"
    );
    let policy = HeaderValue::from_str(&policy).map_err(|_| Problem::Internal)?;
    response
        .headers_mut()
        .insert(header::CONTENT_SECURITY_POLICY, policy);
    if !bare {
        let deny = HeaderValue::from_static("DENY");
        response.headers_mut().insert(header::X_FRAME_OPTIONS, deny);
    }
    Ok(response)
}

/// Returns the origins that may show the page in a frame: the casino's own domains (WEB-4).
fn frame_ancestors(config: &CasinoConfig) -> String {
    let origin = |domain: &String| match domain.starts_with("localhost") {
        true => format!("http://{domain}"),
        false => format!("https://{domain}"),
    };
    let domains = &config.operational.web_domains;
    if domains.is_empty() {
        return "'none'".to_owned();
    }
    domains.iter().map(origin).collect::<Vec<_>>().join(" ")
}

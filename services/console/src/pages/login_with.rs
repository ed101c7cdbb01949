//! Sends people to their casino's own login provider, and logs them in when they come back.

use askama::Template;
use axum::{
    extract::{Path, Query, State},
    http::{StatusCode, header::SET_COOKIE, request::Parts},
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use seven_staff::{Token, login};

use super::login::{login_page, said};
use crate::{
    access::{attempt_cookie, attempt_of, cookie},
    app::Shared,
    fault::Fault,
    frame::Frame,
    guard::{go_to, shown, words_of},
    provider::Attempt,
};

/// A console page that sends the browser on to the first page. An HTTP redirect would not work:
/// browsers do not send the session's cookie (SameSite=Strict) if the redirect began at the
/// provider.
#[derive(Template)]
#[template(path = "logged_in.html")]
struct LoggedInPage {
    frame: Frame,
}

#[derive(Deserialize)]
pub(crate) struct Back {
    #[serde(default)]
    code: String,
    #[serde(default)]
    state: String,
}

pub(crate) async fn begin(
    State(app): State<Shared>,
    Path(id): Path<String>,
    parts: Parts,
) -> Result<Response, Fault> {
    let provider = app.providers.get(&id).ok_or(Fault::NotFound)?;
    let attempt = Attempt::draw();
    let address = match provider.address(&attempt).await {
        Ok(address) => address,
        Err(error) => {
            tracing::warn!(
                provider = id,
                error = &error as &dyn std::error::Error,
                "a casino's own login cannot be used"
            );
            let words = words_of(&parts.headers);
            let problem = words.t("login_with_away");
            return Ok(login_page(
                &app,
                words,
                problem,
                "",
                StatusCode::BAD_GATEWAY,
            ));
        }
    };
    let mut response = go_to(address.as_str());
    let kept = attempt_cookie(&app, Some((&id, &attempt)));
    response.headers_mut().insert(SET_COOKIE, kept);
    Ok(response)
}

pub(crate) async fn done(
    State(app): State<Shared>,
    Path(id): Path<String>,
    Query(back): Query<Back>,
    parts: Parts,
) -> Result<Response, Fault> {
    let provider = app.providers.get(&id).ok_or(Fault::NotFound)?;
    let words = words_of(&parts.headers);
    let refused = |status, key| {
        let mut page = login_page(&app, words, words.t(key), "", status);
        let headers = page.headers_mut();
        headers.insert(SET_COOKIE, attempt_cookie(&app, None));
        page
    };
    // Only the browser that began a login may complete it, and only once.
    let attempt = attempt_of(&app, &parts, &id)
        .filter(|attempt| Token::read(&back.state).as_ref() == Some(&attempt.state));
    let Some(attempt) = attempt.filter(|_| !back.code.is_empty()) else {
        return Ok(refused(StatusCode::UNAUTHORIZED, "login_with_refused"));
    };
    let now = app.fleet.clock.now();
    let identity = match provider.identity(&back.code, &attempt, now).await {
        Ok(identity) => identity,
        Err(error) => {
            tracing::warn!(
                provider = id,
                error = &error as &dyn std::error::Error,
                "a casino's own login let nobody in"
            );
            return Ok(refused(StatusCode::UNAUTHORIZED, "login_with_refused"));
        }
    };
    let casinos = &provider.settings.casinos;
    match login::with_identity(&app.fleet.store, &identity, &id, casinos).await {
        Ok(token) => {
            let frame = Frame::plain(words, words.t("logged_in"));
            let mut page = shown(&LoggedInPage { frame }).into_response();
            let headers = page.headers_mut();
            headers.append(SET_COOKIE, cookie(&app, Some(&token)));
            headers.append(SET_COOKIE, attempt_cookie(&app, None));
            Ok(page)
        }
        Err(login::Refused::Wrong) => Ok(refused(StatusCode::UNAUTHORIZED, "login_with_unknown")),
        Err(other) => {
            let (status, key) = said(&other)?;
            Ok(refused(status, key))
        }
    }
}

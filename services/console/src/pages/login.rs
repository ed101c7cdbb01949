//! The pages for logging in with a password and then a code, and for logging out.

use askama::Template;
use axum::{
    Form,
    extract::{FromRequest, Request, State},
    http::{HeaderMap, StatusCode, header::SET_COOKIE},
    response::{IntoResponse, Response},
};
use secrecy::SecretString;
use serde::Deserialize;
use seven_staff::login::{self, Refused};

use crate::{
    access::{From, Posted, cookie, token_of},
    app::{App, Shared},
    fault::Fault,
    frame::Frame,
    guard::{go_to, shown, words_of},
    words::Words,
};

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage<'a> {
    frame: Frame,
    problem: &'a str,
    email: &'a str,
    /// Id and name of the casinos' own login providers.
    others: Vec<(&'a str, &'a str)>,
}

#[derive(Template)]
#[template(path = "code.html")]
struct CodePage<'a> {
    frame: Frame,
    problem: &'a str,
}

#[derive(Deserialize)]
pub(crate) struct Password {
    #[serde(default)]
    email: String,
    #[serde(default)]
    password: SecretString,
}

#[derive(Deserialize)]
pub(crate) struct Code {
    #[serde(default)]
    code: String,
}

#[derive(Deserialize)]
pub(crate) struct Nothing {}

pub(crate) async fn show(State(app): State<Shared>, headers: HeaderMap) -> Response {
    login_page(&app, words_of(&headers), "", "", StatusCode::OK)
}

pub(super) fn login_page(
    app: &App,
    words: Words,
    problem: &str,
    email: &str,
    status: StatusCode,
) -> Response {
    let frame = Frame::plain(words, words.t("log_in"));
    let page = LoginPage {
        frame,
        problem,
        email,
        others: app.providers.named().collect(),
    };
    (status, shown(&page)).into_response()
}

pub(crate) async fn password(
    State(app): State<Shared>,
    From(from): From,
    headers: HeaderMap,
    form: Result<Form<Password>, axum::extract::rejection::FormRejection>,
) -> Result<Response, Fault> {
    let words = words_of(&headers);
    let Form(Password { email, password }) = form.map_err(|_| Fault::Forbidden)?;
    let factor = app.console.second_factor;
    match login::with_password(&app.fleet.store, &email, password, &from, factor).await {
        Ok(let_in) if let_in.complete => Ok(with_cookie(&app, Some(&let_in.token), "/")),
        Ok(let_in) => Ok(with_cookie(&app, Some(&let_in.token), "/login/code")),
        Err(refused) => {
            let (status, key) = said(&refused)?;
            Ok(login_page(&app, words, words.t(key), &email, status))
        }
    }
}

pub(crate) async fn show_code(headers: HeaderMap) -> Response {
    code_page(words_of(&headers), "", StatusCode::OK)
}

fn code_page(words: Words, problem: &str, status: StatusCode) -> Response {
    let frame = Frame::plain(words, words.t("code_title"));
    (status, shown(&CodePage { frame, problem })).into_response()
}

pub(crate) async fn code(
    State(app): State<Shared>,
    From(from): From,
    request: Request,
) -> Result<Response, Fault> {
    let (parts, body) = request.into_parts();
    let words = words_of(&parts.headers);
    let token = token_of(&app, &parts).ok_or(Fault::LoggedOut)?;
    let request = Request::from_parts(parts, body);
    let Form(Code { code }) = Form::from_request(request, &app)
        .await
        .map_err(|_| Fault::Forbidden)?;
    let now = app.fleet.clock.now();
    match login::with_code(&app.fleet.store, &token, &code, &from, now).await {
        Ok(token) => Ok(with_cookie(&app, Some(&token), "/")),
        Err(Refused::Wrong) => Err(Fault::LoggedOut),
        Err(refused) => {
            let (status, key) = said(&refused)?;
            Ok(code_page(words, words.t(key), status))
        }
    }
}

pub(crate) async fn out(
    State(app): State<Shared>,
    Posted { person, .. }: Posted<Nothing>,
) -> Result<Response, Fault> {
    login::out(&app.fleet.store, &person.token).await?;
    Ok(with_cookie(&app, None, "/login"))
}

fn with_cookie(app: &App, token: Option<&seven_staff::Token>, to: &str) -> Response {
    let mut response = go_to(to);
    response
        .headers_mut()
        .insert(SET_COOKIE, cookie(app, token));
    response
}

/// Returns the HTTP status of a refused login, and the key for `Words::t` of its message.
pub(super) fn said(refused: &Refused) -> Result<(StatusCode, &'static str), Fault> {
    Ok(match refused {
        Refused::Wrong => (StatusCode::UNAUTHORIZED, "wrong"),
        Refused::TooMany => (StatusCode::TOO_MANY_REQUESTS, "too_many"),
        Refused::WrongCode => (StatusCode::UNAUTHORIZED, "wrong_code"),
        Refused::DeadLink => (StatusCode::NOT_FOUND, "dead_link"),
        Refused::Weak(_) => (StatusCode::UNPROCESSABLE_ENTITY, "password_hint"),
        Refused::Hashing(_) | Refused::Store(_) => {
            tracing::warn!(
                error = refused as &dyn std::error::Error,
                "a login was not checked"
            );
            return Err(Fault::Trouble);
        }
    })
}

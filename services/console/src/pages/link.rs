//! The page behind the link of an invitation or a reset: the person chooses a password and sets up
//! the second factor.

use askama::Template;
use axum::{
    Form,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use qrcode::{Color, QrCode};
use secrecy::SecretString;
use serde::Deserialize;
use seven_domain::LinkPurpose;
use seven_staff::{
    Token,
    factor::Factor,
    login::{self, Entered, Refused},
    password::Weak,
};

use super::login::said;
use crate::{app::Shared, fault::Fault, frame::Frame, guard::shown, guard::words_of, words::Words};

#[derive(Template)]
#[template(path = "link.html")]
struct LinkPage {
    frame: Frame,
    email: String,
    problems: Vec<String>,
    done: bool,
    asks_password: bool,
    asks_factor: bool,
    /// The second factor's key in hex, which the form sends back. `spelled`: the same key as a
    /// person types it.
    key: String,
    spelled: String,
    /// The QR code's side length in modules (squares). `dark`: the dark modules as an SVG path.
    side: usize,
    dark: String,
}

#[derive(Deserialize)]
pub(crate) struct Choice {
    password: Option<SecretString>,
    #[serde(default)]
    key: String,
    #[serde(default)]
    code: String,
}

pub(crate) async fn show(
    State(app): State<Shared>,
    Path(token): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let factor = Factor::draw(&mut rand::rng());
    page(
        &app,
        &token,
        words_of(&headers),
        (factor, Vec::new()),
        StatusCode::OK,
    )
    .await
}

async fn page(
    app: &Shared,
    token: &str,
    words: Words,
    (factor, problems): (Factor, Vec<String>),
    status: StatusCode,
) -> Result<Response, Fault> {
    let found = match Token::read(token) {
        Some(token) => login::link(&app.fleet.store, &token).await,
        None => Err(Refused::DeadLink),
    };
    let (account, purpose) = match found {
        Ok(found) => found,
        Err(refused) => {
            let (status, key) = said(&refused)?;
            return Ok((status, shown(&LinkPage::dead(words, words.t(key)))).into_response());
        }
    };
    let title = match purpose {
        LinkPurpose::Invitation => "welcome",
        LinkPurpose::Password => "new_password",
        LinkPurpose::SecondFactor => "new_factor",
    };
    let asks_factor = login::sets_factor(&account, purpose) && app.console.second_factor;
    let (side, dark) = picture(&factor.address(&account.email));
    let page = LinkPage {
        frame: Frame::plain(words, words.t(title)),
        email: account.email,
        problems,
        done: false,
        asks_password: purpose != LinkPurpose::SecondFactor,
        asks_factor,
        key: hex::encode(factor.bytes()),
        spelled: factor.spelled(),
        side,
        dark,
    };
    Ok((status, shown(&page)).into_response())
}

pub(crate) async fn save(
    State(app): State<Shared>,
    Path(token): Path<String>,
    headers: HeaderMap,
    form: Result<Form<Choice>, axum::extract::rejection::FormRejection>,
) -> Result<Response, Fault> {
    let words = words_of(&headers);
    let Form(choice) = form.map_err(|_| Fault::Forbidden)?;
    let factor = hex::decode(&choice.key).ok();
    let factor = factor.and_then(|key| Factor::read(&key));
    let entered = Entered {
        password: choice.password,
        factor: factor.clone().map(|factor| (factor, choice.code)),
    };
    let needs_factor = app.console.second_factor;
    let saved = match Token::read(&token) {
        Some(token) => {
            let now = app.fleet.clock.now();
            login::use_link(&app.fleet.store, &token, entered, needs_factor, now).await
        }
        None => Err(Refused::DeadLink),
    };
    let problems = match saved {
        Ok(()) => {
            let mut page = LinkPage::dead(words, words.t("done_log_in"));
            page.done = true;
            return Ok(shown(&page).into_response());
        }
        Err(Refused::Weak(weak)) => weak.iter().map(|weak| weak_words(words, *weak)).collect(),
        Err(refused) => vec![words.t(said(&refused)?.1).to_owned()],
    };
    let factor = factor.unwrap_or_else(|| Factor::draw(&mut rand::rng()));
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    page(&app, &token, words, (factor, problems), status).await
}

fn weak_words(words: Words, weak: Weak) -> String {
    let key = match weak {
        Weak::Short => "weak_short",
        Weak::Long => "weak_long",
        Weak::Personal => "weak_personal",
        Weak::Guessed => "weak_guessed",
    };
    words.t(key).to_owned()
}

impl LinkPage {
    /// Returns a page without a form, which shows one sentence.
    fn dead(words: Words, text: &str) -> Self {
        Self {
            frame: Frame::plain(words, text),
            email: String::new(),
            problems: Vec::new(),
            done: false,
            asks_password: false,
            asks_factor: false,
            key: String::new(),
            spelled: String::new(),
            side: 0,
            dark: String::new(),
        }
    }
}

/// Draws a QR code. Returns the side length in modules (squares), and the dark modules as an SVG
/// path.
fn picture(text: &str) -> (usize, String) {
    let Ok(code) = QrCode::new(text) else {
        return (0, String::new());
    };
    let side = code.width();
    let dark = code.to_colors().into_iter().enumerate();
    let path = dark
        .filter(|(_, color)| *color == Color::Dark)
        .map(|(n, _)| format!("M{} {}h1v1h-1z", n % side, n / side))
        .collect();
    (side, path)
}

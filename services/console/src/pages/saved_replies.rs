//! Changes the saved replies that a casino's people keep for guests, and inserts one into the text
//! that a person is writing.

use askama::Template;
use axum::{
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use seven_domain::{CasinoId, Language};
use seven_staff::{
    Right,
    saved_replies::{self, MOST_TITLE, Refused, Wrong},
};
use seven_store::saved_replies::SavedReply;
use uuid::Uuid;

use super::thread::{Place, exists, page as thread};
use crate::{
    access::{Person, Posted},
    app::Shared,
    fault::Fault,
    frame::Frame,
    guard::{go_to, shown},
};

#[derive(Template)]
#[template(path = "saved_replies.html")]
struct RepliesPage {
    frame: Frame,
    casino: CasinoId,
    most_title: usize,
    /// The casino's saved replies, then an empty row to add one.
    rows: Vec<Row>,
}

struct Row {
    /// The reply's id; empty in the row that adds a reply.
    id: String,
    title: String,
    en: String,
    es: String,
    /// The problems of the submitted form, one text per field; empty for none.
    title_problem: String,
    en_problem: String,
    es_problem: String,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Changed {
    /// The reply's id; empty to add a reply.
    #[serde(default)]
    reply: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    en: String,
    #[serde(default)]
    es: String,
    /// `save` or `remove`.
    #[serde(default)]
    what: String,
}

#[derive(Deserialize)]
pub(crate) struct Inserted {
    /// The text that the person has written so far.
    #[serde(default)]
    text: String,
    #[serde(default)]
    saved: String,
}

pub(crate) async fn show(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    person: Person,
) -> Result<Response, Fault> {
    page(&app, &casino, &person, None).await
}

/// Shows the page; `refused` is a form that was not stored, with its problems.
async fn page(
    app: &Shared,
    casino: &CasinoId,
    person: &Person,
    refused: Option<(SavedReply, Vec<Wrong>)>,
) -> Result<Response, Fault> {
    person.needs(casino, Right::Converse)?;
    let mut tx = app.fleet.store.bind(casino).await?;
    let mut replies = tx.saved_replies().await?;
    tx.commit().await?;
    // The last row is a form for a new reply. The nil id of this row matches no stored reply.
    replies.push(SavedReply::default());
    let status = match &refused {
        Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
        None => StatusCode::OK,
    };
    let w = person.words();
    let rows = replies.into_iter().map(|reply| match &refused {
        Some((typed, wrong)) if typed.reply_id == reply.reply_id => {
            Row::of(typed.clone(), |key| w.t(key).to_owned(), wrong)
        }
        _ => Row::of(reply, |key| w.t(key).to_owned(), &[]),
    });
    let page = RepliesPage {
        frame: Frame::of(person, Some(casino), w.t("saved_replies"), "saved_replies"),
        casino: casino.clone(),
        most_title: MOST_TITLE,
        rows: rows.collect(),
    };
    Ok((status, shown(&page)).into_response())
}

impl Row {
    fn of(reply: SavedReply, words: impl Fn(&'static str) -> String, wrong: &[Wrong]) -> Self {
        let problem = |keys: &[(Wrong, &'static str)]| {
            let found = keys.iter().find(|(kind, _)| wrong.contains(kind));
            found.map(|(_, key)| words(key)).unwrap_or_default()
        };
        Self {
            title_problem: problem(&[
                (Wrong::TitleMissing, "saved_title_missing"),
                (Wrong::TitleTooLong, "saved_title_long"),
                (Wrong::TitleTaken, "saved_title_taken"),
            ]),
            en_problem: problem(&[
                (Wrong::NoText, "saved_no_text"),
                (Wrong::TooLong(Language::En), "too_long"),
            ]),
            es_problem: problem(&[(Wrong::TooLong(Language::Es), "too_long")]),
            id: if reply.reply_id.is_nil() {
                String::new()
            } else {
                reply.reply_id.to_string()
            },
            title: reply.title,
            en: reply.en,
            es: reply.es,
        }
    }
}

/// Adds, changes or removes a saved reply.
pub(crate) async fn change(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Posted { person, form }: Posted<Changed>,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Converse)?;
    let known = match form.reply.as_str() {
        "" => None,
        id => Some(id.parse::<Uuid>().map_err(|_| Fault::NotFound)?),
    };
    let by = person.actor();
    let mut tx = app.fleet.store.bind(&casino).await?;
    match (form.what.as_str(), known) {
        ("remove", Some(id)) => saved_replies::remove(&mut tx, id, &by).await?,
        ("save", _) => {
            let row = tx.casino_row().await?.ok_or(Fault::NotFound)?;
            let mut reply = SavedReply {
                reply_id: known.unwrap_or_else(|| app.fleet.ids.uuid()),
                title: form.title,
                en: form.en,
                es: form.es,
            };
            match saved_replies::put(&app.fleet, &mut tx, &row.config, &reply, &by).await {
                Ok(()) => {}
                Err(Refused::Wrong(wrong)) => {
                    tx.rollback().await?;
                    reply.reply_id = known.unwrap_or_default();
                    return page(&app, &casino, &person, Some((reply, wrong))).await;
                }
                Err(Refused::Store(error)) => return Err(error.into()),
                Err(Refused::Pack(error)) => {
                    tracing::error!(
                        error = &error as &dyn std::error::Error,
                        "a saved reply could not be checked"
                    );
                    return Err(Fault::Trouble);
                }
            }
        }
        _ => return Err(Fault::NotFound),
    }
    tx.commit().await?;
    Ok(go_to(&format!("/c/{casino}/replies")))
}

/// Appends a saved reply, in the guest's language, to the text that the person has written.
pub(crate) async fn insert(
    State(app): State<Shared>,
    Path(place): Path<Place>,
    Posted { person, form }: Posted<Inserted>,
) -> Result<Response, Fault> {
    let mut tx = exists(&app, &place, &person, Right::Converse).await?;
    let replies = tx.saved_replies().await?;
    let guest = tx.guest_in(place.1).await?;
    tx.commit().await?;
    let wanted = replies
        .iter()
        .find(|reply| reply.reply_id.to_string() == form.saved);
    let language = guest.and_then(|(_, language)| language).unwrap_or_default();
    let saved = wanted.map_or("", |reply| reply.text(language));
    let draft = match form.text.trim() {
        "" => saved.to_owned(),
        text => format!("{text} {saved}").trim_end().to_owned(),
    };
    thread(&app, &place, &person, (draft, "", StatusCode::OK)).await
}

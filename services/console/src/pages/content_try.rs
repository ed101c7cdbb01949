//! Tries the form of an item without saving it. Shows the form's problems while a person types.
//! Shows the answer that the host would give if it used this item.

use std::collections::BTreeMap;

use askama::Template;
use axum::{
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use chrono::{DateTime, NaiveDateTime, Utc};
use chrono_tz::Tz;
use serde_json::{Map, Value};
use seven_content::{DRAFT, Edit, Error, Outcome, Terms, Work, ask as ask_host, item_of_row, save};
use seven_domain::{CasinoId, ContentSource, RevisionState};
use seven_staff::Right;
use seven_store::content::{Revision, Wanted};

use super::content_form::{Field, fields};
use crate::{
    access::{Person, Posted},
    app::Shared,
    fault::Fault,
    guard::shown,
    words::Words,
};

/// Maximum number of the item's revisions that are read.
const MOST: i64 = 50;
/// Maximum length of a question, in characters.
const MOST_QUESTION: usize = 300;

/// The host's answer to a trial question.
#[derive(Template)]
#[template(path = "content_asked.html")]
struct Asked {
    w: Words,
    /// The answer; `None` if the question is empty.
    reply: Option<String>,
    /// Whether the draft is a source of the answer.
    uses: bool,
}

/// The problems of a form, each shown at its field.
#[derive(Template)]
#[template(path = "content_problems.html")]
struct Problems {
    fields: Vec<Field>,
}

/// Shows the problems of a form while a person fills it in; nothing is stored.
pub(crate) async fn check(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Posted { person, form }: Posted<BTreeMap<String, String>>,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Edit)?;
    let category = form.get("category").cloned().unwrap_or_default();
    let work = Work::begin_if_free(&app.fleet, &casino).await;
    let Some(mut work) = work.map_err(fault)? else {
        // Another writer holds the lock. This check does not wait for the lock: the form is checked
        // again at the next pause in typing.
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    // `None` skips the check whether somebody else has saved the item meanwhile. That check follows
    // when the form is saved.
    let outcome = attempt(&mut work, &person, &form, None).await?;
    let schema = work.schema(&category).cloned();
    work.rollback().await.map_err(fault)?;
    let findings = match outcome {
        Some(Outcome::Saved { findings, .. } | Outcome::Refused { findings, .. }) => findings,
        _ => Vec::new(),
    };
    let fields = fields(person.words(), schema.as_ref(), &form, &findings);
    Ok(shown(&Problems { fields }).into_response())
}

/// Asks the host a question, with the form's item in place of the published one.
pub(crate) async fn ask(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Posted { person, form }: Posted<BTreeMap<String, String>>,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Edit)?;
    let text = |key: &str| form.get(key).map(|text| text.trim()).unwrap_or_default();
    let question: String = text("question").chars().take(MOST_QUESTION).collect();
    let mut work = Work::look(&app.fleet, &casino).await.map_err(fault)?;
    let before = content(&mut work, text("id")).await?;
    let category = text("category");
    let schema = work.schema(category);
    let mut draft = item_of_row(category, &row_of(&form), before.as_ref(), schema);
    // The host ignores an inactive item, but the editor wants to see how the host would use it.
    draft["active"] = Value::Bool(true);
    let answer = match question.is_empty() {
        true => None,
        false => Some(
            ask_host(&mut work, &draft, &question)
                .await
                .map_err(fault)?,
        ),
    };
    work.rollback().await.map_err(fault)?;
    let w = person.words();
    let id = text("id");
    let part = Asked {
        w,
        uses: answer.as_ref().is_some_and(|reply| {
            let draft = if id.is_empty() { DRAFT } else { id };
            reply.sources.iter().any(|source| source == draft)
        }),
        reply: answer.map(|reply| reply.text),
    };
    Ok(shown(&part).into_response())
}

/// Saves the form's item inside the transaction of `work`; the caller commits it or rolls it back.
pub(super) async fn attempt(
    work: &mut Work<'_>,
    person: &Person,
    form: &BTreeMap<String, String>,
    seen: Option<i32>,
) -> Result<Option<Outcome>, Fault> {
    let text = |key: &str| form.get(key).map(String::as_str).unwrap_or_default();
    let (item, category) = (text("id"), text("category"));
    let zone = zone_of(work).await?;
    let before = content(work, item).await?;
    let row = row_of(form);
    let edit = Edit {
        value: item_of_row(category, &row, before.as_ref(), work.schema(category)),
        seen,
        edit: None,
        publish_at: time(text("publish_at"), zone),
        take_down_at: time(text("take_down_at"), zone),
        no_end: text("take_down_at").is_empty(),
    };
    let actor = person.actor();
    let terms = Terms {
        source: ContentSource::Console,
        editor: &actor,
        draft: text("what") == "draft",
        approved_by: None,
        keep_refused: false,
        keep_waiting: false,
    };
    Ok(save(work, &terms, &[edit]).await.map_err(fault)?.pop())
}

/// Returns the item that the form showed: the waiting revision, or else the published one.
async fn content(work: &mut Work<'_>, item: &str) -> Result<Option<Value>, Fault> {
    let revisions = work.tx().revisions(Wanted::Of(item), MOST).await?;
    let waiting = revisions.iter().find(|one| is_waiting(one));
    let shown = waiting.or_else(|| revisions.iter().find(|one| one.current));
    Ok(shown.and_then(|one| one.item.clone()))
}

/// Returns the form's values as a content row, without the fields that only the form uses.
fn row_of(form: &BTreeMap<String, String>) -> Map<String, Value> {
    const OURS: [&str; 5] = ["seen", "what", "publish_at", "take_down_at", "question"];
    form.iter()
        .filter(|(name, _)| !OURS.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), Value::from(value.as_str())))
        .collect()
}

/// Parses a local time of the property. Browsers send such a time without a time zone.
pub(super) fn time(text: &str, zone: Tz) -> Option<DateTime<Utc>> {
    let wall = NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M").ok()?;
    let at = wall.and_local_timezone(zone).earliest()?;
    Some(at.to_utc())
}

async fn zone_of(work: &mut Work<'_>) -> Result<Tz, Fault> {
    let row = work.tx().casino_row().await?.ok_or(Fault::NotFound)?;
    Ok(row.config.operational.timezone)
}

pub(super) fn is_waiting(one: &Revision) -> bool {
    use RevisionState::{Draft, Review, Scheduled};
    matches!(one.state, Draft | Review | Scheduled)
}

pub(super) fn fault(error: Error) -> Fault {
    match error {
        Error::NoCasino | Error::NoRevision { .. } => Fault::NotFound,
        Error::Store(error) => error.into(),
        error => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "content could not be changed"
            );
            Fault::Trouble
        }
    }
}

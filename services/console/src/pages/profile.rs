//! The facts about a guest, and correcting them.

use axum::{
    extract::{Path, State},
    http::StatusCode,
    response::Response,
};
use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Value, json};
use seven_guest::{Key, Profile};
use seven_staff::{
    Right,
    profile::{Corrected, correct, correctable},
};

use super::thread::{Place, back_to, exists, is_readable, page, visible};
use crate::{access::Posted, app::Shared, fault::Fault, words::Words};

#[derive(Deserialize)]
pub(crate) struct Correction {
    /// The field's dotted path.
    #[serde(default)]
    field: String,
    /// Empty to remove the fact.
    #[serde(default)]
    value: String,
}

/// Lists what is known about the guest, with the confidence in each fact now.
pub(super) fn facts(
    document: Option<Value>,
    now: DateTime<Utc>,
    w: Words,
) -> Vec<(String, String)> {
    let read = document.and_then(|document| Profile::from_json(document).ok());
    let context = read
        .map(|read| read.profile.context(now))
        .unwrap_or_default();
    let shown = context.facts.into_iter().map(|fact| {
        let value = match json!(fact.value) {
            Value::String(text) => text,
            other => other.to_string(),
        };
        let sure = format!(
            "{} ({:.0} %)",
            visible(&value),
            fact.confidence.get() * 100.0
        );
        (named(&fact.path, w), sure)
    });
    shown.collect()
}

/// Returns the fields that a person may correct: path and name.
pub(super) fn fields(w: Words) -> Vec<(&'static str, String)> {
    correctable()
        .map(|key| (key.path(), named(key.path(), w)))
        .collect()
}

/// Returns the name of a field; a companion's field is shown by its path.
fn named(path: &str, w: Words) -> String {
    let last = path.rsplit_once('.').map_or(path, |(_, last)| last);
    match Key::at(path) {
        Some(_) => w.of_kind("known", last),
        None => path.replace(['_', '.'], " "),
    }
}

pub(crate) async fn change(
    State(app): State<Shared>,
    Path(place): Path<Place>,
    Posted { person, form }: Posted<Correction>,
) -> Result<Response, Fault> {
    let mut tx = exists(&app, &place, &person, Right::Converse).await?;
    if !is_readable(&mut tx, &place.0, place.1, &person).await? {
        return Err(Fault::NotFound);
    }
    let key = correctable().find(|key| key.path() == form.field);
    let key = key.ok_or(Fault::NotFound)?;
    let (by, now) = (person.actor(), app.fleet.clock.property_now());
    let problem = match correct(&mut tx, place.1, (key, &form.value), &by, now).await? {
        Corrected::Done => {
            tx.commit().await?;
            return Ok(back_to(&app, &place));
        }
        Corrected::Gone => return Err(Fault::NotFound),
        Corrected::Unfit => "field_unfit",
        Corrected::Nothing => "field_unknown",
    };
    tx.rollback().await?;
    let refused = (String::new(), problem, StatusCode::UNPROCESSABLE_ENTITY);
    page(&app, &place, &person, refused).await
}

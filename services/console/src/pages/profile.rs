//! Lists and corrects the facts that are kept about a guest. Also revokes or grants the guest's
//! consent to keeping facts.

use axum::{
    extract::{Path, State},
    http::StatusCode,
    response::Response,
};
use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use serde::Deserialize;
use serde_json::{Value, json};
use seven_guest::{Key, NOTICE, Profile};
use seven_staff::{
    Right,
    profile::{Corrected, correct, correctable, grant_anew, revoke},
};

use super::{
    conversations::clock,
    thread::{Place, back_to, exists, is_readable, page, visible},
};
use crate::{access::Posted, app::Shared, fault::Fault, words::Words};

#[derive(Deserialize)]
pub(crate) struct Correction {
    /// The dotted path of the profile's field.
    #[serde(default)]
    field: String,
    /// The corrected value; empty to remove the fact.
    #[serde(default)]
    value: String,
    /// Empty to correct a fact; `revoke` or `grant` for the consent to keep facts.
    #[serde(default)]
    what: String,
    /// Why the consent is revoked.
    #[serde(default)]
    reason: String,
}

/// Maximum length of a reason, in characters.
const MOST_REASON_CHARS: usize = 500;

/// The facts that are stored about the guest, and the guest's consent to storing them.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Name of each fact, and its value with the present confidence in it.
    pub(super) facts: Vec<(String, String)>,
    /// Sentences about the consent under which facts are kept.
    pub(super) consent: Vec<String>,
    pub(super) revoked: bool,
}

impl Kept {
    pub(super) fn of(
        document: Option<Value>,
        now: DateTime<Utc>,
        w: Words,
        zone: Option<Tz>,
    ) -> Self {
        let read = document.and_then(|document| Profile::from_json(document).ok());
        let Some(profile) = read.map(|read| read.profile) else {
            return Self::default();
        };
        let since = |at| clock(at, zone);
        let mut consent = Vec::new();
        if let Some(last) = profile.grants().last() {
            let why = last.revoked_reason.as_deref().map(visible);
            consent.push(match last.revoked_at {
                None => w
                    .t("kept_since")
                    .replace("{since}", &since(last.granted_at)),
                Some(at) => w
                    .t("kept_no_more")
                    .replace("{since}", &since(at))
                    .replace("{reason}", &why.unwrap_or_default()),
            });
        }
        let older = profile.to_reconsent(NOTICE);
        if older > 0 {
            consent.push(w.t("kept_older").replace("{facts}", &older.to_string()));
        }
        Self {
            facts: facts(&profile, now, w),
            consent,
            revoked: profile.is_revoked(),
        }
    }
}

/// Lists the facts that are known about the guest, with the present confidence in each.
fn facts(profile: &Profile, now: DateTime<Utc>, w: Words) -> Vec<(String, String)> {
    let shown = profile.context(now).facts.into_iter().map(|fact| {
        let sure = format!(
            "{} ({:.0} %)",
            visible(&plain(&json!(fact.value))),
            fact.confidence.get() * 100.0
        );
        (named(&fact.path, w), sure)
    });
    shown.collect()
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// Returns the fields that a person may correct: path and name.
pub(super) fn fields(w: Words) -> Vec<(&'static str, String)> {
    correctable()
        .map(|key| (key.path(), named(key.path(), w)))
        .collect()
}

/// Returns the name of a field. The fields about a companion have no names, so their path is
/// returned.
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
    let (by, now) = (person.actor(), app.fleet.clock.property_now());
    let done = match form.what.as_str() {
        "revoke" => {
            let reason = form.reason.trim();
            let is_long = reason.chars().count() > MOST_REASON_CHARS;
            if reason.is_empty() || is_long || reason.chars().any(char::is_control) {
                Corrected::Unfit
            } else {
                revoke(&mut tx, place.1, reason, &by, now).await?
            }
        }
        "grant" => grant_anew(&mut tx, place.1, app.fleet.ids.uuid(), &by, now).await?,
        _ => {
            let key = correctable().find(|key| key.path() == form.field);
            let key = key.ok_or(Fault::NotFound)?;
            correct(&mut tx, place.1, (key, &form.value), &by, now).await?
        }
    };
    let problem = match done {
        Corrected::Done => {
            tx.commit().await?;
            return Ok(back_to(&app, &place));
        }
        Corrected::Gone => return Err(Fault::NotFound),
        Corrected::Unfit if form.what == "revoke" => "kept_no_reason",
        Corrected::Revoked => "kept_is_revoked",
        Corrected::Unreadable => "kept_unreadable",
        Corrected::Nothing if form.what == "grant" => "kept_is_granted",
        Corrected::Unfit => "field_unfit",
        Corrected::Nothing => "field_unknown",
    };
    tx.rollback().await?;
    let refused = (String::new(), problem, StatusCode::UNPROCESSABLE_ENTITY);
    page(&app, &place, &person, refused).await
}

//! Publishes several waiting revisions as one change, for example at the beginning of a season
//! (D31).

use std::collections::BTreeMap;

use askama::Template;
use axum::{
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use seven_content::{Error, Work, publish_all};
use seven_domain::{CasinoId, RevisionState};
use seven_staff::Right;
use seven_store::content::{Decided, ListedItem};

use super::{content::state, content_item::said, content_try::fault};
use crate::{
    access::{Person, Posted},
    app::Shared,
    fault::Fault,
    frame::Frame,
    guard::shown,
    words::Words,
};

/// Prefix of the names of the form's check boxes. The item's id follows the prefix.
const PICK: &str = "pick:";
/// Prefix of the names of the form's fields that hold the shown revision of an item. The item's id
/// follows the prefix.
const SEEN: &str = "seen:";
const ALL: &str = "all";

#[derive(Template)]
#[template(path = "content_together.html")]
struct Page {
    frame: Frame,
    casino: CasinoId,
    rows: Vec<Row>,
    /// Why nothing was published: item names and problems.
    problems: Vec<(String, String)>,
    /// After publishing: the number of items that are published now, then the number that are
    /// scheduled.
    done: Option<(usize, usize)>,
}

struct Row {
    id: String,
    name: String,
    category: String,
    state: &'static str,
    revision: i32,
    picked: bool,
}

pub(crate) async fn show(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    person: Person,
) -> Result<Response, Fault> {
    let page = Page::read(&app, &casino, &person, &BTreeMap::new()).await?;
    Ok(shown(&page).into_response())
}

/// Publishes all picked revisions as they were shown, or none of them.
pub(crate) async fn publish(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Posted { person, form }: Posted<BTreeMap<String, String>>,
) -> Result<Response, Fault> {
    let mut page = Page::read(&app, &casino, &person, &form).await?;
    let actor = person.actor();
    let whats = picked(&form, &actor);
    if whats.is_empty() {
        page.problems
            .push((String::new(), person.words().t("together_pick").to_owned()));
        return Ok((StatusCode::UNPROCESSABLE_ENTITY, shown(&page)).into_response());
    }
    let mut work = Work::begin(&app.fleet, &casino).await.map_err(fault)?;
    let outcomes = publish_all(&mut work, &whats, &[&person.session.email]).await;
    let outcomes = outcomes.map_err(fault)?;
    let name_of = |what: &Decided<'_>| {
        let row = page.rows.iter().find(|row| row.id == what.item_id);
        row.map_or_else(|| what.item_id.to_owned(), |row| row.name.clone())
    };
    let told = |(what, outcome): (&Decided<'_>, &Result<RevisionState, Error>)| {
        let error = outcome.as_ref().err()?;
        Some((name_of(what), refused(person.words(), error)))
    };
    let problems: Vec<(String, String)> = whats.iter().zip(&outcomes).filter_map(told).collect();
    if !problems.is_empty() {
        work.rollback().await.map_err(fault)?;
        page.problems = problems;
        return Ok((StatusCode::CONFLICT, shown(&page)).into_response());
    }
    work.commit().await.map_err(fault)?;
    app.hints.changed(&casino);
    let all = outcomes.len();
    let later = outcomes.into_iter().flatten();
    let later = later
        .filter(|state| *state == RevisionState::Scheduled)
        .count();
    let mut page = Page::read(&app, &casino, &person, &BTreeMap::new()).await?;
    page.done = Some((all - later, later));
    Ok(shown(&page).into_response())
}

/// Returns the revisions that the form picks. If the form has the field `all`, these are the
/// revisions of all rows, otherwise those of the checked rows. A number that cannot be parsed
/// becomes 0, which no revision has.
fn picked<'a>(form: &'a BTreeMap<String, String>, by: &'a str) -> Vec<Decided<'a>> {
    let prefix = if form.contains_key(ALL) { SEEN } else { PICK };
    let pick = |(name, revision): (&'a String, &'a String)| {
        Some(Decided {
            item_id: name.strip_prefix(prefix)?,
            revision: revision.parse().unwrap_or_default(),
            by,
            reason: "",
        })
    };
    form.iter().filter_map(pick).collect()
}

/// Returns, in words, why a revision cannot be published. One such revision prevents the
/// publication of all.
fn refused(w: Words, error: &Error) -> String {
    match error {
        Error::Moved { .. } | Error::NotWaiting { .. } | Error::NoRevision { .. } => {
            w.t("together_moved").to_owned()
        }
        other => said(w, other),
    }
}

impl Page {
    async fn read(
        app: &Shared,
        casino: &CasinoId,
        person: &Person,
        form: &BTreeMap<String, String>,
    ) -> Result<Self, Fault> {
        person.needs(casino, Right::Approve)?;
        let mut tx = app.fleet.store.bind(casino).await?;
        let items = tx.listed_items(None).await?;
        tx.commit().await?;
        let w = person.words();
        let row = |item: &ListedItem| {
            let pick = form.contains_key(&format!("{PICK}{}", item.item_id));
            Some(Row {
                id: item.item_id.clone(),
                name: item.name.clone(),
                category: w.of_kind("category", &item.category),
                state: w.t(state(item)),
                revision: item.waiting?,
                picked: pick || form.contains_key(ALL),
            })
        };
        Ok(Self {
            frame: Frame::of(person, Some(casino), w.t("together"), "content"),
            casino: casino.clone(),
            rows: items
                .iter()
                .filter(|item| item.awaits_people())
                .filter_map(row)
                .collect(),
            problems: Vec::new(),
            done: None,
        })
    }
}

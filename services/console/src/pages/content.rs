//! The casino's content: its items by category, and the revisions that wait for a person (D31).

use askama::Template;
use axum::{
    extract::{Path, Query, State},
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use seven_domain::{CasinoId, RevisionState};
use seven_staff::Right;
use seven_store::content::ListedItem;

use super::conversations::clock;
use crate::{access::Person, app::Shared, fault::Fault, frame::Frame, guard::shown};

#[derive(Template)]
#[template(path = "content.html")]
struct ContentPage {
    frame: Frame,
    casino: CasinoId,
    may_edit: bool,
    may_approve: bool,
    categories: Vec<Category>,
    /// The category whose items are listed.
    here: String,
    waiting: Vec<Row>,
    /// The search words for the names of items; empty without a search.
    find: String,
    rows: Vec<Row>,
    /// Number of items that match but are not shown.
    more: usize,
}

/// Maximum number of items on the page; a search by name finds the others.
const MOST: usize = 200;

struct Category {
    id: String,
    name: String,
    items: usize,
}

struct Row {
    id: String,
    name: String,
    category: String,
    state: &'static str,
    alarm: bool,
    english_only: bool,
    changed: String,
}

#[derive(Deserialize)]
pub(crate) struct Chosen {
    #[serde(default)]
    category: String,
    #[serde(default)]
    find: String,
}

pub(crate) async fn show(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Query(chosen): Query<Chosen>,
    person: Person,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Content)?;
    let mut tx = app.fleet.store.bind(&casino).await?;
    let row = tx.casino_row().await?.ok_or(Fault::NotFound)?;
    let items = tx.listed_items(None).await?;
    tx.commit().await?;
    let zone = Some(row.config.operational.timezone);
    let w = person.words();
    let declared = app.fleet.packs.of(&row.config).ok();
    let declared = declared
        .iter()
        .flat_map(|pack| pack.agents.categories.names());
    let mut ids: Vec<String> = declared.map(str::to_owned).collect();
    ids.extend(items.iter().map(|item| item.category.clone()));
    ids.sort();
    ids.dedup();
    let here = ids
        .iter()
        .find(|id| **id == chosen.category)
        .or(ids.first());
    let here = here.cloned().unwrap_or_default();
    let shown_row = |item: &ListedItem| Row {
        id: item.item_id.clone(),
        name: item.name.clone(),
        category: w.of_kind("category", &item.category),
        state: w.t(state(item)),
        alarm: matches!(
            item.waits,
            Some(RevisionState::Review | RevisionState::Rejected)
        ),
        english_only: item.english_only,
        changed: clock(item.updated_at, zone),
    };
    let find = chosen.find.trim().to_lowercase();
    let found: Vec<&ListedItem> = items
        .iter()
        .filter(|item| item.category == here && item.name.to_lowercase().contains(&find))
        .collect();
    let page = ContentPage {
        frame: Frame::of(&person, Some(&casino), w.t("content"), "content"),
        may_edit: person.may(&casino, Right::Edit),
        may_approve: person.may(&casino, Right::Approve),
        categories: ids
            .iter()
            .map(|id| Category {
                id: id.clone(),
                name: w.of_kind("category", id),
                items: items.iter().filter(|item| item.category == *id).count(),
            })
            .collect(),
        waiting: items
            .iter()
            .filter(|item| item.waits.is_some())
            .take(MOST)
            .map(shown_row)
            .collect(),
        more: found.len().saturating_sub(MOST),
        rows: found.into_iter().take(MOST).map(shown_row).collect(),
        find: chosen.find,
        here,
        casino,
    };
    Ok(shown(&page).into_response())
}

/// Returns the key with which `Words::t` names an item's state. A revision that waits takes
/// precedence over the published one.
pub(super) fn state(item: &ListedItem) -> &'static str {
    match (item.waits, item.active) {
        (Some(RevisionState::Draft), _) => "content_draft",
        (Some(RevisionState::Review), _) => "content_review",
        (Some(RevisionState::Scheduled), _) => "content_scheduled",
        (Some(RevisionState::Rejected), _) => "content_rejected",
        (_, true) => "content_on",
        (_, false) => "content_off",
    }
}

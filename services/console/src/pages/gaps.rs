//! Shows the gaps of the content: questions that the host could not answer, in groups, and items
//! without a Spanish text. The questions contain nothing that identifies a guest.

use askama::Template;
use axum::{
    extract::{Path, Query, State},
    response::{IntoResponse, Response},
};
use chrono::Days;
use serde::Deserialize;
use seven_content::questions::asked_in_vain;
use seven_domain::CasinoId;
use seven_staff::Right;

use super::conversations::clock;
use crate::{access::Person, app::Shared, fault::Fault, frame::Frame, guard::shown};

/// Maximum number of groups on the page. `MOST_ITEMS`: maximum number of items without a Spanish
/// text.
const MOST_GROUPS: usize = 50;
const MOST_ITEMS: usize = 200;
/// The lengths of the period to choose from, in weeks.
const WEEKS: [u64; 4] = [1, 2, 4, 12];

#[derive(Template)]
#[template(path = "gaps.html")]
struct GapsPage {
    frame: Frame,
    casino: CasinoId,
    may_edit: bool,
    weeks: u64,
    choices: [u64; 4],
    groups: Vec<Row>,
    more: usize,
    /// Name, id and category of the items without a Spanish text.
    english_only: Vec<(String, String, String)>,
    more_items: usize,
}

struct Row {
    example: String,
    texts: usize,
    guests: usize,
    last: String,
}

#[derive(Deserialize)]
pub(crate) struct Chosen {
    #[serde(default)]
    weeks: String,
}

pub(crate) async fn show(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Query(chosen): Query<Chosen>,
    person: Person,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Content)?;
    let weeks = chosen.weeks.parse().ok();
    let weeks = weeks.filter(|weeks| WEEKS.contains(weeks)).unwrap_or(4);
    let now = app.fleet.clock.now();
    let since = now - Days::new(7 * weeks);
    let mut tx = app.fleet.store.bind(&casino).await?;
    let row = tx.casino_row().await?.ok_or(Fault::NotFound)?;
    let items = tx.listed_items(None).await?;
    let groups = asked_in_vain(&mut tx, since..now, &items).await?;
    tx.commit().await?;
    let zone = Some(row.config.operational.timezone);
    let w = person.words();
    let missing = items.iter().filter(|item| item.active && item.english_only);
    let missing: Vec<_> = missing
        .map(|item| {
            let category = w.of_kind("category", &item.category);
            (item.name.clone(), item.item_id.clone(), category)
        })
        .collect();
    let page = GapsPage {
        frame: Frame::of(&person, Some(&casino), w.t("gaps"), "content"),
        may_edit: person.may(&casino, Right::Edit),
        casino,
        weeks,
        choices: WEEKS,
        more: groups.len().saturating_sub(MOST_GROUPS),
        groups: groups
            .into_iter()
            .take(MOST_GROUPS)
            .map(|group| Row {
                example: group.example,
                texts: group.texts,
                guests: group.guests,
                last: clock(group.last_at, zone),
            })
            .collect(),
        more_items: missing.len().saturating_sub(MOST_ITEMS),
        english_only: missing.into_iter().take(MOST_ITEMS).collect(),
    };
    Ok(shown(&page).into_response())
}

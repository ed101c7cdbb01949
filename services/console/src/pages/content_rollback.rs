//! Restores a category, or all content, to its state at an earlier time. The page shows the
//! differences first (D31).

use askama::Template;
use axum::{
    extract::{Path, Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use seven_content::{Past, Restored, RolledBack, Terms, preview, roll_back};
use seven_domain::{CasinoId, ContentSource};
use seven_staff::Right;

use super::content_try::{fault, time};
use crate::{
    access::{Person, Posted},
    app::Shared,
    fault::Fault,
    frame::Frame,
    guard::shown,
};

/// The approval reason that the history shows. Restored contents need no second person, because
/// they were published before.
const REASON: &str = "rollback";

#[derive(Template)]
#[template(path = "content_rollback.html")]
struct Page {
    frame: Frame,
    casino: CasinoId,
    /// Id and name of each category.
    categories: Vec<(String, String)>,
    wanted: Wanted,
    planned: Option<Shown>,
    problem: String,
    done: bool,
}

/// The changes that the rollback would make.
struct Shown {
    changed: Vec<(String, Vec<String>)>,
    off: Vec<String>,
    /// Names of items whose waiting revision would be withdrawn.
    withdrawn: Vec<String>,
    purged: Vec<String>,
    unchanged: usize,
    /// Digest of the planned changes; empty if there are none.
    seal: String,
}

#[derive(Default, Deserialize)]
pub(crate) struct Wanted {
    /// A wall-clock time in the casino's time zone, as a browser writes it.
    #[serde(default)]
    at: String,
    /// The category to restore; empty for all.
    #[serde(default)]
    category: String,
    /// The digest of the changes that the person was shown; empty before that.
    #[serde(default)]
    seal: String,
}

pub(crate) async fn show(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Query(wanted): Query<Wanted>,
    person: Person,
) -> Result<Response, Fault> {
    let mut page = Page::of(&app, &casino, &person, wanted).await?;
    if !page.wanted.at.is_empty() {
        page.plan(&app, &person).await?;
    }
    Ok(shown(&page).into_response())
}

pub(crate) async fn restore(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Posted { person, form }: Posted<Wanted>,
) -> Result<Response, Fault> {
    let mut page = Page::of(&app, &casino, &person, form).await?;
    let w = person.words();
    let actor = person.actor();
    let Some(past) = page.past(&app).await? else {
        page.problem = w.t("rollback_no_time").to_owned();
        return Ok((StatusCode::UNPROCESSABLE_ENTITY, shown(&page)).into_response());
    };
    let done = roll_back(&app.fleet, &casino, &terms(&actor), past, &page.wanted.seal).await;
    match done.map_err(fault)? {
        RolledBack::Done => {
            app.hints.changed(&casino);
            page.done = true;
            return Ok(shown(&page).into_response());
        }
        RolledBack::Moved => {
            page.problem = w.t("rollback_moved").to_owned();
            page.plan(&app, &person).await?;
        }
        RolledBack::Unfit(items) => {
            page.problem = format!("{} {}", w.t("rollback_unfit"), items.join(", "));
        }
    }
    Ok((StatusCode::CONFLICT, shown(&page)).into_response())
}

fn terms(by: &str) -> Terms<'_> {
    Terms {
        source: ContentSource::Console,
        editor: by,
        draft: false,
        approved_by: Some(REASON),
        keep_refused: false,
        keep_waiting: false,
    }
}

impl Page {
    async fn of(
        app: &Shared,
        casino: &CasinoId,
        person: &Person,
        wanted: Wanted,
    ) -> Result<Self, Fault> {
        person.needs(casino, Right::Approve)?;
        let mut tx = app.fleet.store.bind(casino).await?;
        let items = tx.listed_items(None).await?;
        tx.commit().await?;
        let w = person.words();
        let mut ids: Vec<String> = items.into_iter().map(|item| item.category).collect();
        ids.sort();
        ids.dedup();
        let named = |id: String| {
            let name = w.of_kind("category", &id);
            (id, name)
        };
        Ok(Self {
            frame: Frame::of(person, Some(casino), w.t("rollback"), "content"),
            casino: casino.clone(),
            categories: ids.into_iter().map(named).collect(),
            wanted,
            planned: None,
            problem: String::new(),
            done: false,
        })
    }

    /// Returns the time and the category to restore; `None` if the form has no time in the past.
    async fn past(&self, app: &Shared) -> Result<Option<Past<'_>>, Fault> {
        let mut tx = app.fleet.store.bind(&self.casino).await?;
        let row = tx.casino_row().await?.ok_or(Fault::NotFound)?;
        tx.commit().await?;
        let at = time(&self.wanted.at, row.config.operational.timezone);
        let category = Some(self.wanted.category.as_str());
        Ok(at.filter(|at| *at < app.fleet.clock.now()).map(|at| Past {
            at,
            category: category.filter(|category| !category.is_empty()),
        }))
    }

    async fn plan(&mut self, app: &Shared, person: &Person) -> Result<(), Fault> {
        let actor = person.actor();
        let planned = match self.past(app).await? {
            Some(past) => preview(&app.fleet, &self.casino, &terms(&actor), past).await,
            None => {
                self.problem = person.words().t("rollback_no_time").to_owned();
                return Ok(());
            }
        };
        self.planned = Some(Shown::of(&planned.map_err(fault)?));
        Ok(())
    }
}

impl Shown {
    fn of(planned: &Restored) -> Self {
        let changed = planned.changed.iter().map(|(name, fields)| {
            let fields = fields.iter().map(ToString::to_string).collect();
            (name.clone(), fields)
        });
        Self {
            changed: changed.collect(),
            off: planned.off.clone(),
            withdrawn: planned.withdrawn.clone(),
            purged: planned.purged.clone(),
            unchanged: planned.unchanged,
            seal: match planned.is_empty() {
                true => String::new(),
                false => planned.seal(),
            },
        }
    }
}

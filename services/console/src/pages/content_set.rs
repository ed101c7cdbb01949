//! The casino's own questions, which its content must be able to answer. People add questions,
//! including those that guests asked in vain, and run all of them against the content.

use std::collections::HashMap;

use askama::Template;
use axum::{
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use seven_content::run_set;
use seven_domain::CasinoId;
use seven_staff::Right;
use seven_store::content::{ListedItem, Run, SetQuestion};
use uuid::Uuid;

use super::{content_try::fault, conversations::clock};
use crate::{
    access::{Person, Posted},
    app::Shared,
    fault::Fault,
    frame::Frame,
    guard::{go_to, shown},
};

/// Maximum number of runs that the page lists. A run asks all of the questions.
const MOST_RUNS: i64 = 10;
const MOST_CHARS: usize = 300;
/// Maximum number of items that a question may expect.
const MOST_EXPECTED: usize = 3;

#[derive(Template)]
#[template(path = "content_set.html")]
struct Page {
    frame: Frame,
    casino: CasinoId,
    may_edit: bool,
    /// Names of the active items, which the form suggests.
    names: Vec<String>,
    typed: Form,
    problem: &'static str,
    rows: Vec<Row>,
    runs: Vec<ShownRun>,
}

struct Row {
    id: Uuid,
    question: String,
    expected: String,
    by: String,
    /// Whether the newest run included this question.
    asked: bool,
    /// The items that the newest run found instead of the expected ones. `None` if the newest run
    /// found the expected ones, or did not include the question.
    missed: Option<String>,
}

struct ShownRun {
    at: String,
    by: String,
    questions: i32,
    recall: String,
    mrr: String,
    precise: String,
}

#[derive(Default, Deserialize)]
pub(crate) struct Form {
    #[serde(default)]
    what: String,
    #[serde(default)]
    question: String,
    /// Names or ids of items, separated by semicolons.
    #[serde(default)]
    expected: String,
    #[serde(default)]
    id: String,
}

pub(crate) async fn show(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    person: Person,
) -> Result<Response, Fault> {
    let page = Page::read(&app, &casino, &person, Form::default(), "").await?;
    Ok(shown(&page).into_response())
}

pub(crate) async fn change(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Posted { person, form }: Posted<Form>,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Edit)?;
    let actor = person.actor();
    let problem = match form.what.as_str() {
        "run" => {
            run_set(&app.fleet, &casino, &actor).await.map_err(fault)?;
            None
        }
        "remove" => {
            let mut tx = app.fleet.store.bind(&casino).await?;
            tx.remove_set_question(form.id.parse().unwrap_or_default())
                .await?;
            tx.commit().await?;
            None
        }
        "add" => add(&app, &casino, &form, &actor).await?,
        // Fills the form with a guest's question. The question is posted, so that it never appears
        // in a URL.
        "join" => {
            let page = Page::read(&app, &casino, &person, form, "").await?;
            return Ok(shown(&page).into_response());
        }
        _ => return Err(Fault::NotFound),
    };
    match problem {
        None => Ok(go_to(&format!("/c/{casino}/content/set"))),
        Some(problem) => {
            let page = Page::read(&app, &casino, &person, form, problem).await?;
            Ok((StatusCode::UNPROCESSABLE_ENTITY, shown(&page)).into_response())
        }
    }
}

/// Adds a question. If it cannot be added, returns the problem's key for `Words::t`.
async fn add(
    app: &Shared,
    casino: &CasinoId,
    form: &Form,
    by: &str,
) -> Result<Option<&'static str>, Fault> {
    let question = form.question.trim().to_owned();
    let length = question.chars().count();
    if length == 0 || length > MOST_CHARS || question.contains('\0') {
        return Ok(Some("set_no_question"));
    }
    let mut tx = app.fleet.store.bind(casino).await?;
    let items = tx.listed_items(None).await?;
    let Some(expected) = items_named(&form.expected, &items) else {
        return Ok(Some("set_no_item"));
    };
    let new = SetQuestion {
        question_id: app.fleet.ids.uuid(),
        question,
        expected,
        added_by: by.to_owned(),
        added_at: app.fleet.clock.now(),
    };
    let added = tx.add_set_question(&new).await?;
    // A new content version makes the swarm compute the question's vector, too.
    let version = match added && tx.content_space().await?.is_some() {
        true => Some(tx.raise_content_version().await?),
        false => None,
    };
    tx.commit().await?;
    if let Some(version) = version {
        seven_content::announce(&app.fleet, casino, version).await;
    }
    Ok((!added).then_some("set_not_added"))
}

/// Returns the ids of the items that the text names by name or id. `None` if one of them is
/// unknown, or if the text names no item or more than `MOST_EXPECTED`.
fn items_named(text: &str, items: &[ListedItem]) -> Option<Vec<String>> {
    let id = |name: &str| {
        let same = |item: &&ListedItem| {
            item.item_id == name || item.name.to_lowercase() == name.to_lowercase()
        };
        items.iter().find(same).map(|item| item.item_id.clone())
    };
    let names = text
        .split(';')
        .map(str::trim)
        .filter(|name| !name.is_empty());
    let ids: Option<Vec<String>> = names.map(id).collect();
    ids.filter(|ids| (1..=MOST_EXPECTED).contains(&ids.len()))
}

impl Page {
    async fn read(
        app: &Shared,
        casino: &CasinoId,
        person: &Person,
        typed: Form,
        problem: &'static str,
    ) -> Result<Self, Fault> {
        person.needs(casino, Right::Content)?;
        let mut tx = app.fleet.store.bind(casino).await?;
        let row = tx.casino_row().await?.ok_or(Fault::NotFound)?;
        let items = tx.listed_items(None).await?;
        let set = tx.set_questions().await?;
        let runs = tx.runs(MOST_RUNS).await?;
        let staff = tx.staff_names().await?;
        tx.commit().await?;
        let names: HashMap<&str, &str> = items
            .iter()
            .map(|item| (item.item_id.as_str(), item.name.as_str()))
            .collect();
        let named = |ids: &[String]| {
            let name = |id: &String| {
                names
                    .get(id.as_str())
                    .map_or(id.clone(), |n| (*n).to_owned())
            };
            ids.iter().map(name).collect::<Vec<_>>().join("; ")
        };
        let w = person.words();
        let zone = Some(row.config.operational.timezone);
        let who = |by: &str| super::conversations::name_of(&staff, by);
        Ok(Self {
            frame: Frame::of(person, Some(casino), w.t("set"), "content"),
            casino: casino.clone(),
            may_edit: person.may(casino, Right::Edit),
            problem: if problem.is_empty() { "" } else { w.t(problem) },
            typed,
            rows: set
                .iter()
                .map(|one| Row {
                    id: one.question_id,
                    question: one.question.clone(),
                    expected: named(&one.expected),
                    by: who(&one.added_by),
                    asked: runs.first().is_some_and(|run| run.ran_at >= one.added_at),
                    missed: runs
                        .first()
                        .and_then(|run| missed(run, one))
                        .map(|f| named(&f)),
                })
                .collect(),
            runs: runs
                .iter()
                .map(|run| ShownRun {
                    at: clock(run.ran_at, zone),
                    by: who(&run.ran_by),
                    questions: run.questions,
                    recall: percent(run.recall),
                    mrr: format!("{:.2}", run.mrr),
                    precise: run.precise.map_or_else(|| "–".to_owned(), percent),
                })
                .collect(),
            names: items
                .iter()
                .filter(|item| item.active)
                .map(|item| item.name.clone())
                .collect(),
        })
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Returns the ids of the items that a run found instead of the expected ones. `None` if the run
/// found the expected ones or did not ask the question.
fn missed(run: &Run, question: &SetQuestion) -> Option<Vec<String>> {
    let id = question.question_id.to_string();
    let misses = run.misses.as_array()?;
    let miss = misses
        .iter()
        .find(|miss| miss["question_id"] == id.as_str())?;
    let found = miss["found"].as_array().into_iter().flatten();
    Some(
        found
            .filter_map(|id| Some(id.as_str()?.to_owned()))
            .collect(),
    )
}

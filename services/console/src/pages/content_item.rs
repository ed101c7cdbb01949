//! One item of the casino's content: the form made from the pack's schema, its history, and what a
//! second person decides.

use std::collections::BTreeMap;

use askama::Template;
use axum::{
    extract::{Path, Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use chrono::{DateTime, NaiveDateTime, Utc};
use chrono_tz::Tz;
use serde::Deserialize;
use serde_json::{Map, Value};
use seven_content::{
    DRAFT, Edit, Error, Finding, Outcome, Terms, Work, ask as ask_host, diff::changes, item_of_row,
    publish, reject, save, undo, withdraw,
};
use seven_domain::{CasinoId, ContentSource, RevisionState};
use seven_staff::Right;
use seven_store::content::{Decided, Revision, Wanted};

use super::{
    content_form::{Field, field_of, fields, typed},
    conversations::{clock, name_of},
};
use crate::{
    access::{Person, Posted},
    app::Shared,
    fault::Fault,
    frame::Frame,
    guard::{go_to, shown},
    words::Words,
};

/// Revisions of the item that are shown.
const MOST: i64 = 50;
const MOST_REASON: usize = 300;

#[derive(Template)]
#[template(path = "content_item.html")]
struct ItemPage {
    frame: Frame,
    casino: CasinoId,
    /// Empty for an item that does not exist yet.
    item: String,
    category: String,
    category_name: String,
    /// The newest revision that this page knows.
    seen: i32,
    /// The revision that guests get; 0 for none.
    current: i32,
    fields: Vec<Field>,
    /// Problems that belong to no field of the form.
    problems: Vec<String>,
    /// The revision that waits, or the newest one when it was refused.
    waiting: Option<ShownRevision>,
    /// Whether it can be published or refused; a refused one can only be dismissed.
    may_publish: bool,
    history: Vec<ShownRevision>,
    may_edit: bool,
    may_decide: bool,
    may_undo: bool,
}

/// The host's answer from a draft.
#[derive(Template)]
#[template(path = "content_asked.html")]
struct Asked {
    w: Words,
    /// `None` when nothing was asked.
    reply: Option<String>,
    /// Whether the answer is made from the draft.
    uses: bool,
}

/// The problems beside the fields, each in the place that its field has for them.
#[derive(Template)]
#[template(path = "content_problems.html")]
struct Problems {
    fields: Vec<Field>,
}

struct ShownRevision {
    revision: i32,
    state: &'static str,
    by: String,
    saved: String,
    source: String,
    decided: String,
    reason: String,
    findings: Vec<String>,
    changes: Vec<String>,
}

#[derive(Deserialize)]
pub(crate) struct New {
    #[serde(default)]
    category: String,
}

/// A form that is shown again because it was refused.
struct Refused {
    values: BTreeMap<String, String>,
    findings: Vec<Finding>,
    /// A problem that belongs to no field.
    problem: String,
    status: StatusCode,
}

pub(crate) async fn show(
    State(app): State<Shared>,
    Path((casino, item)): Path<(CasinoId, String)>,
    person: Person,
) -> Result<Response, Fault> {
    page(&app, &casino, &person, (&item, ""), None).await
}

pub(crate) async fn new(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Query(new): Query<New>,
    person: Person,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Edit)?;
    page(&app, &casino, &person, ("", &new.category), None).await
}

async fn page(
    app: &Shared,
    casino: &CasinoId,
    person: &Person,
    (item, category): (&str, &str),
    refused: Option<Refused>,
) -> Result<Response, Fault> {
    person.needs(casino, Right::Content)?;
    let mut tx = app.fleet.store.bind(casino).await?;
    let row = tx.casino_row().await?.ok_or(Fault::NotFound)?;
    let revisions = tx.revisions(Wanted::Of(item), MOST).await?;
    let names = tx.staff_names().await?;
    tx.commit().await?;
    if revisions.is_empty() && !item.is_empty() {
        return Err(Fault::NotFound);
    }
    let (w, zone) = (person.words(), row.config.operational.timezone);
    let newest = revisions.first();
    let category = newest.map_or(category, |newest| newest.category.as_str());
    let shown_revision = |one: &Revision| ShownRevision::of(one, &revisions, (w, zone), &names);
    let waiting = revisions.iter().find(|one| is_waiting(one));
    // The newest one may have been refused; its editor reads why.
    let refused_one = newest.filter(|one| one.state == RevisionState::Rejected);
    let open = waiting.or(refused_one);
    let content = waiting.or_else(|| revisions.iter().find(|one| one.current));
    let values = match &refused {
        Some(refused) => refused.values.clone(),
        None => typed(content.or(newest), zone),
    };
    let findings = refused
        .as_ref()
        .map_or(&[][..], |refused| &refused.findings);
    let pack = app.fleet.packs.of(&row.config).ok();
    let schema = pack.and_then(|pack| pack.agents.categories.get(&category.into()));
    let fields = fields(w, schema, &values, findings);
    let mut problems: Vec<String> = findings
        .iter()
        .filter(|finding| fields.iter().all(|field| field.name != field_of(finding)))
        .map(ToString::to_string)
        .collect();
    problems.extend(
        refused
            .iter()
            .map(|r| r.problem.clone())
            .filter(|p| !p.is_empty()),
    );
    let title = newest.map_or_else(|| w.t("content_new").to_owned(), |one| one.name.clone());
    let may_edit = person.may(casino, Right::Edit);
    let published = revisions
        .iter()
        .filter(|one| one.state == RevisionState::Published);
    let page = ItemPage {
        frame: Frame::of(person, Some(casino), &title, "content"),
        casino: casino.clone(),
        item: item.to_owned(),
        category_name: w.of_kind("category", category),
        category: category.to_owned(),
        // A refused form goes on from what its editor saw, or it would overwrite the other's text.
        seen: refused
            .as_ref()
            .and_then(|refused| refused.values.get("seen")?.parse().ok())
            .unwrap_or_else(|| newest.map_or(0, |newest| newest.revision)),
        current: revisions
            .iter()
            .find(|one| one.current)
            .map_or(0, |one| one.revision),
        fields,
        problems,
        waiting: open.map(shown_revision),
        may_publish: waiting.is_some(),
        history: revisions.iter().map(shown_revision).collect(),
        may_edit,
        may_decide: open
            .is_some_and(|one| may_decide(person, casino, one) || waiting.is_none() && may_edit),
        may_undo: may_edit && waiting.is_none() && published.count() > 1,
    };
    let status = refused.map_or(StatusCode::OK, |refused| refused.status);
    Ok((status, shown(&page)).into_response())
}

fn is_waiting(one: &Revision) -> bool {
    use RevisionState::{Draft, Review, Scheduled};
    matches!(one.state, Draft | Review | Scheduled)
}

/// An approver decides about everybody's revisions, an editor about their own.
fn may_decide(person: &Person, casino: &CasinoId, one: &Revision) -> bool {
    person.may(casino, Right::Approve)
        || person.may(casino, Right::Edit) && one.editor == person.actor()
}

impl ShownRevision {
    fn of(
        one: &Revision,
        all: &[Revision],
        (w, zone): (Words, Tz),
        names: &std::collections::HashMap<String, String>,
    ) -> Self {
        let before = all
            .iter()
            .find(|other| other.revision < one.revision && other.published_at.is_some());
        let content = |one: &Revision| one.item.clone().unwrap_or(Value::Null);
        let findings = one.findings.as_array().into_iter().flatten();
        let text =
            |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        Self {
            revision: one.revision,
            state: w.t(match (one.current, one.state) {
                (true, _) => "content_now",
                (false, RevisionState::Draft) => "content_draft",
                (false, RevisionState::Review) => "content_review",
                (false, RevisionState::Scheduled) => "content_scheduled",
                (false, RevisionState::Published) => "content_earlier",
                (false, RevisionState::Rejected) => "content_rejected",
                (false, RevisionState::Withdrawn) => "content_withdrawn",
            }),
            by: name_of(names, &one.editor),
            saved: clock(one.saved_at, Some(zone)),
            source: w.of_kind("source", one.source.as_str()),
            decided: one
                .decided_by
                .as_ref()
                .map(|by| name_of(names, by))
                .unwrap_or_default(),
            reason: one.decision_reason.clone().unwrap_or_default(),
            findings: findings
                .map(|f| format!("{}: {}", text(f, "field"), text(f, "problem")))
                .collect(),
            changes: before.map_or_else(Vec::new, |before| {
                let all = changes(&content(before), &content(one));
                all.iter().map(ToString::to_string).collect()
            }),
        }
    }
}

/// Saves the form: as a draft, or published when nobody else has to look.
pub(crate) async fn store(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Posted { person, form }: Posted<BTreeMap<String, String>>,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Edit)?;
    let text = |key: &str| form.get(key).map(String::as_str).unwrap_or_default();
    let (item, category) = (text("id").to_owned(), text("category").to_owned());
    let mut work = begin(&app, &casino).await?;
    let seen = text("seen").parse().ok().filter(|_| !item.is_empty());
    let outcome = attempt(&mut work, &person, &form, seen).await?;
    let refuse = |findings, problem: &str, status| Refused {
        values: form.clone(),
        findings,
        problem: problem.to_owned(),
        status,
    };
    let w = person.words();
    let refused = match outcome {
        Some(Outcome::Saved { item_id, .. } | Outcome::Unchanged { item_id, .. }) => {
            work.commit().await.map_err(fault)?;
            app.hints.changed(&casino);
            return Ok(go_to(&address(&casino, &item_id)));
        }
        Some(Outcome::Moved { .. }) => {
            refuse(Vec::new(), w.t("content_moved"), StatusCode::CONFLICT)
        }
        Some(Outcome::Refused { findings, .. }) => {
            refuse(findings, "", StatusCode::UNPROCESSABLE_ENTITY)
        }
        Some(Outcome::Repeated { .. }) | None => return Err(Fault::Trouble),
    };
    work.rollback().await.map_err(fault)?;
    page(&app, &casino, &person, (&item, &category), Some(refused)).await
}

/// Shows the problems of a form while it is typed; nothing is stored.
pub(crate) async fn check(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Posted { person, form }: Posted<BTreeMap<String, String>>,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Edit)?;
    let category = form.get("category").cloned().unwrap_or_default();
    let work = Work::begin_if_free(&app.fleet, &casino).await;
    let Some(mut work) = work.map_err(fault)? else {
        // The next pause of the person who types asks again; a save waits for nobody who types.
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    // Whether somebody else saved meanwhile is told when the form is.
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

/// Asks the host with the form's item in place of what guests get.
pub(crate) async fn ask(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Posted { person, form }: Posted<BTreeMap<String, String>>,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Edit)?;
    let text = |key: &str| form.get(key).map(|text| text.trim()).unwrap_or_default();
    let question: String = text("question").chars().take(MOST_REASON).collect();
    let mut work = Work::look(&app.fleet, &casino).await.map_err(fault)?;
    let before = content(&mut work, text("id")).await?;
    let category = text("category");
    let schema = work.schema(category);
    let mut draft = item_of_row(category, &row_of(&form), before.as_ref(), schema);
    // An item that is off would not be answered with; the editor asks how it would be.
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

/// Saves the form's item inside the transaction, which the caller commits or not.
async fn attempt(
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
    };
    Ok(save(work, &terms, &[edit]).await.map_err(fault)?.pop())
}

/// Returns the item that the form showed: what waits, or what guests get.
async fn content(work: &mut Work<'_>, item: &str) -> Result<Option<Value>, Fault> {
    let revisions = work.tx().revisions(Wanted::Of(item), MOST).await?;
    let waiting = revisions.iter().find(|one| is_waiting(one));
    let shown = waiting.or_else(|| revisions.iter().find(|one| one.current));
    Ok(shown.and_then(|one| one.item.clone()))
}

/// Returns the row that the form makes, without what only the form needs.
fn row_of(form: &BTreeMap<String, String>) -> Map<String, Value> {
    const OURS: [&str; 5] = ["seen", "what", "publish_at", "take_down_at", "question"];
    form.iter()
        .filter(|(name, _)| !OURS.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), Value::from(value.as_str())))
        .collect()
}

/// Reads a time as a browser writes it, on the property's clock.
fn time(text: &str, zone: Tz) -> Option<DateTime<Utc>> {
    let wall = NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M").ok()?;
    let at = wall.and_local_timezone(zone).earliest()?;
    Some(at.to_utc())
}

async fn begin<'f>(app: &'f Shared, casino: &CasinoId) -> Result<Work<'f>, Fault> {
    Work::begin(&app.fleet, casino).await.map_err(fault)
}

async fn zone_of(work: &mut Work<'_>) -> Result<Tz, Fault> {
    let row = work.tx().casino_row().await?.ok_or(Fault::NotFound)?;
    Ok(row.config.operational.timezone)
}

fn fault(error: Error) -> Fault {
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

fn address(casino: &CasinoId, item: &str) -> String {
    let item: String = url::form_urlencoded::byte_serialize(item.as_bytes()).collect();
    format!("/c/{casino}/content/items/{}", item.replace('+', "%20"))
}

#[derive(Deserialize)]
pub(crate) struct Decision {
    #[serde(default)]
    what: String,
    #[serde(default)]
    revision: String,
    #[serde(default)]
    reason: String,
}

/// Publishes, refuses or takes back the revision that waits, or brings the one before back.
pub(crate) async fn decide(
    State(app): State<Shared>,
    Path((casino, item)): Path<(CasinoId, String)>,
    Posted { person, form }: Posted<Decision>,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Content)?;
    let mut work = begin(&app, &casino).await?;
    let revision = form.revision.parse().unwrap_or_default();
    let actor = person.actor();
    let reason: String = form.reason.trim().chars().take(MOST_REASON).collect();
    let what = Decided {
        item_id: &item,
        revision,
        by: &actor,
        reason: &reason,
    };
    let found = work.tx().revision(&item, revision).await?;
    let may = found.is_some_and(|one| {
        let dismissed = one.state == RevisionState::Rejected && form.what == "withdraw";
        may_decide(&person, &casino, &one) || dismissed && person.may(&casino, Right::Edit)
    });
    let done = match form.what.as_str() {
        "undo" => {
            person.needs(&casino, Right::Edit)?;
            if is_current(&mut work, &item, revision).await? {
                undone(&mut work, &actor, &item).await
            } else {
                Err(Error::Moved { item: item.clone() })
            }
        }
        _ if !may => return Err(Fault::NotFound),
        "publish" => publish(&mut work, &what, &[&person.session.email])
            .await
            .map(drop),
        "withdraw" => withdraw(&mut work, &what).await,
        "reject" if reason.is_empty() => Err(Error::Blocked(
            person.words().t("content_reason_missing").to_owned(),
        )),
        "reject" => reject(&mut work, &what).await,
        _ => return Err(Fault::NotFound),
    };
    let problem = match done {
        Ok(()) => {
            work.commit().await.map_err(fault)?;
            app.hints.changed(&casino);
            return Ok(go_to(&address(&casino, &item)));
        }
        Err(error @ (Error::Store(_) | Error::NoRevision { .. } | Error::NoCasino)) => {
            return Err(fault(error));
        }
        Err(error) => said(person.words(), &error),
    };
    work.rollback().await.map_err(fault)?;
    let refused = Refused {
        values: BTreeMap::new(),
        findings: Vec::new(),
        problem,
        status: StatusCode::CONFLICT,
    };
    shown_again(&app, &casino, &person, &item, refused).await
}

/// Shows the item's page with its own values and the problem.
async fn shown_again(
    app: &Shared,
    casino: &CasinoId,
    person: &Person,
    item: &str,
    mut refused: Refused,
) -> Result<Response, Fault> {
    let mut tx = app.fleet.store.bind(casino).await?;
    let row = tx.casino_row().await?.ok_or(Fault::NotFound)?;
    let revisions = tx.revisions(Wanted::Of(item), MOST).await?;
    tx.commit().await?;
    let content = revisions.iter().find(|one| is_waiting(one) || one.current);
    refused.values = typed(content, row.config.operational.timezone);
    page(app, casino, person, (item, ""), Some(refused)).await
}

/// Whether guests get this revision, and nothing of the item waits.
async fn is_current(work: &mut Work<'_>, item: &str, revision: i32) -> Result<bool, Fault> {
    let revisions = work.tx().revisions(Wanted::Of(item), MOST).await?;
    let waits = revisions.iter().any(is_waiting);
    let current = revisions
        .iter()
        .any(|one| one.current && one.revision == revision);
    Ok(current && !waits)
}

async fn undone(work: &mut Work<'_>, by: &str, item: &str) -> Result<(), Error> {
    let terms = Terms {
        source: ContentSource::Console,
        editor: by,
        draft: false,
        approved_by: None,
        keep_refused: false,
    };
    match undo(work, &terms, item).await? {
        Outcome::Refused { findings, .. } => {
            let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
            Err(Error::Blocked(lines.join(" ")))
        }
        _ => Ok(()),
    }
}

/// Returns what to tell a person whose decision was not carried out.
fn said(w: Words, error: &Error) -> String {
    match error {
        Error::OwnWork { .. } => w.t("content_own_work").to_owned(),
        Error::Moved { .. } | Error::NotWaiting { .. } => w.t("content_moved").to_owned(),
        Error::Blocked(problem) => problem.clone(),
        other => other.to_string(),
    }
}

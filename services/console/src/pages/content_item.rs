//! One item of the casino's content: the form made from the pack's schema, the item's history, and
//! the decisions of a second person.

use std::collections::BTreeMap;

use askama::Template;
use axum::{
    extract::{Path, Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use chrono_tz::Tz;
use serde::Deserialize;
use serde_json::Value;
use seven_content::{
    Error, Finding, Outcome, Terms, Work, diff::changes, publish, purge, reject, undo, withdraw,
};
use seven_domain::{CasinoId, ContentSource, RevisionState};
use seven_staff::Right;
use seven_store::content::{Decided, Revision, Wanted};

use super::{
    content_form::{Field, field_of, fields, typed},
    content_try::{attempt, fault, is_waiting},
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

/// Maximum number of the item's revisions that are shown.
const MOST: i64 = 50;
const MOST_REASON: usize = 300;

#[derive(Template)]
#[template(path = "content_item.html")]
struct ItemPage {
    frame: Frame,
    casino: CasinoId,
    /// The item's id; empty for an item that does not exist yet.
    item: String,
    category: String,
    category_name: String,
    /// The newest revision that the editor has seen. Saving fails if a newer one exists.
    seen: i32,
    /// The published revision, which guests get; 0 if there is none.
    current: i32,
    fields: Vec<Field>,
    /// Problems that belong to no field of the form.
    problems: Vec<String>,
    /// The revision that waits for a decision, or else the newest one if it was refused.
    waiting: Option<ShownRevision>,
    /// Whether `waiting` can be published or refused; an already refused revision can only be
    /// dismissed.
    may_publish: bool,
    history: Vec<ShownRevision>,
    may_edit: bool,
    may_approve: bool,
    may_decide: bool,
    may_undo: bool,
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
    /// Whether the revision's words may be removed from the history. They may if guests do not get
    /// the revision and it does not wait for a decision.
    may_purge: bool,
}

#[derive(Deserialize)]
pub(crate) struct New {
    #[serde(default)]
    category: String,
}

/// The values and problems of a refused form, which the page shows again.
struct Refused {
    values: BTreeMap<String, String>,
    findings: Vec<Finding>,
    /// A problem that belongs to no field; empty if there is none.
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
    // The newest revision may have been refused; the page then shows its editor why.
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
        .map(|finding| w.problem(&finding.to_string()))
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
        // A refused form keeps the revision that its editor has seen. With a newer number, saving
        // again would overwrite another editor's text.
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
        may_approve: person.may(casino, Right::Approve),
        may_edit,
        may_decide: open
            .is_some_and(|one| may_decide(person, casino, one) || waiting.is_none() && may_edit),
        may_undo: may_edit && waiting.is_none() && published.count() > 1,
    };
    let status = refused.map_or(StatusCode::OK, |refused| refused.status);
    Ok((status, shown(&page)).into_response())
}

/// Returns whether the person may decide about the revision. An approver may decide about any
/// revision, an editor only about their own.
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
                .map(|f| w.problem(&format!("{}: {}", text(f, "field"), text(f, "problem"))))
                .collect(),
            changes: before.map_or_else(Vec::new, |before| {
                let all = changes(&content(before), &content(one));
                all.iter().map(ToString::to_string).collect()
            }),
            may_purge: one.item.is_some() && !one.current && !is_waiting(one),
        }
    }
}

/// Saves the form as a draft, or for publication, which may have to wait for a second person.
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

async fn begin<'f>(app: &'f Shared, casino: &CasinoId) -> Result<Work<'f>, Fault> {
    Work::begin(&app.fleet, casino).await.map_err(fault)
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

/// Carries out a person's decision about a revision. Publishes, refuses or withdraws the waiting
/// revision, returns to the previously published one, or removes a revision's words.
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
        "purge" if reason.is_empty() => Err(Error::Blocked(
            person.words().t("purge_reason_missing").to_owned(),
        )),
        "purge" => {
            person.needs(&casino, Right::Approve)?;
            purge(&mut work, &what).await
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

/// Shows the item's page with the stored values and the problem.
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

/// Returns whether guests get this revision and no revision of the item waits.
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
        keep_waiting: false,
    };
    match undo(work, &terms, item).await? {
        Outcome::Refused { findings, .. } => {
            let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
            Err(Error::Blocked(lines.join("\n")))
        }
        _ => Ok(()),
    }
}

/// Returns what to tell a person whose decision was not carried out.
pub(super) fn said(w: Words, error: &Error) -> String {
    match error {
        Error::OwnWork { .. } => w.t("content_own_work").to_owned(),
        Error::Moved { .. } | Error::NotWaiting { .. } => w.t("content_moved").to_owned(),
        Error::Blocked(problem) => w.problem(problem),
        other => other.to_string(),
    }
}

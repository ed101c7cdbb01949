//! Shows and exports the part of the audit log that the person's role may see, with filters.

use askama::Template;
use axum::{
    body::Body,
    extract::{Path, Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use chrono::{DateTime, Utc};
use futures::stream;
use serde::Deserialize;
use seven_domain::{AuditEvent, CasinoId, GuestHash, Severity};
use seven_figures::Period;
use seven_staff::{
    Right,
    audit::{self, Category, Export, Format, NoExport, View, category},
};
use seven_store::audit::{Place, Query as Wanted, Row as Entry};

use super::conversations::name_of;
use crate::{
    access::{Person, Posted},
    app::{App, Shared},
    fault::Fault,
    frame::Frame,
    guard::{file, shown},
};

/// Maximum number of entries on one page.
const MOST: i64 = 100;
/// Length of the period that is shown at first, in days.
const DAYS: u64 = 7;
const MOST_REASON: usize = 300;

#[derive(Template)]
#[template(path = "audit.html")]
struct AuditPage {
    frame: Frame,
    casino: CasinoId,
    chosen: Chosen,
    categories: Vec<(&'static str, String)>,
    events: Vec<&'static str>,
    severities: &'static [Severity],
    rows: Vec<Row>,
    /// The address of the page with older entries; empty if there are none.
    older: String,
    in_full: bool,
    problem: String,
}

struct Row {
    at: String,
    event: String,
    severity: Severity,
    by: String,
    subject: String,
    guest: String,
    detail: String,
}

/// The filters from the query of the page's address; an empty one does not filter.
#[derive(Default, Clone, Deserialize)]
pub(crate) struct Chosen {
    #[serde(default)]
    from: String,
    #[serde(default)]
    to: String,
    #[serde(default)]
    category: String,
    #[serde(default)]
    event: String,
    #[serde(default)]
    severity: String,
    #[serde(default)]
    guest: String,
    #[serde(default)]
    layer: String,
    /// The last entry of the previous page, as `microseconds-entry`; empty on the first page.
    #[serde(default)]
    before: String,
}

#[derive(Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    from: String,
    #[serde(default)]
    to: String,
    #[serde(default)]
    format: String,
    #[serde(default)]
    reason: String,
}

pub(crate) async fn show(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Query(chosen): Query<Chosen>,
    person: Person,
) -> Result<Response, Fault> {
    page(&app, &casino, &person, chosen, "").await
}

async fn page(
    app: &App,
    casino: &CasinoId,
    person: &Person,
    mut chosen: Chosen,
    problem: &'static str,
) -> Result<Response, Fault> {
    person.needs(casino, Right::Audit)?;
    let view = View::of(&person.grants, casino);
    let w = person.words();
    let mut tx = app.fleet.store.bind(casino).await?;
    let zone = tx.casino_row().await?.ok_or(Fault::NotFound)?;
    let zone = zone.config.operational.timezone;
    let recent = Period::last(DAYS, app.fleet.clock.now(), zone);
    let (period, mut problem) = match Period::read(&chosen.from, &chosen.to, recent) {
        Ok(period) => (period, problem),
        Err(_) => (recent, "audit_bad_days"),
    };
    (chosen.from, chosen.to) = (period.from.to_string(), period.to.to_string());
    let guest = GuestHash::from_tag(chosen.guest.trim());
    if guest.is_none() && !chosen.guest.trim().is_empty() {
        problem = "audit_bad_guest";
    }
    let (since, until) = period.bounds();
    let seen = events(&view, &chosen);
    let wanted = Wanted {
        events: seen.clone().unwrap_or_default(),
        severities: chosen.severity.parse().into_iter().collect(),
        guest,
        layer: Some(chosen.layer.trim().to_owned()).filter(|layer| !layer.is_empty()),
        since: Some(since),
        until: Some(until),
        older_than: place(&chosen.before),
        limit: MOST,
    };
    let entries = match (problem, seen) {
        ("", Some(_)) => tx.audit_entries(&wanted).await?,
        _ => Vec::new(),
    };
    let names = tx.staff_names().await?;
    tx.commit().await?;
    let older = match entries.last() {
        Some(last) if entries.len() as i64 == MOST => address(casino, &chosen, last),
        _ => String::new(),
    };
    let rows = entries.into_iter().filter_map(|entry| view.shown(entry));
    let rows = rows.map(|entry| Row {
        at: entry
            .at
            .with_timezone(&zone)
            .format("%Y-%m-%d %H:%M:%S")
            .to_string(),
        event: entry.event_type,
        severity: entry.severity,
        by: name_of(&names, &entry.actor),
        subject: entry.subject,
        guest: entry.guest_hash.unwrap_or_default(),
        detail: match entry.detail.as_object() {
            Some(detail) if detail.is_empty() => String::new(),
            _ => serde_json::to_string_pretty(&entry.detail).unwrap_or_default(),
        },
    });
    let categories = Category::ALL
        .iter()
        .filter(|category| view.sees(**category));
    let page = AuditPage {
        frame: Frame::of(person, Some(casino), w.t("audit"), "compliance"),
        casino: casino.clone(),
        categories: categories
            .map(|category| (category.as_str(), w.of_kind("audit", category.as_str())))
            .collect(),
        events: view.events().map(AuditEvent::as_str).collect(),
        severities: Severity::ALL,
        rows: rows.collect(),
        older,
        in_full: view.may_export_in_full(),
        problem: w.t(problem).to_owned(),
        chosen,
    };
    let status = match problem {
        "" => StatusCode::OK,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    };
    Ok((status, shown(&page)).into_response())
}

/// Returns the event types that match the filters and that the person may see; `None` if there are
/// none. An empty list means all types, including those that this release does not know.
fn events(view: &View, chosen: &Chosen) -> Option<Vec<AuditEvent>> {
    let all = chosen.category.is_empty() && chosen.event.is_empty();
    if all && view.may_export_in_full() {
        return Some(Vec::new());
    }
    let searched = !chosen.guest.trim().is_empty() || !chosen.layer.trim().is_empty();
    let asked = |event: &AuditEvent| {
        (chosen.event.is_empty() || event.as_str() == chosen.event)
            && (chosen.category.is_empty() || category(*event).as_str() == chosen.category)
    };
    let events: Vec<AuditEvent> = match searched {
        true => view.searchable().filter(asked).collect(),
        false => view.events().filter(asked).collect(),
    };
    Some(events).filter(|events| !events.is_empty())
}

fn place(text: &str) -> Option<Place> {
    let (micros, entry) = text.split_once('-')?;
    let at = DateTime::<Utc>::from_timestamp_micros(micros.parse().ok()?)?;
    Some((at, entry.parse().ok()?))
}

fn address(casino: &CasinoId, chosen: &Chosen, last: &Entry) -> String {
    let before = format!("{}-{}", last.at.timestamp_micros(), last.entry);
    let query: String = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("from", &chosen.from)
        .append_pair("to", &chosen.to)
        .append_pair("category", &chosen.category)
        .append_pair("event", &chosen.event)
        .append_pair("severity", &chosen.severity)
        .append_pair("guest", chosen.guest.trim())
        .append_pair("layer", chosen.layer.trim())
        .append_pair("before", &before)
        .finish();
    format!("/c/{casino}/audit?{query}")
}

/// Exports the entries of a period. If the form gives a reason, the entries are complete; only some
/// roles may ask for that.
pub(crate) async fn export(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Posted { person, form }: Posted<Asked>,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Audit)?;
    let chosen = || Chosen {
        from: form.from.clone(),
        to: form.to.clone(),
        ..Chosen::default()
    };
    let mut tx = app.fleet.store.bind(&casino).await?;
    let row = tx.casino_row().await?.ok_or(Fault::NotFound)?;
    let now = app.fleet.clock.now();
    let recent = Period::last(DAYS, now, row.config.operational.timezone);
    let Ok(period) = Period::read(&form.from, &form.to, recent) else {
        drop(tx);
        return page(&app, &casino, &person, chosen(), "audit_bad_days").await;
    };
    let format = form.format.parse().unwrap_or(Format::Csv);
    let reason: String = form.reason.trim().chars().take(MOST_REASON).collect();
    let (view, by) = (View::of(&person.grants, &casino), person.actor());
    let days = period.bounds();
    let export = match audit::start(&mut tx, view, format, days, &reason, &by, now).await {
        Ok(export) => export,
        Err(NoExport::Store(error)) => return Err(error.into()),
        Err(NoExport::NotYours) => {
            drop(tx);
            return page(&app, &casino, &person, chosen(), "audit_not_yours").await;
        }
    };
    tx.commit().await?;
    let (from, to) = (period.from, period.to);
    let name = format!("{casino}-audit-{from}-{to}.{format}");
    Ok(file(&name, lines(app, export)))
}

/// Streams an export while it is read, so that seven years of entries need no more memory than one
/// page.
pub(super) fn lines(app: Shared, export: Export) -> Body {
    Body::from_stream(stream::try_unfold(export, move |mut export| {
        let app = app.clone();
        async move {
            let mut tx = app.fleet.store.bind(export.casino()).await?;
            let next = export.next(&mut tx).await?;
            tx.commit().await?;
            Ok::<_, seven_store::Error>(next.map(|lines| (lines, export)))
        }
    }))
}

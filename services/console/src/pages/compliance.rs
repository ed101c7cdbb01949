//! The compliance officer's first page. Finds a guest's evidence. Shows the sealed days of the
//! audit log, the deletion requests with their proof, and who was shown a guest's words and why.

use askama::Template;
use axum::{
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use chrono::NaiveDate;
use serde::Deserialize;
use serde_json::{Value, json};
use seven_domain::{AuditEvent, CasinoId, GuestHash, PhoneE164};
use seven_staff::{
    Right,
    audit::{Category, Depth, Export, Format, Sealed, View, check_seal},
};
use seven_store::audit::{Entry, Query};

use super::{
    audit::lines,
    conversations::{clock, name_of},
};
use crate::{
    access::{Person, Posted},
    app::{App, Shared},
    fault::Fault,
    frame::Frame,
    guard::{file, go_to, shown},
};

const MOST_DAYS: i64 = 31;
const MOST_DELETIONS: i64 = 200;
const MOST_REVEALS: i64 = 100;

#[derive(Template)]
#[template(path = "compliance.html")]
struct CompliancePage {
    frame: Frame,
    casino: CasinoId,
    problem: String,
    sees_privacy: bool,
    sees_security: bool,
    in_full: bool,
    days: Vec<(String, i64, String)>,
    deletions: Vec<Deletion>,
    reveals: Vec<Reveal>,
}

struct Deletion {
    guest: String,
    state: String,
    asked: String,
    by: String,
    done: String,
    /// Each kind of removed row with its number of rows.
    removed: Vec<(String, String)>,
}

struct Reveal {
    at: String,
    by: String,
    reason: String,
    subject: String,
}

#[derive(Deserialize)]
pub(crate) struct Sought {
    #[serde(default)]
    guest: String,
}

pub(crate) async fn show(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    person: Person,
) -> Result<Response, Fault> {
    page(&app, &casino, &person, "").await
}

async fn page(
    app: &App,
    casino: &CasinoId,
    person: &Person,
    problem: &'static str,
) -> Result<Response, Fault> {
    person.needs(casino, Right::Audit)?;
    let view = View::of(&person.grants, casino);
    let (sees_privacy, sees_security) = (
        view.depth(Category::Privacy) == Depth::Full,
        view.depth(Category::Security) == Depth::Full,
    );
    let w = person.words();
    let mut tx = app.fleet.store.bind(casino).await?;
    let row = tx.casino_row().await?.ok_or(Fault::NotFound)?;
    let zone = Some(row.config.operational.timezone);
    let names = tx.staff_names().await?;
    let deletions = match sees_privacy {
        true => tx.deletions(MOST_DELETIONS).await?,
        false => Vec::new(),
    };
    let revealed = Query {
        events: vec![AuditEvent::PersonalDataRevealed],
        limit: MOST_REVEALS,
        ..Query::default()
    };
    let reveals = match sees_security {
        true => tx.audit_entries(&revealed).await?,
        false => Vec::new(),
    };
    let days = tx.seals(MOST_DAYS).await?;
    tx.commit().await?;
    let deletions = deletions.into_iter().map(|one| Deletion {
        guest: one.guest().map(|guest| guest.tag()).unwrap_or_default(),
        state: w.of_kind("deletion", one.state.as_str()),
        asked: clock(one.requested_at, zone),
        by: name_of(&names, &one.requested_by),
        done: one
            .completed_at
            .map(|at| clock(at, zone))
            .unwrap_or_default(),
        removed: removed(&one.counts),
    });
    let reveals = reveals.into_iter().map(|entry| Reveal {
        at: clock(entry.at, zone),
        by: name_of(&names, &entry.actor),
        reason: entry.detail["reason"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        subject: entry.subject,
    });
    let page = CompliancePage {
        frame: Frame::of(person, Some(casino), w.t("compliance"), "compliance"),
        casino: casino.clone(),
        problem: w.t(problem).to_owned(),
        sees_privacy,
        sees_security,
        in_full: view.may_export_in_full(),
        days: days
            .into_iter()
            .map(|seal| (seal.day.to_string(), seal.entries, seal.sha256))
            .collect(),
        deletions: deletions.collect(),
        reveals: reveals.collect(),
    };
    let status = match problem {
        "" => StatusCode::OK,
        "compliance_no_guest" => StatusCode::UNPROCESSABLE_ENTITY,
        _ => StatusCode::CONFLICT,
    };
    Ok((status, shown(&page)).into_response())
}

/// Lists how many rows of each kind a deletion removed, without kinds that had none.
fn removed(counts: &Value) -> Vec<(String, String)> {
    let mut list = Vec::new();
    for (kind, count) in counts.as_object().into_iter().flatten() {
        match count {
            Value::Object(inner) => list.extend(
                inner
                    .iter()
                    .filter(|(_, count)| **count != json!(0))
                    .map(|(name, count)| (format!("{kind}: {name}"), count.to_string())),
            ),
            count if *count == json!(0) => {}
            count => list.push((kind.clone(), count.to_string())),
        }
    }
    list
}

/// Finds a guest by phone number or keyed hash. The phone number is sent in the form's body, never
/// in an address.
pub(crate) async fn find(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Posted { person, form }: Posted<Sought>,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Audit)?;
    let sought = form.guest.trim();
    let by_phone = || {
        let digits: String = sought.chars().filter(char::is_ascii_digit).collect();
        let phone = match digits.len() {
            10 => format!("+1{digits}"),
            _ => format!("+{digits}"),
        };
        let phone: PhoneE164 = phone.parse().ok()?;
        Some(app.fleet.keys.hash(&casino, &phone))
    };
    let Some(guest) = GuestHash::from_tag(sought).or_else(by_phone) else {
        return page(&app, &casino, &person, "compliance_no_guest").await;
    };
    Ok(go_to(&format!(
        "/c/{casino}/guests/{}/consent",
        guest.tag()
    )))
}

/// Returns the export of a sealed day, if the day still matches its seal.
pub(crate) async fn day(
    State(app): State<Shared>,
    Path((casino, day)): Path<(CasinoId, NaiveDate)>,
    Posted { person, .. }: Posted<std::collections::BTreeMap<String, String>>,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Audit)?;
    if !View::of(&person.grants, &casino).may_export_in_full() {
        return Err(Fault::NotFound);
    }
    let mut tx = app.fleet.store.bind(&casino).await?;
    let checked = check_seal(&mut tx, day).await?;
    let Sealed::Whole(seal) = checked else {
        tx.commit().await?;
        return match checked {
            Sealed::Not => Err(Fault::NotFound),
            _ => page(&app, &casino, &person, "compliance_broken").await,
        };
    };
    let by = person.actor();
    let detail = json!({ "day": day, "sha256": seal.sha256 });
    let entry = Entry::of(AuditEvent::AuditExported, &by, casino.as_str(), detail);
    tx.audit(&entry).await?;
    tx.commit().await?;
    let export = Export::of_day(&casino, day, seal.sealed_at, Format::Json);
    let name = format!("{casino}-audit-{day}.jsonl");
    Ok(file(&name, lines(app, export)))
}

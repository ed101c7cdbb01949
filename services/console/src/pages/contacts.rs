//! The casino's contacts (D28). Shows who is told about cases, by which channel and when. Adds and
//! removes contacts, and verifies a phone by its code.

use askama::Template;
use axum::{
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use chrono::NaiveTime;
use serde::Deserialize;
use seven_domain::{CaseSeverity, CasinoId, ContactChannel, ContactId, Language};
use seven_staff::{
    Right,
    contacts::{self, Refused},
};
use seven_store::contacts::{CodeTried, NewContact};
use uuid::Uuid;

use super::conversations::clock;
use crate::{
    access::{Person, Posted},
    app::Shared,
    fault::Fault,
    frame::Frame,
    guard::{go_to, shown},
};

const MOST_NAME: usize = 80;

#[derive(Template)]
#[template(path = "contacts.html")]
struct ContactsPage {
    frame: Frame,
    casino: CasinoId,
    rows: Vec<Row>,
    may_change: bool,
    /// Whether this fleet can send mail.
    mail: bool,
    /// The values of a refused form, which the page shows again.
    typed: Added,
    problems: Vec<String>,
}

struct Row {
    id: String,
    name: String,
    channel: String,
    level: i32,
    severity: String,
    security: bool,
    words: bool,
    weekly: bool,
    content: bool,
    outages: bool,
    quiet: String,
    /// When a notice or a code last arrived; empty if none has.
    reached: String,
    /// Whether this is a phone whose code nobody has entered yet.
    unverified: bool,
}

#[derive(Default, Deserialize)]
pub(crate) struct Added {
    #[serde(default)]
    name: String,
    #[serde(default)]
    channel: String,
    #[serde(default)]
    address: String,
    #[serde(default)]
    language: String,
    #[serde(default)]
    severity: String,
    #[serde(default)]
    level: String,
    /// `yes` or absent, which is how browsers send checkboxes.
    #[serde(default)]
    security: String,
    #[serde(default)]
    words: String,
    #[serde(default)]
    weekly: String,
    #[serde(default)]
    content: String,
    #[serde(default)]
    outages: String,
    #[serde(default)]
    quiet_from: String,
    #[serde(default)]
    quiet_to: String,
}

#[derive(Deserialize)]
pub(crate) struct Changed {
    /// The requested change: `verify`, `renew` or `remove`.
    #[serde(default)]
    what: String,
    #[serde(default)]
    code: String,
}

pub(crate) async fn show(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    person: Person,
) -> Result<Response, Fault> {
    page(&app, &casino, &person, Added::default(), Vec::new()).await
}

async fn page(
    app: &Shared,
    casino: &CasinoId,
    person: &Person,
    typed: Added,
    problems: Vec<String>,
) -> Result<Response, Fault> {
    if !person.may(casino, Right::Conversations) {
        person.needs(casino, Right::Switches)?;
    }
    let mut tx = app.fleet.store.bind(casino).await?;
    let row = tx.casino_row().await?.ok_or(Fault::NotFound)?;
    let known = tx.contacts().await?;
    tx.commit().await?;
    let zone = row.config.operational.timezone;
    let w = person.words();
    let rows = known.into_iter().map(|one| Row {
        id: one.contact_id.to_string(),
        channel: w.of_kind("channel", one.channel.as_str()),
        level: one.level,
        severity: one.severity.to_string(),
        security: one.security,
        words: one.words,
        weekly: one.weekly,
        content: one.content,
        outages: one.outages,
        quiet: one
            .quiet_from
            .zip(one.quiet_to)
            .map(|(from, to)| format!("{}-{}", from.format("%H:%M"), to.format("%H:%M")))
            .unwrap_or_default(),
        reached: one
            .reached_at
            .map(|at| clock(at, Some(zone)))
            .unwrap_or_default(),
        unverified: one.channel == ContactChannel::Text && one.verified_at.is_none(),
        name: one.name,
    });
    let status = if problems.is_empty() {
        StatusCode::OK
    } else {
        StatusCode::UNPROCESSABLE_ENTITY
    };
    let page = ContactsPage {
        frame: Frame::of(person, Some(casino), w.t("contacts"), "contacts"),
        casino: casino.clone(),
        rows: rows.collect(),
        may_change: person.may(casino, Right::Switches),
        mail: app.reach.mail,
        typed,
        problems,
    };
    Ok((status, shown(&page)).into_response())
}

/// Adds a contact. If the form has problems, the page shows all of them at once.
pub(crate) async fn add(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Posted { person, form }: Posted<Added>,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Switches)?;
    let new = match read(&form, app.fleet.ids.next()) {
        Ok(new) => new,
        Err(keys) => {
            let w = person.words();
            let problems = keys.into_iter().map(|key| w.t(key).to_owned()).collect();
            return page(&app, &casino, &person, form, problems).await;
        }
    };
    let added = contacts::add(&app.fleet, &casino, &new, app.reach, &person.actor()).await;
    match added {
        Ok(()) => Ok(go_to(&format!("/c/{casino}/contacts"))),
        Err(refused) => {
            let problem = said(&person, refused)?;
            page(&app, &casino, &person, form, vec![problem]).await
        }
    }
}

/// Parses the form. The error has one key per problem; `Words::t` turns a key into a sentence.
fn read(form: &Added, contact_id: ContactId) -> Result<NewContact, Vec<&'static str>> {
    let mut wrong = Vec::new();
    let name: String = form.name.trim().chars().take(MOST_NAME).collect();
    if name.is_empty() {
        wrong.push("contact_name_missing");
    }
    let time = |text: &str| NaiveTime::parse_from_str(text.trim(), "%H:%M").ok();
    let quiet = match (form.quiet_from.trim(), form.quiet_to.trim()) {
        ("", "") => None,
        (from, to) => {
            let both = time(from).zip(time(to)).filter(|(from, to)| from != to);
            if both.is_none() {
                wrong.push("contact_quiet_wrong");
            }
            both
        }
    };
    let address = form.address.trim().to_owned();
    if address.is_empty() {
        wrong.push("contact_address_missing");
    }
    let channel = form.channel.parse::<ContactChannel>();
    let severity = form.severity.parse::<CaseSeverity>();
    let language = form.language.parse::<Language>();
    let level = form.level.parse::<i32>().ok();
    let level = level.filter(|level| (1..=3).contains(level));
    let (Ok(channel), Ok(severity), Ok(language), Some(level)) =
        (channel, severity, language, level)
    else {
        wrong.push("contact_choice_missing");
        return Err(wrong);
    };
    if !wrong.is_empty() {
        return Err(wrong);
    }
    Ok(NewContact {
        contact_id,
        name,
        channel,
        address: address.into(),
        language,
        severity,
        level,
        security: form.security == "yes",
        words: form.words == "yes",
        weekly: form.weekly == "yes",
        content: form.content == "yes",
        outages: form.outages == "yes",
        quiet,
    })
}

/// Returns the sentence for a refusal in the person's language. A failure that the person did not
/// cause becomes a fault.
fn said(person: &Person, refused: Refused) -> Result<String, Fault> {
    let key = match refused {
        Refused::Address(_) => "contact_address_wrong",
        Refused::NoMail => "contact_no_mail",
        Refused::NoLetterByText => "contact_no_weekly_text",
        Refused::OwnNumber => "contact_own_number",
        Refused::Stopped => "contact_stopped",
        Refused::TooManyCodes => "contact_codes",
        Refused::NoPhone => return Err(Fault::NotFound),
        Refused::Failed(error) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "a contact could not be added or sent its code"
            );
            return Err(Fault::Trouble);
        }
    };
    Ok(person.words().t(key).to_owned())
}

/// Verifies a phone by its code, sends a new code, or removes a contact.
pub(crate) async fn change(
    State(app): State<Shared>,
    Path((casino, contact)): Path<(CasinoId, Uuid)>,
    Posted { person, form }: Posted<Changed>,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Switches)?;
    let (fleet, by) = (&app.fleet, person.actor());
    let w = person.words();
    let problem = match form.what.as_str() {
        "verify" => match contacts::verify(fleet, &casino, contact, &form.code, &by).await? {
            CodeTried::Verified => None,
            CodeTried::Wrong => Some(w.t("contact_code_wrong").to_owned()),
            CodeTried::Dead => Some(w.t("contact_code_dead").to_owned()),
        },
        "renew" => match contacts::renew_code(fleet, &casino, contact).await {
            Ok(()) => None,
            Err(refused) => Some(said(&person, refused)?),
        },
        "remove" => {
            let mut tx = fleet.store.bind(&casino).await?;
            tx.end_contact(contact, &by).await?;
            tx.commit().await?;
            None
        }
        _ => return Err(Fault::NotFound),
    };
    match problem {
        None => Ok(go_to(&format!("/c/{casino}/contacts"))),
        Some(problem) => page(&app, &casino, &person, Added::default(), vec![problem]).await,
    }
}

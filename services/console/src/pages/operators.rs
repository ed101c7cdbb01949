//! Manages the people of an administrator's casinos: adds them, gives them roles, disables them,
//! and resets their passwords and second factors.

use askama::Template;
use axum::{
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use chrono::NaiveDate;
use serde::Deserialize;
use seven_domain::{CasinoId, Language, LinkPurpose, OperatorId, OperatorStatus, Role};
use seven_staff::{
    Right, Token,
    account::{self, Error, Invitation, Problem},
};
use seven_store::operators::ListedOperator;

use super::conversations::clock;
use crate::{
    access::{Person, Posted},
    app::Shared,
    fault::Fault,
    frame::Frame,
    guard::{go_to, shown},
    words::Words,
};

#[derive(Template)]
#[template(path = "operators.html")]
struct OperatorsPage {
    frame: Frame,
    rows: Vec<Row>,
    roles: Vec<(String, String)>,
    casinos: Vec<CasinoId>,
    everywhere: bool,
    form: Added,
    problems: Vec<Problem>,
    /// A new link, which is shown only once. `link_words`: the key for `Words::t` of the sentence
    /// above the link.
    link: String,
    link_words: &'static str,
}

struct Row {
    id: String,
    name: String,
    email: String,
    roles: String,
    status: String,
    disabled: bool,
    invited: bool,
    factor: bool,
    seen: String,
    /// Whether the administrator who views the page may change the account.
    mine: bool,
}

#[derive(Deserialize, Default)]
pub(crate) struct Added {
    #[serde(default)]
    email: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    role: String,
    #[serde(default)]
    casino: String,
    #[serde(default)]
    language: String,
    /// The last day on which the role holds; empty if it has no end.
    #[serde(default)]
    ends_on: String,
}

#[derive(Deserialize)]
pub(crate) struct Changed {
    #[serde(default)]
    what: String,
}

pub(crate) async fn show(State(app): State<Shared>, person: Person) -> Result<Response, Fault> {
    page(&app, &person, Shown::default()).await
}

#[derive(Default)]
struct Shown {
    form: Added,
    problems: Vec<Problem>,
    link: Option<(Token, &'static str)>,
}

async fn page(app: &Shared, person: &Person, what: Shown) -> Result<Response, Fault> {
    if !person.may_manage_operators() {
        return Err(Fault::NotFound);
    }
    let mut tx = app.fleet.store.staff().await?;
    let people = tx.operators().await?;
    tx.commit().await?;
    let roster = app.fleet.store.roster().await?;
    let casinos = roster.into_iter().map(|entry| entry.casino);
    let casinos: Vec<CasinoId> = casinos
        .filter(|casino| person.may(casino, Right::Operators))
        .collect();
    let w = person.words();
    let today = app.fleet.clock.now().date_naive();
    let status = if what.problems.is_empty() {
        StatusCode::OK
    } else {
        StatusCode::UNPROCESSABLE_ENTITY
    };
    let link = what.link.as_ref().map(|(token, _)| {
        let path = format!("link/{}", token.expose());
        app.console
            .public_url
            .join(&path)
            .map(String::from)
            .unwrap_or_default()
    });
    let page = OperatorsPage {
        frame: Frame::of(person, None, w.t("operators"), "operators"),
        rows: people
            .into_iter()
            .filter(|each| is_known(person, each, today))
            .map(|each| Row {
                id: each.operator_id.to_string(),
                mine: is_theirs(person, &each, today),
                roles: roles_of(person, &each, w),
                invited: each.status == OperatorStatus::Invited,
                status: w.of_kind("status", each.status.as_str()),
                disabled: each.status == OperatorStatus::Disabled,
                factor: each.second_factor,
                seen: each
                    .last_seen_at
                    .filter(|_| is_theirs(person, &each, today))
                    .map(|at| clock(at, None))
                    .unwrap_or_default(),
                name: each.name,
                email: each.email,
            })
            .collect(),
        roles: Role::ALL
            .iter()
            .map(|role| (role.to_string(), w.of_kind("role", role.as_str())))
            .collect(),
        casinos,
        everywhere: person.grants.may_everywhere(Right::Operators),
        form: what.form,
        problems: what.problems,
        link: link.unwrap_or_default(),
        link_words: what.link.map_or("", |(_, words)| words),
    };
    Ok((status, shown(&page)).into_response())
}

pub(crate) async fn add(
    State(app): State<Shared>,
    Posted { person, form }: Posted<Added>,
) -> Result<Response, Fault> {
    let casino = match form.casino.as_str() {
        "" => None,
        id => Some(id.parse::<CasinoId>().map_err(|_| Fault::NotFound)?),
    };
    if !person.grants.may_grant(casino.as_ref()) {
        return Err(Fault::NotFound);
    }
    let invitation = Invitation {
        email: form.email.clone(),
        name: form.name.clone(),
        language: form.language.parse().unwrap_or(Language::En),
        role: form.role.parse().map_err(|_| Fault::NotFound)?,
        casino,
        ends_on: match form.ends_on.as_str() {
            "" => None,
            day => day.parse().ok(),
        },
    };
    let today = app.fleet.clock.now().date_naive();
    let is_over = !form.ends_on.is_empty() && invitation.ends_on.is_none_or(|day| day < today);
    let id: OperatorId = app.fleet.ids.next();
    let added = match is_over {
        true => Err(Error::Problems(vec![Problem::End])),
        false => account::add(&app.fleet.store, id, invitation, &person.actor()).await,
    };
    let what = match added {
        Ok(token) => Shown {
            link: Some((token, "invitation")),
            ..Shown::default()
        },
        Err(Error::Problems(problems)) => Shown {
            form,
            problems,
            link: None,
        },
        Err(other) => return Err(fault(other)),
    };
    page(&app, &person, what).await
}

pub(crate) async fn change(
    State(app): State<Shared>,
    Path(id): Path<OperatorId>,
    Posted { person, form }: Posted<Changed>,
) -> Result<Response, Fault> {
    let store = &app.fleet.store;
    let mut tx = store.staff().await?;
    let people = tx.operators().await?;
    tx.commit().await?;
    let today = app.fleet.clock.now().date_naive();
    let theirs = people.iter().find(|each| each.operator_id == id.0);
    if !theirs.is_some_and(|each| is_theirs(&person, each, today)) {
        return Err(Fault::NotFound);
    }
    let by = person.actor();
    let purpose = match form.what.as_str() {
        "disable" | "enable" => {
            let disabled = form.what == "disable";
            let done = account::set_disabled(store, id, disabled, &by).await;
            done.map_err(fault)?;
            return Ok(go_to("/operators"));
        }
        "password" => LinkPurpose::Password,
        "second_factor" => LinkPurpose::SecondFactor,
        "invitation" => LinkPurpose::Invitation,
        _ => return Err(Fault::NotFound),
    };
    let words = match purpose {
        LinkPurpose::Invitation => "invitation",
        LinkPurpose::Password | LinkPurpose::SecondFactor => "reset_link",
    };
    let token = account::reset(store, id, purpose, &by)
        .await
        .map_err(fault)?;
    let what = Shown {
        link: Some((token, words)),
        ..Shown::default()
    };
    page(&app, &person, what).await
}

fn fault(error: Error) -> Fault {
    match error {
        Error::Store(error) => error.into(),
        Error::Problems(_) | Error::Unknown | Error::Disabled => Fault::NotFound,
    }
}

/// Splits a listed role into its name, its casino and its last day.
fn parts(role: &str) -> (&str, Option<&str>, Option<&str>) {
    let (grant, end) = role.split_once(" until ").map_or((role, None), cut);
    let (role, casino) = grant.split_once('@').map_or((grant, None), cut);
    (role, casino, end)
}

fn cut<'a>((left, right): (&'a str, &'a str)) -> (&'a str, Option<&'a str>) {
    (left, Some(right))
}

/// Lists those of the person's roles that `admin` may grant. Roles at other casinos are not shown.
fn roles_of(admin: &Person, each: &ListedOperator, w: Words) -> String {
    let roles = each.roles.iter().filter_map(|role| {
        let (role, casino, end) = parts(role);
        let whose: Option<CasinoId> = casino.and_then(|casino| casino.parse().ok());
        let name = w.of_kind("role", role);
        let text = casino.map_or_else(|| name.clone(), |casino| format!("{name} ({casino})"));
        let until = w.t("role_until");
        let text = end.map_or_else(|| text.clone(), |end| format!("{text} {until} {end}"));
        admin.grants.may_grant(whose.as_ref()).then_some(text)
    });
    roles.collect::<Vec<_>>().join(", ")
}

/// Returns the casinos of the person's roles, without roles that have ended. `None` means every
/// casino.
fn casinos_of(each: &ListedOperator, today: NaiveDate) -> impl Iterator<Item = Option<CasinoId>> {
    let lasts = move |end: Option<&str>| {
        let end = end.and_then(|day| day.parse::<NaiveDate>().ok());
        end.is_none_or(|day| day >= today)
    };
    let roles = each.roles.iter().map(|role| parts(role));
    let now = roles.filter(move |(_, _, end)| lasts(*end));
    now.map(|(_, casino, _)| casino.and_then(|casino| casino.parse().ok()))
}

/// Returns whether the administrator manages at least one of the person's casinos.
fn is_known(admin: &Person, each: &ListedOperator, today: NaiveDate) -> bool {
    casinos_of(each, today).any(|casino| admin.grants.may_grant(casino.as_ref()))
        || is_theirs(admin, each, today)
}

/// Returns whether the administrator manages all of the person's casinos. Only then may the
/// administrator disable the person.
fn is_theirs(admin: &Person, each: &ListedOperator, today: NaiveDate) -> bool {
    if casinos_of(each, today).next().is_none() {
        return admin.grants.may_everywhere(Right::Operators);
    }
    casinos_of(each, today).all(|casino| admin.grants.may_grant(casino.as_ref()))
}

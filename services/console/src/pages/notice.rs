//! The page behind the link of a notice: shows one case without the guest's words, and lets the
//! reader acknowledge it. The link alone proves who the reader is. Any other action needs a login.

use askama::Template;
use axum::{
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use chrono::TimeDelta;
use seven_domain::CasinoId;
use seven_notices::{LINK_HOURS, read_link, reason_name};
use seven_store::{
    Tx,
    contacts::{CaseNotice, Contact},
};

use super::conversations::{clock, name_of};
use crate::{
    app::{App, Shared},
    fault::Fault,
    frame::Frame,
    guard::{go_to, shown, words_of},
    words::Words,
};

#[derive(Template)]
#[template(path = "notice.html")]
struct NoticePage {
    frame: Frame,
    /// Why the page shows no case; empty if it shows one.
    problem: String,
    severity: String,
    about: String,
    opened: String,
    acknowledge_by: String,
    write_by: String,
    /// Name of the person who acknowledged the case; empty if nobody has.
    in_hand: String,
    settled: bool,
    /// The address of the conversation's page, which needs a login; empty without a conversation.
    conversation: String,
}

type Link = (CasinoId, String);

/// Returns the link's contact and case. Returns `None` if this fleet did not make the link, if the
/// link is too old, or if the contact no longer exists.
async fn case_of(
    app: &App,
    (casino, token): &Link,
) -> Result<Option<(Tx, Contact, CaseNotice)>, Fault> {
    // Verifies the link before the first database query.
    let Some(notice) = read_link(&app.fleet.keys, casino, token) else {
        return Ok(None);
    };
    let mut tx = app.fleet.store.bind(casino).await?;
    let now = app.fleet.clock.now();
    let found = tx.case_of_notice(notice).await?;
    let Some(case) = found.filter(|case| now - case.told_at < TimeDelta::hours(LINK_HOURS)) else {
        return Ok(None);
    };
    let contact = tx.contact(case.contact_id).await?;
    Ok(contact.map(|contact| (tx, contact, case)))
}

/// Shows the case. This must not change anything, because chat servers open links to preview them.
pub(crate) async fn show(
    State(app): State<Shared>,
    Path(link): Path<Link>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let Some((mut tx, contact, case)) = case_of(&app, &link).await? else {
        return Ok(dead(words_of(&headers)));
    };
    let zone = tx
        .casino_row()
        .await?
        .map(|row| row.config.operational.timezone);
    let names = tx.staff_names().await?;
    tx.commit().await?;
    let w = Words::of(contact.language.as_str());
    let by = case.acknowledged_by.unwrap_or_default();
    let page = NoticePage {
        frame: Frame::plain(w, &reason_name(contact.language, &case.reason)),
        problem: String::new(),
        severity: case.severity.to_string(),
        about: case.subject,
        opened: clock(case.created_at, zone),
        acknowledge_by: case
            .ack_due_at
            .map(|at| clock(at, zone))
            .unwrap_or_default(),
        write_by: case
            .respond_due_at
            .map(|at| clock(at, zone))
            .unwrap_or_default(),
        in_hand: name_of(&names, &by),
        settled: case.resolved_at.is_some(),
        conversation: case
            .conversation_id
            .map(|id| format!("/c/{}/conversations/{id}", link.0))
            .unwrap_or_default(),
    };
    Ok(shown(&page).into_response())
}

/// Acknowledges the case, in the name of the contact that the link was sent to.
pub(crate) async fn acknowledge(
    State(app): State<Shared>,
    Path(link): Path<Link>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let Some((mut tx, _, case)) = case_of(&app, &link).await? else {
        return Ok(dead(words_of(&headers)));
    };
    let by = format!("contact:{}", case.contact_id);
    tx.acknowledge(case.escalation_id, &by).await?;
    tx.commit().await?;
    app.hints.changed(&link.0);
    Ok(go_to(&format!("/n/{}/{}", link.0, link.1)))
}

fn dead(w: Words) -> Response {
    let page = NoticePage {
        frame: Frame::plain(w, w.t("dead_notice")),
        problem: w.t("dead_notice_hint").to_owned(),
        severity: String::new(),
        about: String::new(),
        opened: String::new(),
        acknowledge_by: String::new(),
        write_by: String::new(),
        in_hand: String::new(),
        settled: false,
        conversation: String::new(),
    };
    (StatusCode::NOT_FOUND, shown(&page)).into_response()
}

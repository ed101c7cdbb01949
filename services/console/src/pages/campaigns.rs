//! The casino's campaigns: shows their wording and progress, and lets people approve, pause, resume
//! or cancel them.

use askama::Template;
use axum::{
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use seven_domain::{CampaignId, CasinoId};
use seven_staff::{
    Right,
    campaigns::{NotChanged, Step, change as change_state},
    phrases::sentence,
};
use uuid::Uuid;

use super::conversations::{clock, name_of};
use crate::{
    access::{Person, Posted},
    app::Shared,
    fault::Fault,
    frame::Frame,
    guard::{go_to, shown},
};

/// Maximum number of campaigns in the list.
const MOST: i64 = 30;
const MOST_REASON: usize = 300;
const STEPS: [(Step, &str); 4] = [
    (Step::Approve, "approve"),
    (Step::Pause, "pause"),
    (Step::Resume, "resume"),
    (Step::Cancel, "cancel"),
];

#[derive(Template)]
#[template(path = "campaigns.html")]
struct CampaignsPage {
    frame: Frame,
    casino: CasinoId,
    rows: Vec<Row>,
    may_change: bool,
    problem: &'static str,
}

struct Row {
    id: String,
    name: String,
    state: String,
    text_en: String,
    text_es: String,
    listed: i64,
    released: i64,
    refused: i64,
    /// The person who began the campaign, and when.
    begun: String,
    ended: String,
    /// The number of guests in each state, with the reason: number, state, reason.
    counts: Vec<(i64, String, String)>,
    /// Whether the campaign needs a second person's approval. `approved` says who approved it and
    /// when; it is empty before the approval.
    awaits_approval: bool,
    approved: String,
    /// The steps that the campaign's state and the person's rights allow.
    steps: Vec<&'static str>,
}

#[derive(Deserialize)]
pub(crate) struct Changed {
    #[serde(default)]
    step: String,
    #[serde(default)]
    reason: String,
}

pub(crate) async fn show(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    person: Person,
) -> Result<Response, Fault> {
    page(&app, &casino, &person, "").await
}

async fn page(
    app: &Shared,
    casino: &CasinoId,
    person: &Person,
    problem: &'static str,
) -> Result<Response, Fault> {
    person.needs(casino, Right::Campaigns)?;
    let w = person.words();
    let mut tx = app.fleet.store.bind(casino).await?;
    let zone = tx
        .casino_row()
        .await?
        .map(|row| row.config.operational.timezone);
    let names = tx.staff_names().await?;
    let mut rows = Vec::new();
    for one in tx.campaigns(MOST).await? {
        let counts = tx.campaign_counts(CampaignId(one.campaign_id)).await?;
        let count = |(what, n): (String, i64)| {
            let (state, reason) = what.split_once(": ").unwrap_or((&what, ""));
            (n, w.of_kind("text", state), sentence(reason))
        };
        let approves = person.may(casino, Right::Approve) && one.created_by != person.actor();
        let open = STEPS.iter().filter(|(step, _)| match step {
            Step::Approve => approves && step.is_open_to(&one),
            _ => step.is_open_to(&one),
        });
        let steps = open.map(|(_, name)| *name).collect();
        let approved = one.approved_by.as_deref().zip(one.approved_at);
        rows.push(Row {
            id: one.campaign_id.to_string(),
            state: w.of_kind("campaign", one.state.as_str()),
            listed: one.listed,
            released: one.released,
            refused: one.refused,
            begun: format!(
                "{}, {}",
                name_of(&names, &one.created_by),
                clock(one.created_at, zone)
            ),
            ended: one.ended_at.map(|at| clock(at, zone)).unwrap_or_default(),
            counts: counts.into_iter().map(count).collect(),
            steps,
            awaits_approval: one.awaits_approval,
            approved: approved.map_or_else(String::new, |(by, at)| {
                format!("{}, {}", name_of(&names, by), clock(at, zone))
            }),
            name: one.name,
            text_en: one.text_en,
            text_es: one.text_es,
        });
    }
    tx.commit().await?;
    let status = if problem.is_empty() {
        StatusCode::OK
    } else {
        StatusCode::UNPROCESSABLE_ENTITY
    };
    let page = CampaignsPage {
        frame: Frame::of(person, Some(casino), w.t("campaigns"), "campaigns"),
        casino: casino.clone(),
        rows,
        may_change: person.may(casino, Right::Launch),
        problem: if problem.is_empty() { "" } else { w.t(problem) },
    };
    Ok((status, shown(&page)).into_response())
}

/// Approves, pauses, resumes or cancels a campaign. If somebody else changed it meanwhile, the page
/// says so.
pub(crate) async fn change(
    State(app): State<Shared>,
    Path((casino, campaign)): Path<(CasinoId, Uuid)>,
    Posted { person, form }: Posted<Changed>,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Launch)?;
    let step = STEPS.iter().find(|(_, name)| *name == form.step);
    let (step, _) = step.ok_or(Fault::NotFound)?;
    if *step == Step::Approve {
        person.needs(&casino, Right::Approve)?;
    }
    let reason: String = form.reason.trim().chars().take(MOST_REASON).collect();
    if reason.is_empty() {
        return page(&app, &casino, &person, "reason_missing").await;
    }
    let (id, by) = (campaign.to_string(), person.actor());
    match change_state(&app.fleet, &casino, &id, *step, &reason, &by).await {
        Ok(_) => {
            app.hints.changed(&casino);
            Ok(go_to(&format!("/c/{casino}/campaigns")))
        }
        Err(NotChanged::OwnPlan { .. }) => page(&app, &casino, &person, "campaign_own").await,
        Err(
            NotChanged::State { .. }
            | NotChanged::Unapproved { .. }
            | NotChanged::NothingToApprove { .. },
        ) => page(&app, &casino, &person, "campaign_moved").await,
        Err(NotChanged::Unknown) => Err(Fault::NotFound),
        Err(NotChanged::Store(error)) => Err(error.into()),
    }
}

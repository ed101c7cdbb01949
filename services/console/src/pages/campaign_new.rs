//! Plans a campaign. Checks its texts and shows their faults beside the fields. Shows a forecast
//! without sending anything, or submits the campaign for a second person's approval.

use std::sync::Arc;

use askama::Template;
use axum::{
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use seven_campaigns::{Fault as Wrong, Faults, New, Plan, Text, Texts, create, pace};
use seven_domain::{CampaignId, CasinoConfig, CasinoId, GuestHash};
use seven_staff::{Right, phrases::sentence};
use seven_store::controls::Order;

use crate::{
    access::{Person, Posted},
    app::{App, Shared},
    fault::Fault,
    frame::Frame,
    guard::{go_to, shown},
    words::Words,
};

/// Maximum number of guests whom the forecast checks; with more, the page would take too long. If
/// there are more guests, an evenly spaced sample of them is checked. The forecast need not be
/// exact, because the pre-send check decides about each text when it is sent.
const MOST_FORECAST: usize = 2_000;
const MOST_NAME: usize = 60;

#[derive(Template)]
#[template(path = "campaign_new.html")]
struct CampaignNewPage {
    frame: Frame,
    casino: CasinoId,
    form: Planned,
    name_problem: &'static str,
    en_problems: Vec<String>,
    es_problems: Vec<String>,
    problem: &'static str,
    forecast: Option<Forecast>,
}

/// A forecast as the page shows it.
struct Forecast {
    texts: [Shown; 2],
    guests: usize,
    looked_at: usize,
    /// For each outcome: the number of guests, the outcome, and its reason.
    counts: Vec<(u64, String, String)>,
    segments: u64,
    minutes: u64,
}

struct Shown {
    language: &'static str,
    body: String,
    units: usize,
    most: usize,
    risk: String,
}

#[derive(Default, Deserialize)]
pub(crate) struct Planned {
    #[serde(default)]
    name: String,
    #[serde(default)]
    text_en: String,
    #[serde(default)]
    text_es: String,
    /// The button that was pressed: `plan` or `submit`.
    #[serde(default)]
    what: String,
}

/// The faults of a planned campaign.
#[derive(Default)]
struct Problems {
    name: &'static str,
    texts: Faults,
    all: &'static str,
}

pub(crate) async fn show(Path(casino): Path<CasinoId>, person: Person) -> Result<Response, Fault> {
    person.needs(&casino, Right::Launch)?;
    Ok(page(
        &casino,
        &person,
        Planned::default(),
        &Problems::default(),
        None,
    ))
}

fn page(
    casino: &CasinoId,
    person: &Person,
    form: Planned,
    problems: &Problems,
    forecast: Option<Forecast>,
) -> Response {
    let w = person.words();
    let bad = !problems.name.is_empty()
        || !problems.all.is_empty()
        || !problems.texts.en.is_empty()
        || !problems.texts.es.is_empty();
    let words = |key: &'static str| if key.is_empty() { "" } else { w.t(key) };
    let page = CampaignNewPage {
        frame: Frame::of(person, Some(casino), w.t("campaign_new"), "campaigns"),
        casino: casino.clone(),
        form,
        name_problem: words(problems.name),
        en_problems: in_words(w, &problems.texts.en),
        es_problems: in_words(w, &problems.texts.es),
        problem: words(problems.all),
        forecast,
    };
    let status = if bad {
        StatusCode::UNPROCESSABLE_ENTITY
    } else {
        StatusCode::OK
    };
    (status, shown(&page)).into_response()
}

fn in_words(w: Words, faults: &[Wrong]) -> Vec<String> {
    let detail = |fault: &Wrong| match fault {
        Wrong::UnknownSlot(slot) => format!(" {slot}"),
        Wrong::TooLong(measure) => format!(" {} / {}", measure.units, measure.encoding.single()),
        Wrong::Risky(risk) => format!(" {risk}"),
        Wrong::Wording(_) => String::new(),
    };
    let word = |fault| {
        format!(
            "{}{}",
            w.of_kind("campaign_fault", Wrong::code(fault)),
            detail(fault)
        )
    };
    faults.iter().map(word).collect()
}

/// Shows the forecast or, for `submit`, stores the campaign, which then waits for a second person.
pub(crate) async fn plan(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Posted { person, form }: Posted<Planned>,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Launch)?;
    let (config, guests, taken) = of_casino(&app, &casino, form.name.trim()).await?;
    let texts = Texts::read(&form.text_en, &form.text_es, &config);
    let name = form.name.trim();
    let name = if name.is_empty() || name.chars().count() > MOST_NAME {
        "campaign_name_wrong"
    } else if taken {
        "campaign_name_taken"
    } else {
        ""
    };
    let all = if !config.features.outbound_campaigns_enabled {
        "campaigns_off"
    } else if guests.is_empty() {
        "campaign_nobody"
    } else {
        ""
    };
    let texts = match texts {
        Ok(texts) if name.is_empty() && all.is_empty() => texts,
        read => {
            let texts = read.err().unwrap_or_default();
            let problems = Problems { name, texts, all };
            return Ok(page(&casino, &person, form, &problems, None));
        }
    };
    let campaign: CampaignId = app.fleet.ids.next();
    let plan = Plan::of(&app.fleet, &config, campaign, &texts, some_of(&guests)).await;
    let plan = plan.map_err(|error| {
        tracing::error!(
            %casino,
            error = &error as &dyn std::error::Error,
            "a campaign could not be planned"
        );
        Fault::Trouble
    })?;
    if form.what != "submit" {
        let forecast = forecast(person.words(), &config, &texts, &plan, guests.len());
        return Ok(page(
            &casino,
            &person,
            form,
            &Problems::default(),
            Some(forecast),
        ));
    }
    let new = New {
        campaign_id: campaign,
        name: form.name.trim(),
        texts: &texts,
        plan: &plan,
        all_consenting: true,
        awaits_approval: true,
        order: Order {
            by: &person.actor(),
            reason: form.name.trim(),
        },
    };
    let created = create(&app.fleet, &casino, &new).await.map_err(|error| {
        tracing::error!(
            %casino,
            error = &error as &dyn std::error::Error,
            "a campaign could not be stored"
        );
        Fault::Trouble
    })?;
    if !created {
        let problems = Problems {
            name: "campaign_name_taken",
            ..Problems::default()
        };
        return Ok(page(&casino, &person, form, &problems, None));
    }
    app.hints.changed(&casino);
    Ok(go_to(&format!("/c/{casino}/campaigns")))
}

/// Returns the casino's configuration, its guests with marketing consent, and whether the
/// campaign's name is taken.
async fn of_casino(
    app: &App,
    casino: &CasinoId,
    name: &str,
) -> Result<(Arc<CasinoConfig>, Vec<GuestHash>, bool), Fault> {
    let mut tx = app.fleet.store.bind(casino).await?;
    let row = tx.casino_row().await?.ok_or(Fault::NotFound)?;
    let guests = tx.consenting_guests().await?;
    let taken = tx.campaign(name).await?.is_some();
    tx.commit().await?;
    Ok((row.config, guests, taken))
}

/// Returns an evenly spaced sample of at most [`MOST_FORECAST`] guests.
fn some_of(guests: &[GuestHash]) -> Vec<GuestHash> {
    let step = guests.len().div_ceil(MOST_FORECAST).max(1);
    guests.iter().step_by(step).copied().collect()
}

fn forecast(
    w: Words,
    config: &CasinoConfig,
    texts: &Texts,
    plan: &Plan,
    guests: usize,
) -> Forecast {
    let text = |language, text: &Text| Shown {
        language,
        body: text.body.clone(),
        units: text.measure.units,
        most: text.measure.encoding.single(),
        risk: text.risk.to_string(),
    };
    let looked_at = plan.0.len();
    let counts = plan.counts().into_iter();
    let counts =
        counts.map(|((fate, why), n)| (n, w.of_kind("campaign_fate", fate), sentence(why)));
    let all = |n: u64| n * guests as u64 / looked_at.max(1) as u64;
    let segments = all(plan.segments());
    let seconds = pace::estimate(pace::rate(&config.operational), segments).as_secs();
    Forecast {
        texts: [text("en", &texts.en), text("es", &texts.es)],
        guests,
        looked_at,
        counts: counts.collect(),
        segments,
        minutes: seconds.div_ceil(60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_guests_evenly_chosen_ones_are_looked_at() {
        let guest = |n: usize| GuestHash {
            key_id: i16::try_from(n % 1_000).unwrap(),
            bytes: [0; 32],
        };
        for (guests, looked_at) in [
            (0, 0),
            (1, 1),
            (2_000, 2_000),
            (2_001, 1_001),
            (50_000, 2_000),
        ] {
            let all: Vec<GuestHash> = (0..guests).map(guest).collect();
            assert_eq!(some_of(&all).len(), looked_at, "{guests}");
        }
    }
}

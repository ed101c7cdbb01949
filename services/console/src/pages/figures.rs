//! The casino's figures for its manager. Compares a period with the period before, and shows each
//! day and the cost per month. The page defines each figure and offers all of them as CSV.

use askama::Template;
use axum::{
    extract::{Path, Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use chrono::{Datelike, Days, NaiveDate};
use chrono_tz::Tz;
use serde::Deserialize;
use seven_cost::Cost;
use seven_domain::CasinoId;
use seven_figures::{Bad, Figure, LONGEST_DAYS, Period, Report, Unit};
use seven_staff::Right;

use crate::{
    access::Person,
    app::{App, Shared},
    chart::{Chart, Point},
    fault::Fault,
    frame::Frame,
    guard::{file, shown},
    words::Words,
};

/// Length of the period that is shown at first, in days.
const DAYS: u64 = 30;

/// Figures that are shown as a single number, by group.
const GROUPS: [(&str, &[Figure]); 4] = [
    (
        "figures_in",
        &[
            Figure::TextsIn,
            Figure::Guests,
            Figure::NewGuests,
            Figure::Sessions,
            Figure::Answered,
            Figure::Unanswered,
            Figure::AnsweredShare,
            Figure::FirstAnswerMedian,
            Figure::FirstAnswerP95,
        ],
    ),
    (
        "figures_host",
        &[
            Figure::Replies,
            Figure::Grounded,
            Figure::GroundedShare,
            Figure::Learnt,
            Figure::CompletenessShare,
            Figure::ByPeople,
            Figure::CaseMinutes,
            Figure::CasesLate,
        ],
    ),
    (
        "figures_out",
        &[
            Figure::TextsOut,
            Figure::SegmentsOut,
            Figure::Delivered,
            Figure::DeliveredShare,
            Figure::Undelivered,
            Figure::NotConfirmed,
        ],
    ),
    (
        "figures_money",
        &[
            Figure::Offers,
            Figure::OfferDollars,
            Figure::Redeemed,
            Figure::RedeemedDollars,
            Figure::CostModel,
            Figure::CostTexts,
            Figure::Cost,
        ],
    ),
];
/// Figures that are split into parts. The second value is the kind under which `Words::of_kind`
/// finds the names of the parts.
const PARTED: [(Figure, &str); 8] = [
    (Figure::Topics, "topic"),
    (Figure::Languages, "language"),
    (Figure::Told, "known"),
    (Figure::Profiles, "completeness"),
    (Figure::OfferKinds, "offer"),
    (Figure::RedeemedKinds, "offer"),
    (Figure::Cases, "severity"),
    (Figure::OptOuts, "opt_out"),
];

#[derive(Template)]
#[template(path = "figures.html")]
struct FiguresPage {
    frame: Frame,
    casino: CasinoId,
    from: String,
    to: String,
    problem: String,
    /// Periods offered as links: the key for `Words::t` of the name, first day, last day.
    quick: Vec<(&'static str, String, String)>,
    groups: Vec<Group>,
    parted: Vec<Parted>,
    texts: Chart,
    cost: Chart,
    days: Vec<[String; 7]>,
    months: Vec<[String; 5]>,
}

struct Group {
    name: &'static str,
    rows: Vec<Line>,
}

struct Line {
    name: &'static str,
    definition: &'static str,
    value: String,
    before: String,
}

struct Parted {
    name: &'static str,
    definition: &'static str,
    /// The part's name, its value, and its share of the whole figure.
    rows: Vec<(String, String, String)>,
}

#[derive(Default, Deserialize)]
pub(crate) struct Chosen {
    #[serde(default)]
    from: String,
    #[serde(default)]
    to: String,
    /// `days` to download the table of days; otherwise the figures.
    #[serde(default)]
    what: String,
}

pub(crate) async fn show(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Query(chosen): Query<Chosen>,
    person: Person,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Figures)?;
    let zone = zone(&app, &casino).await?;
    let today = app.fleet.clock.now().with_timezone(&zone).date_naive();
    let recent = Period::last(DAYS, app.fleet.clock.now(), zone);
    let w = person.words();
    let (period, problem) = match read(&chosen, recent) {
        Ok(period) => (period, String::new()),
        Err(bad) => (recent, said(w, bad)),
    };
    let mut tx = app.fleet.store.bind(&casino).await?;
    let report = Report::read(&mut tx, &app.prices, period).await?;
    let before = Report::read(&mut tx, &app.prices, period.before()).await?;
    let costs = seven_figures::months(&mut tx, &app.prices, period).await?;
    tx.commit().await?;
    let status = if problem.is_empty() {
        StatusCode::OK
    } else {
        StatusCode::UNPROCESSABLE_ENTITY
    };
    let page = FiguresPage {
        frame: Frame::of(&person, Some(&casino), w.t("figures"), "figures"),
        casino,
        from: period.from.to_string(),
        to: period.to.to_string(),
        problem,
        quick: quick(today),
        groups: groups(w, &report, &before),
        parted: parted(w, &report),
        texts: texts(w, &report),
        cost: cost(w, &report),
        days: days(&report),
        months: months(&costs),
    };
    Ok((status, shown(&page)).into_response())
}

/// Returns the figures, or the table of days, as a CSV file.
pub(crate) async fn download(
    State(app): State<Shared>,
    Path(casino): Path<CasinoId>,
    Query(chosen): Query<Chosen>,
    person: Person,
) -> Result<Response, Fault> {
    person.needs(&casino, Right::Figures)?;
    let zone = zone(&app, &casino).await?;
    let recent = Period::last(DAYS, app.fleet.clock.now(), zone);
    let period = read(&chosen, recent).map_err(|_| Fault::NotFound)?;
    let mut tx = app.fleet.store.bind(&casino).await?;
    let report = Report::read(&mut tx, &app.prices, period).await?;
    tx.commit().await?;
    let (what, text) = match chosen.what.as_str() {
        "days" => ("days", report.days_csv()),
        _ => ("figures", report.csv(person.words().language())),
    };
    let (from, to) = (period.from, period.to);
    Ok(file(&format!("{casino}-{what}-{from}-{to}.csv"), text))
}

async fn zone(app: &App, casino: &CasinoId) -> Result<Tz, Fault> {
    let mut tx = app.fleet.store.bind(casino).await?;
    let row = tx.casino_row().await?.ok_or(Fault::NotFound)?;
    tx.commit().await?;
    Ok(row.config.operational.timezone)
}

fn said(w: Words, bad: Bad) -> String {
    match bad {
        Bad::Day => w.t("figures_bad_day").to_owned(),
        Bad::Backwards { .. } => w.t("figures_backwards").to_owned(),
        Bad::TooLong(days) => w
            .t("figures_too_long")
            .replace("{days}", &days.to_string())
            .replace("{most}", &LONGEST_DAYS.to_string()),
    }
}

fn read(chosen: &Chosen, recent: Period) -> Result<Period, Bad> {
    let Period { from, to, zone } = Period::read(&chosen.from, &chosen.to, recent)?;
    Period::new(from, to, zone)
}

fn quick(today: NaiveDate) -> Vec<(&'static str, String, String)> {
    let first = today.with_day(1).unwrap_or(today);
    let last_month = first - Days::new(1);
    let ago = |days: u64| today - Days::new(days - 1);
    [
        ("figures_week", ago(7), today),
        ("figures_30", ago(30), today),
        ("figures_90", ago(90), today),
        ("figures_month", first, today),
        (
            "figures_last_month",
            last_month.with_day(1).unwrap_or(last_month),
            last_month,
        ),
    ]
    .map(|(key, from, to)| (key, from.to_string(), to.to_string()))
    .into()
}

fn groups(w: Words, report: &Report, before: &Report) -> Vec<Group> {
    let written = |report: &Report, figure: Figure| {
        let value = report.value(figure);
        value.map_or_else(|| "–".to_owned(), |value| figure.unit().shown(value))
    };
    let line = |figure: &Figure| Line {
        name: figure.name(w.language()),
        definition: figure.definition(w.language()),
        value: written(report, *figure),
        before: written(before, *figure),
    };
    let group = |(name, figures): &(&'static str, &[Figure])| Group {
        name,
        rows: figures.iter().map(line).collect(),
    };
    GROUPS.iter().map(group).collect()
}

fn parted(w: Words, report: &Report) -> Vec<Parted> {
    let parted = |(figure, kind): &(Figure, &str)| {
        let whole: f64 = report.parts(*figure).map(|part| part.value).sum();
        let row = |part: &seven_figures::Value| {
            (
                w.of_kind(kind, &part.part).replace('_', " "),
                figure.unit().shown(part.value),
                // One guest may tell several things, so shares would not add up to 100 percent.
                match figure {
                    Figure::Told => String::new(),
                    _ => Unit::Share.shown(part.value / whole.max(1.0)),
                },
            )
        };
        Parted {
            name: figure.name(w.language()),
            definition: figure.definition(w.language()),
            rows: report.parts(*figure).map(row).collect(),
        }
    };
    PARTED.iter().map(parted).collect()
}

fn texts(w: Words, report: &Report) -> Chart {
    let name = |figure: Figure| figure.name(w.language());
    let points = report.days.iter().map(|day| {
        let counted = &day.counted;
        Point {
            label: counted.day.to_string(),
            title: format!(
                "{}: {} {}, {} {}",
                counted.day,
                name(Figure::TextsIn),
                counted.texts_in,
                name(Figure::Answered),
                counted.answered
            ),
            whole: counted.texts_in as f64,
            part: counted.answered as f64,
        }
    });
    let points: Vec<Point> = points.collect();
    Chart::new(w.t("figures_chart_texts"), &points, |most| {
        Unit::Count.shown(most)
    })
}

fn cost(w: Words, report: &Report) -> Chart {
    let points = report.days.iter().map(|day| {
        let dollars = day.cost.dollars();
        Point {
            label: day.counted.day.to_string(),
            title: format!("{}: {}", day.counted.day, Unit::Dollars.shown(dollars)),
            whole: dollars,
            part: dollars,
        }
    });
    let points: Vec<Point> = points.collect();
    Chart::new(w.t("figures_chart_cost"), &points, |most| {
        Unit::Dollars.shown(most)
    })
}

fn days(report: &Report) -> Vec<[String; 7]> {
    let row = |day: &seven_figures::Day| {
        let counted = &day.counted;
        [
            counted.day.to_string(),
            counted.texts_in.to_string(),
            counted.answered.to_string(),
            counted.texts_out.to_string(),
            counted.cases.to_string(),
            counted.opt_outs.to_string(),
            Unit::Dollars.shown(day.cost.dollars()),
        ]
    };
    report.days.iter().rev().map(row).collect()
}

fn months(costs: &[Cost]) -> Vec<[String; 5]> {
    let months = costs.iter().map(|cost| {
        let of = [cost.model, cost.sms, cost.fixed, cost.total];
        let [model, sms, fixed, total] = of.map(|usd| Unit::Dollars.shown(usd.dollars()));
        [cost.month.clone(), model, sms, fixed, total]
    });
    months.collect()
}

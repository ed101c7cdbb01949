//! get_event_schedule: events within a range of days, in the order of their start.

use std::sync::Arc;

use chrono::{DateTime, Datelike, Days, NaiveDate, NaiveTime, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use seven_knowledge::{Category, Item, formatter, hours::weekly_starts, item::Details};

use crate::{
    Toolbox,
    fault::{Answer, Fault, arguments},
    when,
};

/// Number of days to list if the model names neither a first nor a last day.
const USUAL_DAYS: u64 = 7;
const MOST_DAYS: i64 = 60;
const MOST_EVENTS: usize = 8;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The first day, such as 2026-12-25, today, tomorrow or friday; today without one.
    #[serde(default)]
    from: Option<String>,
    /// The last day; without one it is the first day, or a week from today.
    #[serde(default)]
    to: Option<String>,
}

/// One performance of an event.
struct Start {
    item: Arc<Item>,
    at: DateTime<Utc>,
}

impl Toolbox<'_> {
    pub(crate) fn get_event_schedule(&mut self, given: &Value) -> Answer {
        let Arguments { from, to } = arguments(given)?;
        let (first, last) = self.range(from.as_deref(), to.as_deref())?;
        let (now, zone) = (self.given.now, self.zone());
        let rows = self.given.index.by_category(&Category::Entertainment, now);
        let mut starts: Vec<Start> = rows
            .iter()
            .flat_map(|item| starts(item, first, last, zone))
            .collect();
        starts.retain(|start| start.at + lasts(&start.item) >= now);
        // The sort is stable: events that start at the same time keep the order of the content
        // file.
        starts.sort_by_key(|start| start.at);
        let more = starts.len().saturating_sub(MOST_EVENTS);
        starts.truncate(MOST_EVENTS);
        let events: Vec<Value> = starts.iter().map(|start| self.event(start)).collect();
        let mut result = json!({"from": first, "to": last, "events": events});
        if more > 0 {
            result["more"] = json!(more);
        }
        // Also lists events whose dates cannot be computed, such as "first Friday of the month".
        let undated = rows.iter().filter(|item| is_undated(item));
        let undated: Vec<Value> = undated
            .take(MOST_EVENTS)
            .map(|item| self.show(item, None))
            .collect();
        if !undated.is_empty() {
            result["without_a_date"] = json!(undated);
        }
        if events.is_empty() {
            result["note"] = json!(format!(
                "the content names no event of these days; {}",
                self.ask_people()
            ));
        }
        Ok(result)
    }

    fn range(&self, from: Option<&str>, to: Option<&str>) -> Result<(NaiveDate, NaiveDate), Fault> {
        let (from, _) = self.asked(from, None)?;
        let (to, _) = self.asked(to, None)?;
        let first = from.unwrap_or_else(|| self.today());
        let week = || {
            first
                .checked_add_days(Days::new(USUAL_DAYS))
                .unwrap_or(first)
        };
        let last = to.or(from).unwrap_or_else(week);
        match (last - first).num_days() {
            0..=MOST_DAYS => Ok((first, last)),
            i64::MIN..0 => Err(Fault::new(
                "bad_arguments",
                format!("{last} is before {first}"),
                "swap from and to",
            )),
            _ => Err(Fault::new(
                "bad_arguments",
                "the range is too long",
                format!("ask for at most {MOST_DAYS} days"),
            )),
        }
    }

    fn event(&mut self, start: &Start) -> Value {
        let when = formatter::moment(start.at, self.zone(), self.given.language);
        let row = self.show(&start.item, None);
        self.found(format!(
            "{} starts {}.",
            start.item.name,
            formatter::moment(start.at, self.zone(), seven_domain::Language::En)
        ));
        json!({
            "id": row["id"],
            "name": row["name"],
            "starts": when,
            "venue": start.item.location(),
            "text": row["text"],
        })
    }
}

fn lasts(item: &Item) -> TimeDelta {
    match &item.details {
        Details::Entertainment(event) => {
            TimeDelta::minutes(event.duration_minutes.unwrap_or(0).into())
        }
        _ => TimeDelta::zero(),
    }
}

/// Returns every start of the event from day `first` to day `last`. These are the event's date, or
/// the starts in its weekly schedule.
fn starts(item: &Arc<Item>, first: NaiveDate, last: NaiveDate, zone: chrono_tz::Tz) -> Vec<Start> {
    let Details::Entertainment(event) = &item.details else {
        return Vec::new();
    };
    let start = |at| Start {
        item: Arc::clone(item),
        at,
    };
    if let Some(at) = event.starts_at {
        let day = at.with_timezone(&zone).date_naive();
        return if (first..=last).contains(&day) {
            vec![start(at)]
        } else {
            Vec::new()
        };
    }
    let Some(weekly) = event
        .schedule
        .as_deref()
        .and_then(|text| weekly_starts(text).ok())
    else {
        return Vec::new();
    };
    let days = first.iter_days().take_while(|day| *day <= last);
    let walls = days.flat_map(|day| {
        let minutes = weekly[day.weekday().num_days_from_monday() as usize].iter();
        minutes.map(move |minute| {
            day.and_time(NaiveTime::MIN) + TimeDelta::minutes(i64::from(*minute))
        })
    });
    walls.map(|wall| start(when::instant(wall, zone))).collect()
}

fn is_undated(item: &Item) -> bool {
    let Details::Entertainment(event) = &item.details else {
        return false;
    };
    event.starts_at.is_none()
        && event
            .schedule
            .as_deref()
            .is_some_and(|text| weekly_starts(text).is_err())
}

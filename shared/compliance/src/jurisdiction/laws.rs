//! The table of state rules (`data/states.toml`): its format, and how the rules of several states
//! are combined into the strictest.

use std::{collections::BTreeMap, sync::LazyLock};

use chrono::{NaiveDate, Weekday};
use serde::{Deserialize, Serialize};
use seven_domain::Invalid;

use super::State;
use crate::quiet_hours::{Hours, Week};

/// How reliable the source of a state's sending window is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Grade {
    /// The text of the rule itself.
    A,
    /// A named law, described by good secondary sources.
    B,
    /// Secondary sources that disagree; the narrower window is used.
    C,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disclosure {
    /// Whether the first text must say that an AI writes it.
    pub required: bool,
    #[serde(default)]
    pub law: Option<String>,
}

/// A waiting period, which applies to offers worth more than `offers_above_dollars`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoolingOff {
    pub hours: u32,
    pub offers_above_dollars: u32,
}

/// The rules of one state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Law {
    pub name: String,
    /// The hours in which an unsolicited text may be sent, in the guest's local time.
    pub week: Week,
    pub source: String,
    pub grade: Grade,
    /// The day on which counsel confirmed these rules; `None` if nobody has.
    pub verified_at: Option<NaiveDate>,
    pub ai_disclosure: Disclosure,
    pub cooling_off: Option<CoolingOff>,
    pub self_exclusion_check: bool,
    pub note: Option<String>,
}

/// The laws of all states, DC and the territories, by state.
#[derive(Debug, Clone)]
pub struct Laws(BTreeMap<State, Law>);

impl Laws {
    /// Returns the table that is compiled into this build.
    pub fn shipped() -> &'static Self {
        static SHIPPED: LazyLock<Laws> = LazyLock::new(|| {
            Laws::parse(include_str!("../../data/states.toml"))
                .expect("a test parses the file of this build")
        });
        &SHIPPED
    }

    /// Parses a table of laws; fails unless it has every state.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let file: File = toml::from_str(text).map_err(|error| {
            Invalid::new(
                "states.toml",
                error.to_string(),
                "the fields of data/states.toml",
            )
        })?;
        let federal = file.federal.hours.parse()?;
        let laws: BTreeMap<State, Law> = file
            .states
            .into_iter()
            .map(|(state, row)| Ok((state, row.law(federal, &file.federal)?)))
            .collect::<Result<_, Invalid>>()?;
        match State::all().find(|state| !laws.contains_key(state)) {
            Some(missing) => Err(Invalid::new(
                "states.toml",
                format!("{missing} is missing"),
                "an entry per state",
            )),
            None => Ok(Self(laws)),
        }
    }

    pub fn of(&self, state: State) -> &Law {
        self.0
            .get(&state)
            .expect("parse refuses a table without every state")
    }

    /// Returns the window that is lawful in all of these states.
    pub fn common_week(&self, states: &[State]) -> Week {
        states
            .iter()
            .map(|state| self.of(*state).week)
            .fold(Week::every_day(Hours::WHOLE_DAY), |common, week| {
                common.intersect(week)
            })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    federal: Federal,
    states: BTreeMap<State, Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Federal {
    hours: String,
    source: String,
    grade: Grade,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    hours: Option<String>,
    #[serde(default)]
    hours_on: BTreeMap<String, String>,
    source: Option<String>,
    grade: Option<Grade>,
    verified_at: Option<NaiveDate>,
    ai_disclosure: Option<Disclosure>,
    cooling_off: Option<CoolingOff>,
    self_exclusion_check: Option<bool>,
    note: Option<String>,
}

impl Row {
    /// Builds the state's law. A state without its own window gets the federal one. Where the table
    /// says nothing, there is no waiting period; disclosure and the check for self-excluded guests
    /// are required.
    fn law(self, federal_hours: Hours, federal: &Federal) -> Result<Law, Invalid> {
        let own_window = self.hours.is_some() || !self.hours_on.is_empty();
        if own_window != (self.source.is_some() && self.grade.is_some()) {
            let problem = format!(
                "{}: hours without source and grade, or these without hours",
                self.name
            );
            return Err(Invalid::new(
                "states.toml",
                problem,
                "hours, source and grade together",
            ));
        }
        let usual = self
            .hours
            .as_deref()
            .map_or(Ok(federal_hours), str::parse)?;
        let mut week = Week::every_day(usual);
        for (day, hours) in &self.hours_on {
            let weekday: Weekday = day.parse().map_err(|_| {
                Invalid::new(
                    "states.toml",
                    format!("{}: `{day}`", self.name),
                    "a weekday in English",
                )
            })?;
            week = week.with(
                weekday,
                if hours == "none" {
                    None
                } else {
                    Some(hours.parse()?)
                },
            );
        }
        Ok(Law {
            // A state cannot allow hours that the federal rule forbids.
            week: week.intersect(Week::every_day(federal_hours)),
            source: self.source.unwrap_or_else(|| federal.source.clone()),
            grade: self.grade.unwrap_or(federal.grade),
            verified_at: self.verified_at,
            ai_disclosure: self.ai_disclosure.unwrap_or(Disclosure {
                required: true,
                law: None,
            }),
            cooling_off: self.cooling_off,
            self_exclusion_check: self.self_exclusion_check.unwrap_or(true),
            name: self.name,
            note: self.note,
        })
    }
}

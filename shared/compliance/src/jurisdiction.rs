//! Finds the places in which a guest may be, and the strictest combination of their rules (D15).

mod laws;
mod state;
#[cfg(test)]
mod tests;

use chrono::{NaiveDate, NaiveTime, Offset, TimeZone};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};
use seven_domain::PhoneE164;

pub use self::{
    laws::{CoolingOff, Disclosure, Grade, Law, Laws},
    state::State,
};
use crate::area_codes::{self, AreaCode, Prefix};

/// The guest's home according to the profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Residence {
    pub zone: Tz,
    pub state: Option<State>,
}

/// The evidence for where the guest is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    Profile,
    AreaCode,
    /// Nothing shows where the guest is, so the strictest rules of all places apply.
    Unknown,
}

/// One place in which the guest may be. If it has several states, the rules of all of them apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) zone: Tz,
    pub(crate) states: Vec<State>,
}

/// All places in which the guest may be. A text must be lawful in every one of them.
#[derive(Debug, Clone)]
pub(crate) struct Whereabouts<'a> {
    pub(crate) basis: Basis,
    pub(crate) prefix: Prefix<'a>,
    pub(crate) candidates: Vec<Candidate>,
}

/// Returns the profile's place; else every place that the area code may mean; else every US time
/// zone, each with the rules of all states.
pub(crate) fn whereabouts<'a>(
    phone: &'a PhoneE164,
    profile: Option<&Residence>,
) -> Whereabouts<'a> {
    let prefix = area_codes::prefix_of(phone);
    let by_code: &[(State, Tz)] = match prefix {
        Prefix::Known(_, AreaCode::Us(places)) => places,
        _ => &[],
    };
    let one = |zone, state| Candidate {
        zone,
        states: vec![state],
    };
    let (basis, candidates) = match profile {
        Some(&Residence {
            zone,
            state: Some(state),
        }) => (Basis::Profile, vec![one(zone, state)]),
        Some(&Residence { zone, state: None }) => (
            Basis::Profile,
            vec![Candidate {
                zone,
                states: states_in(zone, by_code),
            }],
        ),
        None if by_code.is_empty() => (Basis::Unknown, everywhere()),
        None => (
            Basis::AreaCode,
            by_code
                .iter()
                .map(|&(state, zone)| one(zone, state))
                .collect(),
        ),
    };
    Whereabouts {
        basis,
        prefix,
        candidates,
    }
}

/// Returns the possible states for a profile that has only a time zone. They are the area code's
/// states in that zone. If there are none, they are all states in the zone; for a zone abroad, all
/// states.
fn states_in(zone: Tz, by_code: &[(State, Tz)]) -> Vec<State> {
    let in_zone = |places: &mut dyn Iterator<Item = (State, Tz)>| {
        let mut states: Vec<State> = places
            .filter(|&(_, other)| same_clock(zone, other))
            .map(|(state, _)| state)
            .collect();
        states.sort_unstable();
        states.dedup();
        states
    };
    let confirmed = in_zone(&mut by_code.iter().copied());
    if !confirmed.is_empty() {
        return confirmed;
    }
    let all = in_zone(&mut area_codes::us().flat_map(|(_, places)| places.iter().copied()));
    if all.is_empty() {
        State::states_and_dc().collect()
    } else {
        all
    }
}

/// Returns whether both zones have the same UTC offset. Compares the first day of every month from
/// 2025 to 2034.
fn same_clock(one: Tz, other: Tz) -> bool {
    let months = (2025..2035)
        .flat_map(|year| (1..=12).filter_map(move |month| NaiveDate::from_ymd_opt(year, month, 1)));
    let offset = |zone: Tz, day: NaiveDate| {
        zone.offset_from_utc_datetime(&day.and_time(NaiveTime::MIN))
            .fix()
    };
    one == other
        || months
            .into_iter()
            .all(|day| offset(one, day) == offset(other, day))
}

fn everywhere() -> Vec<Candidate> {
    let states: Vec<State> = State::states_and_dc().collect();
    let mut zones: Vec<Tz> = Vec::new();
    for (state, zone) in area_codes::us().flat_map(|(_, places)| places) {
        if states.contains(state) && !zones.contains(zone) {
            zones.push(*zone);
        }
    }
    zones
        .into_iter()
        .map(|zone| Candidate {
            zone,
            states: states.clone(),
        })
        .collect()
}

/// The rules that apply to a guest, apart from the sending window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rules {
    pub basis: Basis,
    /// The states the guest may live in.
    pub states: Vec<State>,
    pub ai_disclosure_required: bool,
    /// The names of these states' laws that require the disclosure; laws of unknown name are left
    /// out.
    pub ai_disclosure_laws: Vec<String>,
    /// The longest waiting period of these states, with the lowest offer value of any of them.
    /// `None` if no state has a waiting period.
    pub cooling_off: Option<CoolingOff>,
    pub self_exclusion_check: bool,
    /// Whether counsel has confirmed the rules of all these states.
    pub verified: bool,
}

/// Returns the strictest combination of the rules of every state the guest may live in.
pub fn of(phone: &PhoneE164, profile: Option<&Residence>) -> Rules {
    with(Laws::shipped(), phone, profile)
}

/// Does the same as [`of`], but with the given table of laws.
pub fn with(laws: &Laws, phone: &PhoneE164, profile: Option<&Residence>) -> Rules {
    let Whereabouts {
        basis, candidates, ..
    } = whereabouts(phone, profile);
    let mut states: Vec<State> = candidates
        .into_iter()
        .flat_map(|candidate| candidate.states)
        .collect();
    states.sort_unstable();
    states.dedup();
    let each = || states.iter().map(|state| laws.of(*state));
    let disclosures = || {
        each()
            .map(|law| &law.ai_disclosure)
            .filter(|disclosure| disclosure.required)
    };
    Rules {
        basis,
        ai_disclosure_required: disclosures().next().is_some(),
        ai_disclosure_laws: disclosures()
            .filter_map(|disclosure| disclosure.law.clone())
            .collect(),
        cooling_off: each()
            .filter_map(|law| law.cooling_off)
            .filter(|wait| wait.hours > 0)
            .reduce(|one, other| CoolingOff {
                hours: one.hours.max(other.hours),
                offers_above_dollars: one.offers_above_dollars.min(other.offers_above_dollars),
            }),
        self_exclusion_check: each().any(|law| law.self_exclusion_check),
        verified: each().all(|law| law.verified_at.is_some()),
        states,
    }
}

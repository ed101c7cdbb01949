//! Compares the quiet-hours check with tables made by `scripts/data/quiet_hours_expected.py`. The
//! script uses another algorithm, another time-zone library and another source of area codes.

#![expect(
    clippy::unwrap_used,
    reason = "clippy exempts test functions, not the helpers they share"
)]

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, NaiveDateTime, NaiveTime, Offset, TimeZone, Utc};
use seven_compliance::{
    area_codes,
    jurisdiction::{Basis, Residence, State},
    quiet_hours::{CasinoWindow, Question, Window, check},
};
use seven_domain::PhoneE164;

fn rows(csv: &str) -> impl Iterator<Item = Vec<&str>> {
    csv.lines()
        .filter(|line| !line.starts_with('#'))
        .skip(1)
        .map(|line| line.split(',').collect())
}

fn instant(text: &str) -> DateTime<Utc> {
    NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%MZ")
        .unwrap()
        .and_utc()
}

fn time(text: &str) -> NaiveTime {
    NaiveTime::parse_from_str(text, "%H:%M").unwrap()
}

struct Expected<'a> {
    to: PhoneE164,
    profile: Option<Residence>,
    fields: Vec<&'a str>,
}

impl Expected<'_> {
    fn ask(&self) -> Window {
        let casino = CasinoWindow::from_quiet_hours(time(self.fields[3]), time(self.fields[4]));
        check(&Question {
            to: &self.to,
            at: instant(self.fields[5]),
            profile: self.profile,
            casino,
        })
    }
}

fn expected() -> Vec<Expected<'static>> {
    rows(include_str!("data/quiet_hours_expected.csv"))
        .map(|fields| Expected {
            to: fields[0].parse().unwrap(),
            profile: (!fields[2].is_empty()).then(|| Residence {
                state: Some(fields[1].parse().unwrap()),
                zone: fields[2].parse().unwrap(),
            }),
            fields,
        })
        .collect()
}

#[test] // SMS-32, SEC-57, C-8, C-37
fn every_answer_is_the_independent_one() {
    let mut wrong = Vec::new();
    for row in expected() {
        let window = row.ask();
        let show = |at: Option<DateTime<Utc>>| {
            at.map_or(String::new(), |at| at.format("%Y-%m-%dT%H:%MZ").to_string())
        };
        let basis = serde_json::to_value(window.basis)
            .unwrap()
            .as_str()
            .unwrap()
            .to_owned();
        let got = [
            window.open.to_string(),
            show(window.opens_at),
            show(window.closes_at),
            basis,
        ];
        if got.iter().ne(&row.fields[6..]) {
            wrong.push(format!("{:?}: got {got:?}", row.fields));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} mismatches:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
}

#[test]
fn the_independent_table_covers_every_state_change_and_code() {
    let rows = expected();
    let mut instants: BTreeMap<(State, &str), BTreeSet<&str>> = BTreeMap::new();
    let mut codes = BTreeSet::new();
    let mut bases = BTreeMap::<&str, usize>::new();
    for row in &rows {
        *bases.entry(row.fields[9]).or_default() += 1;
        codes.insert(&row.fields[0][2..5]);
        // Selects the instants around each change of the clocks by the start of their UTC date.
        for change in ["2026-03-0", "2026-11-0", "2027-03-1", "2027-11-0"] {
            if let (
                Some(Residence {
                    state: Some(state), ..
                }),
                true,
            ) = (row.profile, row.fields[5].starts_with(change))
            {
                instants
                    .entry((state, change))
                    .or_default()
                    .insert(row.fields[5]);
            }
        }
    }
    for state in State::all() {
        for change in ["2026-03-0", "2026-11-0", "2027-03-1", "2027-11-0"] {
            assert!(instants[&(state, change)].len() >= 4, "{state} {change}");
        }
    }
    assert!(
        codes.len() > 340 && rows.len() > 51 * 2 * 4 + 1_000,
        "{} codes, {} rows",
        codes.len(),
        rows.len()
    );
    assert!(
        bases["profile"] > 800 && bases["area_code"] > 1_000 && bases["unknown"] > 100,
        "{bases:?}"
    );
}

#[test] // C-37
fn area_codes_differ_from_the_second_source_only_where_explained() {
    type Meaning = (BTreeSet<String>, BTreeSet<String>);
    let january = DateTime::from_timestamp(1_768_478_400, 0)
        .unwrap()
        .naive_utc();
    let july = DateTime::from_timestamp(1_784_116_800, 0)
        .unwrap()
        .naive_utc();
    let ours: BTreeMap<String, Meaning> = area_codes::us()
        .map(|(code, places)| {
            let offset =
                |zone: chrono_tz::Tz, at| zone.offset_from_utc_datetime(at).fix().local_minus_utc();
            let clock = |zone| {
                let (winter, summer) = (offset(zone, &january), offset(zone, &july));
                format!(
                    "{}{}",
                    winter / 3_600,
                    if winter == summer { "" } else { "d" }
                )
            };
            let states = places.iter().map(|(state, _)| state.to_string()).collect();
            (
                code.to_owned(),
                (
                    states,
                    places.iter().map(|(_, zone)| clock(*zone)).collect(),
                ),
            )
        })
        .collect();
    let theirs: BTreeMap<String, Meaning> = rows(include_str!("data/area_codes_second_source.csv"))
        .filter(|row| row[1] != "-")
        .map(|row| {
            let (offsets, suffix) = row[2]
                .strip_suffix('d')
                .map_or((row[2], ""), |offsets| (offsets, "d"));
            let clocks = offsets
                .split(' ')
                .map(|offset| format!("{offset}{suffix}"))
                .collect();
            (
                row[0].to_owned(),
                (BTreeSet::from([row[1].to_owned()]), clocks),
            )
        })
        .collect();
    let different: BTreeSet<&str> = ours
        .keys()
        .chain(theirs.keys())
        .filter(|code| ours.get(*code) != theirs.get(*code))
        .map(String::as_str)
        .collect();
    let explained: BTreeSet<&str> = rows(include_str!("data/area_codes_differences.csv"))
        .map(|row| row[0])
        .collect();
    assert_eq!(different, explained);
}

#[test] // D15
fn the_basis_is_profile_then_area_code_then_nothing() {
    let at = instant("2026-06-16T18:00Z");
    let ask = |phone: &str, profile| {
        let to = phone.parse().unwrap();
        check(&Question {
            to: &to,
            at,
            profile,
            casino: CasinoWindow::ANY_TIME,
        })
    };
    let arizona = Residence {
        zone: chrono_tz::America::Phoenix,
        state: Some("AZ".parse().unwrap()),
    };
    for (phone, profile, basis, places) in [
        ("+18605550100", None, Basis::AreaCode, 1),
        ("+18505550100", None, Basis::AreaCode, 2),
        ("+18005550100", None, Basis::Unknown, 8),
        ("+18005550100", Some(arizona), Basis::Profile, 1),
        ("+390236618300", Some(arizona), Basis::Profile, 1),
    ] {
        let window = ask(phone, profile);
        assert_eq!(
            (window.basis, window.places.len()),
            (basis, places),
            "{phone} {profile:?}"
        );
        assert!(window.opens_at.is_some());
    }
}

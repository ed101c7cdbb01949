use chrono::{NaiveDate, NaiveTime, TimeZone};
use chrono_tz::{
    America::{Chicago, Los_Angeles, New_York, Phoenix},
    Europe::Rome,
};
use proptest::prelude::*;

use super::*;

fn at(text: &str) -> DateTime<Utc> {
    format!("{text}:00Z").parse().unwrap()
}

fn time(text: &str) -> NaiveTime {
    NaiveTime::parse_from_str(text, "%H:%M").unwrap()
}

fn quiet(start: &str, end: &str) -> CasinoWindow {
    CasinoWindow::from_quiet_hours(time(start), time(end))
}

fn home(zone: Tz, state: &str) -> Option<Residence> {
    Some(Residence {
        zone,
        state: Some(state.parse().unwrap()),
    })
}

fn ask(phone: &str, profile: Option<Residence>, casino: CasinoWindow, now: &str) -> Window {
    check(&Question {
        to: &phone.parse().unwrap(),
        at: at(now),
        profile,
        casino,
    })
}

/// Returns the shipped laws with other federal hours and another rule for Kansas. Windows can then
/// begin and end at hours that no real law uses.
fn fixture(hours: &str, kansas: &str) -> Laws {
    let table = include_str!("../../data/states.toml")
        .replacen(
            "hours = \"08:00-21:00\"",
            &format!("hours = \"{hours}\""),
            1,
        )
        .replacen(
            "name = \"Kansas\"",
            &format!("name = \"Kansas\"\n{kansas}"),
            1,
        );
    Laws::parse(&table).unwrap()
}

fn ask_fixture(laws: &Laws, zone: Tz, now: &str) -> Window {
    let to = "+13165550100".parse().unwrap();
    check_with(
        laws,
        &Question {
            to: &to,
            at: at(now),
            profile: home(zone, "KS"),
            casino: CasinoWindow::ANY_TIME,
        },
    )
}

#[test] // SMS-32
fn windows_are_half_open_to_the_second() {
    let to: PhoneE164 = "+12125550100".parse().unwrap();
    let open = |now: &str| {
        let now = now.parse().unwrap();
        check(&Question {
            to: &to,
            at: now,
            profile: None,
            casino: CasinoWindow::ANY_TIME,
        })
        .open
    };
    assert!(!open("2026-06-16T11:59:59.999Z"));
    assert!(open("2026-06-16T12:00:00Z"));
    assert!(open("2026-06-17T00:59:59Z"));
    assert!(!open("2026-06-17T01:00:00Z"));
}

#[test] // C-8
fn the_casino_narrows_and_never_widens() {
    // Connecticut allows texts 09:00-20:00. The usual quiet hours of a casino alone would allow
    // them until 21:00.
    assert!(
        !ask(
            "+18605550100",
            None,
            quiet("21:00", "08:00"),
            "2026-06-17T00:00"
        )
        .open
    );
    assert!(
        !ask(
            "+18605550100",
            None,
            quiet("23:00", "01:00"),
            "2026-06-16T12:30"
        )
        .open
    );
    let narrow = ask(
        "+18605550100",
        None,
        quiet("18:00", "10:00"),
        "2026-06-16T13:30",
    );
    assert_eq!(narrow.opens_at, Some(at("2026-06-16T14:00")));
    assert_eq!(narrow.closes_at, Some(at("2026-06-16T22:00")));
    assert_eq!(narrow.places[0].hours, ["10:00-18:00".parse().unwrap()]);
}

#[test] // SEC-57
fn a_pause_at_noon_leaves_two_windows() {
    let window = ask(
        "+18605550100",
        None,
        quiet("12:00", "14:00"),
        "2026-06-16T16:00",
    );
    assert!(!window.open);
    assert_eq!(window.opens_at, Some(at("2026-06-16T18:00")));
    let hours: Vec<String> = window.places[0]
        .hours
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(hours, ["09:00-12:00", "14:00-20:00"]);
}

#[test]
fn a_window_that_never_opens_says_so() {
    let window = ask(
        "+18605550100",
        None,
        quiet("05:00", "02:00"),
        "2026-06-16T16:00",
    );
    assert_eq!(
        (window.open, window.opens_at, window.closes_at),
        (false, None, None)
    );
    assert_eq!(
        window.why,
        "Closed for 8 days or more: area code 860 means CT (America/New_York); no moment is inside \
         the window of every place and inside the casino's own hours (02:00-05:00)."
    );
}

#[test]
fn a_law_for_sundays_holds_on_the_guests_sunday() {
    let laws = fixture(
        "08:00-21:00",
        "hours_on = { sunday = \"13:00-18:00\" }\nsource = \"fixture\"\ngrade = \"A\"",
    );
    // Saturday 20:30 in Kansas is already Sunday in UTC; Sunday's own window opens at 13:00 in
    // Kansas (18:00 UTC).
    assert!(ask_fixture(&laws, Chicago, "2026-06-14T01:30").open);
    let sunday = ask_fixture(&laws, Chicago, "2026-06-14T02:00");
    assert_eq!(
        (sunday.opens_at, sunday.closes_at),
        (Some(at("2026-06-14T18:00")), Some(at("2026-06-14T23:00")))
    );
    let monday = ask_fixture(&laws, Chicago, "2026-06-14T23:00");
    assert_eq!(monday.opens_at, Some(at("2026-06-15T13:00")));
}

#[test]
fn borders_in_the_hour_that_is_left_out_or_shown_twice() {
    let laws = fixture(
        "00:00-24:00",
        "hours = \"02:30-22:00\"\nsource = \"fixture\"\ngrade = \"A\"",
    );
    // On 2026-03-08 at 08:00 UTC, Chicago's clocks go from 02:00 to 03:00: a window that begins at
    // 02:30 opens at 03:00.
    assert_eq!(
        ask_fixture(&laws, Chicago, "2026-03-08T07:59").opens_at,
        Some(at("2026-03-08T08:00"))
    );
    let laws = fixture(
        "00:00-24:00",
        "hours = \"01:30-22:00\"\nsource = \"fixture\"\ngrade = \"A\"",
    );
    // On 2026-11-01, the local time 01:30 occurs at 06:30 and at 07:30 UTC; a window that begins at
    // 01:30 opens at 07:30 UTC.
    assert_eq!(
        ask_fixture(&laws, Chicago, "2026-11-01T06:45").opens_at,
        Some(at("2026-11-01T07:30"))
    );
    let laws = fixture(
        "00:00-24:00",
        "hours = \"00:00-01:30\"\nsource = \"fixture\"\ngrade = \"A\"",
    );
    // A window that ends at 01:30 closes at 06:30 UTC.
    let night = ask_fixture(&laws, Chicago, "2026-11-01T06:00");
    assert!(night.open);
    assert_eq!(night.closes_at, Some(at("2026-11-01T06:30")));
    let gap = fixture(
        "00:00-24:00",
        "hours = \"00:00-02:30\"\nsource = \"fixture\"\ngrade = \"A\"",
    );
    assert_eq!(
        ask_fixture(&gap, Chicago, "2026-03-08T07:00").closes_at,
        Some(at("2026-03-08T08:00"))
    );
    // Arizona does not change its clocks.
    assert_eq!(
        ask_fixture(&gap, Phoenix, "2026-03-08T07:30").closes_at,
        Some(at("2026-03-08T09:30"))
    );
}

#[test]
fn a_window_without_an_end_has_none() {
    let laws = fixture("00:00-24:00", "note = \"fixture\"");
    let window = ask_fixture(&laws, Chicago, "2026-06-14T01:30");
    assert_eq!((window.open, window.closes_at), (true, None));
}

#[test] // D15
fn a_profile_without_a_state_takes_every_state_of_its_zone() {
    let zone_only = |zone| Some(Residence { zone, state: None });
    // The area code also lies in this zone, so the guest is in Florida's part of the Central zone.
    let panhandle = ask(
        "+18505550100",
        zone_only(Chicago),
        CasinoWindow::ANY_TIME,
        "2026-06-16T12:30",
    );
    assert_eq!(
        (panhandle.places.len(), panhandle.places[0].state),
        (1, Some("FL".parse().unwrap()))
    );
    assert_eq!(panhandle.opens_at, Some(at("2026-06-16T13:00")));
    // The area code does not lie in this zone, so every state of the Pacific zone is possible. The
    // strictest of them is Nevada, with 09:00-20:00.
    let moved = ask(
        "+18505550100",
        zone_only(Los_Angeles),
        CasinoWindow::ANY_TIME,
        "2026-06-16T15:00",
    );
    assert_eq!(
        (moved.places[0].state, moved.opens_at),
        (None, Some(at("2026-06-16T16:00")))
    );
    // The profile's zone is abroad, so the strictest window of all states (10:00-18:00 on a
    // Tuesday) applies in that zone.
    let abroad = ask(
        "+18505550100",
        zone_only(Rome),
        CasinoWindow::ANY_TIME,
        "2026-06-16T00:00",
    );
    assert_eq!(
        (abroad.opens_at, abroad.closes_at),
        (Some(at("2026-06-16T08:00")), Some(at("2026-06-16T16:00")))
    );
}

#[test]
fn a_number_from_elsewhere_waits_for_a_profile() {
    let closed = ask(
        "+390236618300",
        None,
        CasinoWindow::ANY_TIME,
        "2026-06-16T20:00",
    );
    assert_eq!(
        (closed.open, closed.opens_at, closed.basis),
        (false, None, Basis::Unknown)
    );
    assert!(
        ask(
            "+390236618300",
            home(New_York, "CT"),
            CasinoWindow::ANY_TIME,
            "2026-06-16T20:00"
        )
        .open
    );
}

#[test]
fn the_reason_is_a_sentence() {
    for (phone, profile, now, why) in [
        (
            "+18605550100",
            None,
            "2026-06-16T15:00",
            "Open until Wed 2026-06-17 00:00 UTC: area code 860 means CT (America/New_York); it is Tue 11:00 in CT, \
             America/New_York, which allows texts 09:00-20:00 (Connecticut PA 23-98).",
        ),
        (
            "+18505550100",
            None,
            "2026-06-16T12:30",
            "Closed until Tue 2026-06-16 13:00 UTC: area code 850 means FL (America/Chicago) or FL (America/New_York), all of \
             which must be open; it is Tue 07:30 in FL, America/Chicago, which allows texts 08:00-20:00 (Florida telephone \
             solicitation law (spec 05, 2.5)).",
        ),
        (
            "+12055550100",
            home(Chicago, "AL"),
            "2026-06-14T16:00",
            "Closed until Mon 2026-06-15 13:00 UTC: the guest's profile says AL (America/Chicago); it is Sun 11:00 in AL, \
             America/Chicago, which allows no texts at all on that day (aggregator tables (spec 05, 2.5)).",
        ),
        (
            "+18005550100",
            None,
            "2026-06-16T20:00",
            "Open until Tue 2026-06-16 22:00 UTC: 800 is a toll-free code, which names no place, so the strictest window of \
             all states holds in every US zone; it is Tue 16:00 in America/New_York, which allows texts 10:00-18:00 (common \
             window of 51 states).",
        ),
        (
            "+390236618300",
            None,
            "2026-06-16T20:00",
            "Closed until the guest's profile has a place: the number is not North American and no law is known for it.",
        ),
    ] {
        assert_eq!(ask(phone, profile, CasinoWindow::ANY_TIME, now).why, why);
    }
    let narrowed = ask(
        "+18605550100",
        None,
        quiet("18:00", "10:00"),
        "2026-06-16T22:30",
    );
    assert!(narrowed.why.ends_with(
        "texts 10:00-18:00 (Connecticut PA 23-98, narrowed by the casino's hours 10:00-18:00)."
    ));
    for (phone, says) in [
        ("+14165550100", "belongs to Canada"),
        ("+19995550100", "area code 999 is not in the table of"),
    ] {
        assert!(
            ask(phone, None, CasinoWindow::ANY_TIME, "2026-06-16T20:00")
                .why
                .contains(says),
            "{phone}"
        );
    }
}

#[test]
fn the_answer_is_plain_json_without_the_number() {
    let window = ask(
        "+18605550142",
        None,
        quiet("21:00", "08:00"),
        "2026-06-17T00:30",
    );
    let json = serde_json::to_value(&window).unwrap();
    assert_eq!(json["opens_at"], "2026-06-17T13:00:00Z");
    assert_eq!(json["basis"], "area_code");
    assert_eq!(
        json["places"][0],
        serde_json::json!({
            "state": "CT", "zone": "America/New_York", "local_time": "2026-06-16T20:30:00",
            "open": false,
            "lawful": "09:00-20:00", "hours": ["09:00-20:00"], "source": "Connecticut PA 23-98"
        })
    );
    assert!(!json.to_string().contains("5550142"));
}

#[test]
fn hours_are_read_strictly() {
    for bad in [
        "",
        "08:00",
        "21:00-08:00",
        "08:00-08:00",
        "8:00-21:00",
        "08:00-24:01",
        "08:00-25:00",
        "24:00-24:00",
    ] {
        assert!(bad.parse::<Hours>().is_err(), "{bad}");
    }
    for good in ["00:00-24:00", "08:00-21:00", "09:30-18:15"] {
        assert_eq!(good.parse::<Hours>().unwrap().to_string(), good);
    }
}

#[test]
fn the_configuration_becomes_a_window() {
    let mut regulations = serde_json::json!({ "state": "CT" });
    let read = |json: &serde_json::Value| {
        CasinoWindow::from_regulations(&serde_json::from_value(json.clone()).unwrap())
    };
    assert_eq!(read(&regulations), Ok(quiet("21:00", "08:00")));
    regulations["quiet_hours_end"] = "8 am".into();
    assert_eq!(
        read(&regulations).unwrap_err().what,
        "regulations.quiet_hours_end"
    );
}

/// Generates questions: numbers of every kind, residences in US and other zones, casino hours of
/// every shape, and instants in two years.
fn questions() -> impl Strategy<Value = (PhoneE164, Option<Residence>, CasinoWindow, DateTime<Utc>)>
{
    let codes: Vec<String> = crate::area_codes::us()
        .map(|(code, _)| code.to_owned())
        .chain(["800", "416", "876", "999"].map(str::to_owned))
        .collect();
    let phone = proptest::sample::select(codes)
        .prop_map(|code| format!("+1{code}5550100").parse().unwrap());
    let zones = [
        "America/New_York",
        "America/Adak",
        "Pacific/Honolulu",
        "America/St_Johns",
        "Australia/Lord_Howe",
    ];
    let states: Vec<Option<State>> = State::all().map(Some).chain([None, None, None]).collect();
    let place = (
        proptest::sample::select(zones.to_vec()),
        proptest::sample::select(states),
    )
        .prop_map(|(zone, state)| Residence {
            zone: zone.parse().unwrap(),
            state,
        });
    let quarter = (0u32..96)
        .prop_map(|quarter| NaiveTime::from_hms_opt(quarter / 4, quarter % 4 * 15, 0).unwrap());
    let casino = prop_oneof![
        Just(CasinoWindow::ANY_TIME),
        Just(quiet("21:00", "08:00")),
        (quarter.clone(), quarter).prop_map(|(opens, closes)| CasinoWindow { opens, closes }),
    ];
    let start = Utc.from_utc_datetime(
        &NaiveDate::from_ymd_opt(2026, 1, 1)
            .unwrap()
            .and_time(NaiveTime::MIN),
    );
    let moment =
        (0i64..2 * 365 * 24 * 3600).prop_map(move |second| start + TimeDelta::seconds(second));
    (
        phone,
        proptest::option::weighted(0.4, place),
        casino,
        moment,
    )
}

/// Returns whether the local time in a place is lawful and inside the casino's window. Does not use
/// spans.
fn wall_allows(
    laws: &Laws,
    candidate: &Candidate,
    casino: CasinoWindow,
    now: DateTime<Utc>,
) -> bool {
    let wall = now.with_timezone(&candidate.zone).naive_local();
    let week = laws.common_week(&candidate.states);
    let lawful = week
        .on(chrono::Datelike::weekday(&wall))
        .is_some_and(|hours| hours.contains(wall.time()));
    let wanted = match casino.opens.cmp(&casino.closes) {
        std::cmp::Ordering::Less => casino.opens <= wall.time() && wall.time() < casino.closes,
        std::cmp::Ordering::Equal => true,
        std::cmp::Ordering::Greater => casino.opens <= wall.time() || wall.time() < casino.closes,
    };
    lawful && wanted
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test] // SMS-32, C-37
    fn an_opening_is_lawful_everywhere_and_the_moment_before_is_not(
        (to, profile, casino, now) in questions(),
    ) {
        let ask = |at| {
            check(&Question {
                to: &to,
                at,
                profile,
                casino,
            })
        };
        let window = ask(now);
        let laws = Laws::shipped();
        let candidates = jurisdiction::whereabouts(&to, profile.as_ref()).candidates;
        let all_allow = |at| {
            candidates
                .iter()
                .all(|candidate| wall_allows(laws, candidate, casino, at))
        };
        prop_assert_eq!(window.open, window.opens_at == Some(now));
        prop_assert_eq!(window.open, window.places.iter().all(|place| place.open));
        // If a local time occurs twice, the window may be closed although that local time is
        // lawful. It is never open at an unlawful local time.
        prop_assert!(!window.open || all_allow(now));
        if let Some(opens_at) = window.opens_at {
            prop_assert!(opens_at >= now && all_allow(opens_at));
            let there = ask(opens_at);
            prop_assert!(there.open && there.places.iter().all(|place| place.open));
            let before = opens_at - TimeDelta::seconds(1);
            prop_assert!(opens_at == now || before < now || !ask(before).open);
            let closes_at = window.closes_at.unwrap();
            prop_assert!(ask(closes_at - TimeDelta::seconds(1)).open && !ask(closes_at).open);
        }
    }

    #[test]
    fn a_later_question_has_no_earlier_opening(
        (to, profile, casino, now) in questions(),
        later in 0i64..200_000,
    ) {
        let ask = |at| {
            check(&Question {
                to: &to,
                at,
                profile,
                casino,
            })
            .opens_at
        };
        if let (Some(first), Some(second)) = (ask(now), ask(now + TimeDelta::seconds(later))) {
            prop_assert!(first <= second);
        }
    }

    #[test] // D15
    fn no_answer_is_wider_than_that_of_one_candidate((to, _, casino, now) in questions()) {
        let whole = check(&Question { to: &to, at: now, profile: None, casino });
        for candidate in jurisdiction::whereabouts(&to, None).candidates {
            for state in candidate.states {
                let profile = Some(Residence { zone: candidate.zone, state: Some(state) });
                let one = check(&Question { to: &to, at: now, profile, casino });
                prop_assert!(one.open || !whole.open, "{state} {}", candidate.zone);
                if let (Some(one), Some(whole)) = (one.opens_at, whole.opens_at) {
                    prop_assert!(one <= whole);
                }
            }
        }
    }

    #[test]
    fn any_number_and_time_has_an_answer(
        digits in "[1-9][0-9]{1,14}",
        second in any::<i64>(),
        zone in 0usize..500,
    ) {
        let to = format!("+{digits}").parse().unwrap();
        let zone = chrono_tz::TZ_VARIANTS[zone % chrono_tz::TZ_VARIANTS.len()];
        for now in [
            DateTime::from_timestamp(second / 2, 0),
            DateTime::from_timestamp(second % 10_000_000_000, 0),
        ] {
            for profile in [None, Some(Residence { zone, state: None })] {
                let now = now.unwrap_or(DateTime::<Utc>::MAX_UTC);
                let window = check(&Question {
                    to: &to,
                    at: now,
                    profile,
                    casino: CasinoWindow::ANY_TIME,
                });
                prop_assert!(!window.why.is_empty());
            }
        }
    }
}

#[test]
fn the_ends_of_time_are_closed() {
    let to = "+18605550100".parse().unwrap();
    for now in [DateTime::<Utc>::MIN_UTC, DateTime::<Utc>::MAX_UTC] {
        let window = check(&Question {
            to: &to,
            at: now,
            profile: None,
            casino: CasinoWindow::ANY_TIME,
        });
        assert_eq!(window.opens_at, None);
    }
    let known = New_York.with_ymd_and_hms(2026, 6, 16, 12, 0, 0).unwrap();
    assert!(
        check(&Question {
            to: &to,
            at: known.to_utc(),
            profile: None,
            casino: CasinoWindow::ANY_TIME
        })
        .open
    );
}

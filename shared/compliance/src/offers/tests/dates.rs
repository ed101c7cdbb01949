//! Tests that promotions begin and end with days in the casino's time zone, to the second.

use super::*;

fn dated(from: Option<&str>, until: Option<&str>) -> Catalogue {
    let offer = promotion("p", 20.0, &["$20 free play"]);
    let (valid_from, valid_until) = (from.map(str::to_owned), until.map(str::to_owned));
    Catalogue {
        promotions: vec![Promotion {
            valid_from,
            valid_until,
            ..offer
        }],
        rows: Vec::new(),
    }
}

fn is_live(catalogue: &Catalogue, time: &str) -> bool {
    check("Enjoy $20 free play", catalogue, at(time), ZONE).action == Action::Pass
}

#[test]
fn last_day_ends_at_local_midnight() {
    // SEC-43, C-20
    for (from, until, before, first, last, after) in [
        // An ordinary day of winter and of summer.
        (
            "2026-01-10",
            "2026-01-10",
            "2026-01-10T04:59:59Z",
            "2026-01-10T05:00:00Z",
            "2026-01-11T04:59:59Z",
            "2026-01-11T05:00:00Z",
        ),
        (
            "2026-07-10",
            "2026-07-11",
            "2026-07-10T03:59:59Z",
            "2026-07-10T04:00:00Z",
            "2026-07-12T03:59:59Z",
            "2026-07-12T04:00:00Z",
        ),
        // The clocks go forward on 2026-03-08: a day of 23 hours.
        (
            "2026-03-08",
            "2026-03-08",
            "2026-03-08T04:59:59Z",
            "2026-03-08T05:00:00Z",
            "2026-03-09T03:59:59Z",
            "2026-03-09T04:00:00Z",
        ),
        // The clocks go back on 2026-11-01: a day of 25 hours.
        (
            "2026-11-01",
            "2026-11-01",
            "2026-11-01T03:59:59Z",
            "2026-11-01T04:00:00Z",
            "2026-11-02T04:59:59Z",
            "2026-11-02T05:00:00Z",
        ),
    ] {
        let catalogue = dated(Some(from), Some(until));
        assert!(!is_live(&catalogue, before), "{before}");
        assert!(is_live(&catalogue, first), "{first}");
        assert!(is_live(&catalogue, last), "{last}");
        assert!(!is_live(&catalogue, after), "{after}");
    }
}

#[test]
fn the_casinos_zone_counts() {
    let catalogue = dated(None, Some("2026-07-10"));
    let time = at("2026-07-11T05:00:00Z");
    assert_eq!(
        check(
            "$20 free play",
            &catalogue,
            time,
            chrono_tz::America::Los_Angeles
        )
        .action,
        Action::Pass
    );
    assert_eq!(
        check("$20 free play", &catalogue, time, ZONE).action,
        Action::Reject
    );
}

#[test]
fn missing_is_open_and_unreadable_is_closed() {
    // SEC-43, C-20
    let now = "2026-07-15T16:00:00Z";
    for (from, until, live) in [
        (None, None, true),
        (Some("2026-07-01"), None, true),
        (Some("2026-07-16"), None, false),
        (None, Some("2026-07-15"), true),
        (None, Some("2026-07-14"), false),
        (Some("2026-07-20"), Some("2026-07-01"), false),
        (Some("soon"), None, false),
        (None, Some(""), false),
        (None, Some("2026-02-30"), false),
        (Some("07/01/2026"), Some("2026-12-31"), false),
        (None, Some("2026-12-31T00:00:00Z"), false),
    ] {
        assert_eq!(
            is_live(&dated(from, until), now),
            live,
            "{from:?} {until:?}"
        );
    }
}

use chrono::{TimeZone, Utc, Weekday};
use chrono_tz::America::New_York;
use proptest::prelude::*;
use seven_domain::Language;

use super::*;

fn hours(text: &str) -> WeeklyHours {
    WeeklyHours::parse(text).unwrap()
}

fn at(y: i32, m: u32, d: u32, h: u32, min: u32) -> DateTime<Utc> {
    Utc.with_ymd_and_hms(y, m, d, h, min, 0).unwrap()
}

#[test] // CMS-19, C-32: the forms in which casinos write hours
fn door_signs_read_and_print_canonically() {
    for (text, shown) in [
        (
            "Sun-Thu 11am-10pm, Fri-Sat 11am-12am",
            "Sun-Thu 11am-10pm, Fri-Sat 11am-12am",
        ),
        ("Wed-Sun 5pm-10pm", "Wed-Sun 5pm-10pm"),
        ("Daily 7am-2am", "Daily 7am-2am"),
        ("24 hours", "24 hours"),
        ("Open 24/7", "24 hours"),
        (
            "Mon-Fri 6:30am-11am and 5pm-9:30pm",
            "Mon-Fri 6:30am-11am and 5pm-9:30pm",
        ),
        ("Closed Mon, Tue-Sun 5pm-11pm", "Tue-Sun 5pm-11pm"),
        ("Tue-Sun 5pm-11pm, closed Mondays", "Tue-Sun 5pm-11pm"),
        (
            "Mon closed; Tue to Sun 5 pm \u{2013} 11 p.m.",
            "Tue-Sun 5pm-11pm",
        ),
        ("Fri\u{2013}Mon 5pm\u{2013}10pm", "Fri-Mon 5pm-10pm"),
        ("Monday through Thursday noon-midnight", "Mon-Thu 12pm-12am"),
        (
            "Mon, Wed & Fri 10-14:00",
            "Mon 10am-2pm, Wed 10am-2pm, Fri 10am-2pm",
        ),
        ("5-10pm", "Daily 5pm-10pm"),
        ("11-2pm", "Daily 11am-2pm"),
        ("Mon-Sun 17:00-02:00", "Daily 5pm-2am"),
        (
            "Daily 7am-2am, Fri-Sat 7am-4am",
            "Sun-Thu 7am-2am, Fri-Sat 7am-4am",
        ),
        (
            "Sun-Thu 9am-1am, Fri-Sat 24 hours",
            "Sun-Thu 9am-1am, Fri-Sat 24 hours",
        ),
        (
            "lunes a viernes 9am-5pm, sáb y dom 10am-6pm",
            "Mon-Fri 9am-5pm, Sat-Sun 10am-6pm",
        ),
        ("Closed", "Closed"),
    ] {
        assert_eq!(hours(text).to_string(), shown, "{text}");
        assert_eq!(hours(shown), hours(text), "{shown}");
    }
    assert_eq!(
        hours("Sun-Thu 11am-10pm").show(Language::Es),
        "dom-jue 11am-10pm"
    );
    assert_eq!(
        hours(&hours("Mon-Fri 9am-5pm").show(Language::Es)),
        hours("Mon-Fri 9am-5pm")
    );
}

#[test]
fn structured_hours_read_like_text() {
    let json = serde_json::json!({
        "mon": ["11:00-22:00"],
        "tuesday": "closed",
        "sat": ["06:30-11:00", "17:00-02:00"],
    });
    assert_eq!(
        WeeklyHours::from_json(&json).unwrap(),
        hours("Mon 11am-10pm, Sat 6:30am-11am and 5pm-2am")
    );
    assert!(WeeklyHours::from_json(&serde_json::json!({"funday": []})).is_err());
}

#[test]
fn what_cannot_be_read_says_why() {
    for (text, reason) in [
        ("", "no hours"),
        ("by appointment", "`by`"),
        ("Mon-Fri", "days without hours"),
        ("5-10", "am or pm"),
        ("11am", "other end"),
        ("25:00-26:00", "no time of day"),
        ("11am-late", "`late`"),
    ] {
        let error = WeeklyHours::parse(text).unwrap_err().to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
}

#[test]
fn nights_past_midnight_belong_to_the_day_they_began() {
    let bar = hours("Fri-Sat 8pm-3am");
    let saturday_2am = at(2026, 3, 7, 7, 0);
    assert!(bar.is_open(saturday_2am, New_York));
    assert!(!bar.is_open(at(2026, 3, 6, 7, 0), New_York));
    assert_eq!(
        bar.until(saturday_2am, New_York, Language::En).unwrap(),
        "until 3am"
    );
    assert_eq!(
        hours("Daily 9am-1pm")
            .until(at(2026, 3, 6, 15, 0), New_York, Language::Es)
            .unwrap(),
        "hasta la 1pm"
    );
    let opening = bar.next_opening(at(2026, 3, 8, 12, 0), New_York).unwrap();
    assert_eq!(
        (opening.wall.weekday(), opening.minute()),
        (Weekday::Fri, 20 * 60)
    );
}

#[test] // the clocks go forward on 2026-03-08 and back on 2026-11-01
fn dst_nights_keep_the_doors_open() {
    let club = hours("Daily 10pm-4am");
    for (start, hours_open) in [(at(2026, 3, 8, 3, 0), 5), (at(2026, 11, 1, 2, 0), 7)] {
        for minute in 0..hours_open * 60 {
            assert!(
                club.is_open(start + TimeDelta::minutes(minute), New_York),
                "{start} + {minute}"
            );
        }
        let end = start + TimeDelta::hours(hours_open);
        assert!(!club.is_open(end, New_York));
        assert_eq!(club.closes_at(start, New_York).unwrap().at, end);
    }
    // A time inside the skipped hour takes effect at the instant of the change.
    let jump = at(2026, 3, 8, 7, 0);
    assert_eq!(
        hours("Sat 8pm-2:30am")
            .closes_at(at(2026, 3, 8, 5, 0), New_York)
            .unwrap()
            .at,
        jump
    );
    assert_eq!(
        hours("Sun 2:30am-6am")
            .next_opening(at(2026, 3, 8, 5, 0), New_York)
            .unwrap()
            .at,
        jump
    );
    let skipped = hours("Sun 2am-2:30am")
        .next_opening(at(2026, 3, 8, 5, 0), New_York)
        .unwrap();
    assert_eq!(
        skipped.wall.to_string(),
        "2026-03-15 02:00:00",
        "what lies in the skipped hour only does not open"
    );
}

#[test] // CMS-19: a holiday replaces its weekday, its night included
fn holidays_have_hours_of_their_own() {
    let day = |text: &str, hours: &str| {
        let day = Day::yearly(text).unwrap_or_else(|| Day::Once(text.parse().unwrap()));
        SpecialDay::new(day, None, hours).unwrap()
    };
    let grill = hours("Daily 11am-10pm")
        .with_special(&[day("12-25", "closed"), day("2026-12-31", "5pm-2am")]);
    for (utc, open) in [
        (at(2026, 12, 24, 18, 0), true),
        (at(2026, 12, 25, 18, 0), false),
        (at(2027, 12, 25, 18, 0), false),
        (at(2026, 12, 31, 18, 0), false),
        (at(2026, 12, 31, 23, 0), true),
        (at(2027, 1, 1, 6, 59), true),
        (at(2027, 1, 1, 7, 0), false),
        (at(2027, 12, 31, 18, 0), true),
    ] {
        assert_eq!(grill.is_open(utc, New_York), open, "{utc}");
    }
    let christmas = at(2026, 12, 25, 18, 0);
    assert_eq!(
        grill
            .next_opening(christmas, New_York)
            .unwrap()
            .wall
            .to_string(),
        "2026-12-26 11:00:00"
    );
    assert_eq!(
        grill
            .until(at(2027, 1, 1, 3, 0), New_York, Language::En)
            .unwrap(),
        "until 2am"
    );
    assert!(grill.openings_on("2026-12-25".parse().unwrap()).is_empty());
    let floor = hours("24 hours").with_special(&[day("12-25", "closed")]);
    assert!(!floor.is_always() && floor.to_string() == "24 hours");
    assert_eq!(
        floor
            .closes_at(at(2026, 12, 24, 18, 0), New_York)
            .unwrap()
            .wall
            .to_string(),
        "2026-12-25 00:00:00"
    );
    assert!(SpecialDay::new(Day::Yearly(12, 25), None, "Mon 5pm-9pm").is_err());
    assert!(
        Day::yearly("02-29").is_some()
            && Day::yearly("02-30").is_none()
            && Day::yearly("2026-12-25").is_none()
    );
}

#[test]
fn always_open_never_closes() {
    let floor = hours("24 hours");
    assert!(floor.is_always() && floor.closes_at(at(2026, 3, 8, 7, 0), New_York).is_none());
    assert!(floor.next_opening(at(2026, 3, 8, 7, 0), New_York).is_none());
    let weekend = hours("Sun-Thu 9am-1am, Fri 9am-12am, Sat 24 hours");
    assert_eq!(
        weekend
            .closes_at(at(2026, 3, 7, 18, 0), New_York)
            .unwrap()
            .minute(),
        0
    );
}

#[test]
fn schedules_give_starting_times() {
    let starts = weekly_starts("Fridays and Saturdays at 9pm").unwrap();
    assert_eq!(starts[4], [1260]);
    assert_eq!(starts[5], [1260]);
    assert!(starts[0].is_empty());
    assert!(weekly_starts("First Friday of the month").is_err());
}

fn any_week() -> impl Strategy<Value = WeeklyHours> {
    let span = (0u16..1440, 15u16..=1440).prop_map(|(opens, length)| Span {
        opens,
        closes: opens + length,
    });
    proptest::collection::vec(proptest::collection::vec(span, 0..3), 7).prop_map(|days| {
        let days: [Vec<Span>; 7] = days.try_into().unwrap();
        WeeklyHours::new(days)
    })
}

proptest! {
    #[test]
    fn what_is_printed_reads_back(week in any_week(), minutes in 0i64..20_160) {
        let instant = at(2026, 10, 28, 0, 0) + TimeDelta::minutes(minutes);
        for language in Language::ALL {
            let back = hours(&week.show(language));
            prop_assert_eq!(
                back.is_open(instant, New_York),
                week.is_open(instant, New_York),
                "{}",
                week
            );
        }
        if let Some(close) = week.closes_at(instant, New_York) {
            prop_assert!(close.at > instant && !week.is_open(close.at, New_York));
            prop_assert!(week.is_open(close.at - TimeDelta::minutes(1), New_York));
        }
        if let Some(open) = week.next_opening(instant, New_York) {
            prop_assert!(open.at > instant && week.is_open(open.at, New_York));
        }
    }

    #[test]
    fn any_text_is_read_or_refused_without_panic(
        text in "\\PC{0,40}",
        signs in "[0-9apm:, \\-monfrisat/]{0,40}",
    ) {
        let _ = WeeklyHours::parse(&text);
        let _ = WeeklyHours::parse(&signs);
        let _ = weekly_starts(&signs);
    }
}

use chrono::TimeZone;
use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::{Confidence, Grant, GrantRef, Profile, Scope, Setting};

const TWO_DAYS: TimeDelta = TimeDelta::hours(48);

fn at(hour: i64) -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 11, 20, 18, 0, 0).unwrap() + TimeDelta::hours(hour)
}

fn row(id: &str, offer: bool) -> Subject {
    Subject {
        id: id.to_owned(),
        name: format!("The {id}"),
        offer,
    }
}

fn turn<'a>(texts: &'a [String], answered: bool) -> TurnSeen<'a> {
    TurnSeen {
        texts,
        answered,
        ..TurnSeen::default()
    }
}

fn guest(text: &str, now: DateTime<Utc>) -> Profile {
    let setting = Setting {
        now,
        zone: chrono_tz::America::New_York,
        language: seven_domain::Language::En,
        asked: None,
    };
    let grant = Grant {
        scope: Scope::Personalization,
        detail: String::new(),
        reference: GrantRef(Uuid::nil()),
        version: 1,
    };
    let mut profile = Profile::new(now);
    profile.learn(text, &setting, now, &grant);
    profile
}

fn step(hour: i64, silence: Option<i64>) -> Step {
    Step {
        now: at(hour),
        today: at(hour).date_naive(),
        reachable: true,
        escalated: false,
        offer_readiness: Confidence::ZERO,
        silence: silence.map(TimeDelta::hours),
        names_next_visit: false,
    }
}

#[test] // SMS-26, C-53: just below and just above 48 hours
fn a_session_ends_after_48_hours_of_silence() {
    let session = Session {
        last_at: at(5),
        ..Session::begun(at(0), None)
    };
    for (hour, over) in [
        (5, false),
        (52, false),
        (53, false),
        (54, true),
        (500, true),
        (0, false),
    ] {
        assert_eq!(session.is_over(at(hour), TWO_DAYS), over, "{hour}");
    }
    assert!(session.is_over(at(53) + TimeDelta::seconds(1), TWO_DAYS));
}

#[test] // SMS-26: with an earlier session, with a profile only, with neither
fn how_a_conversation_goes_on() {
    let (new, old) = (
        Session::begun(at(60), None),
        Session {
            turns: 3,
            ..Session::begun(at(0), None)
        },
    );
    for (session, before, known, wanted) in [
        (Some(&old), None, true, Resume::Same),
        (Some(&old), Some(&old), true, Resume::Same),
        (Some(&new), Some(&old), false, Resume::Warm),
        (Some(&new), None, true, Resume::Cold),
        (Some(&new), None, false, Resume::NewGuest),
        (None, None, false, Resume::NewGuest),
    ] {
        assert_eq!(resume(session, before, known), wanted);
    }
}

#[test] // DATA-25, CONV-30
fn the_place_in_the_conversation_goes_on_and_the_rows_begin_anew() {
    let mut first = Session::begun(at(0), None);
    first.enter(Phase::Active);
    let texts = ["you don't understand, where is the steak house".to_owned()];
    first.take(&TurnSeen {
        about: vec![row("steakhouse", false)],
        validation_failures: 1,
        ..turn(&texts, false)
    });
    assert_eq!(
        (
            first.turns,
            first.counts.frustrated_in_row,
            first.counts.unanswered_in_row
        ),
        (1, 1, 1)
    );
    let second = Session::begun(at(60), Some(&first));
    assert_eq!((second.phase, second.turns), (Phase::Active, 0));
    assert_eq!(
        (
            second.counts.exchanges_in_phase,
            second.counts.substantive_in_phase
        ),
        (1, 1)
    );
    assert_eq!(
        (
            second.counts.frustrated_in_row,
            second.counts.unanswered_in_row
        ),
        (0, 0)
    );
    assert_eq!(
        (second.counts.validation_failures, second.counts.circles),
        (0, Circles::default())
    );
    assert_eq!(second.summary, Summary::default());
}

#[test] // CONV-30, CONV-31, CONV-32, C-26
fn phases_follow_the_turns_and_the_silence() {
    let known = guest("I'm Ana and we come on 2026-12-05", at(0));
    let run = |texts: &[(&str, i64)], profile: &Profile| {
        let mut session = Session::begun(at(texts[0].1), None);
        let (mut phases, mut last) = (Vec::new(), None);
        let mut profile = profile.clone();
        for (text, hour) in texts {
            let texts = [(*text).to_owned()];
            session.take(&turn(&texts, true));
            let next = advance(
                &session,
                &profile,
                &step(*hour, last.map(|last| hour - last)),
            );
            if next != session.phase {
                profile.engagement.phase_entered_at = Some(at(*hour));
            }
            session.enter(next);
            phases.push(next.as_str());
            last = Some(*hour);
        }
        phases.join(" ")
    };
    let nobody = Profile::new(at(0));
    let ask = "where can we eat sushi";
    assert_eq!(
        run(&[(ask, 0), (ask, 1), (ask, 2)], &nobody),
        "active active rapport"
    );
    assert_eq!(
        run(&[("ok", 0), ("ok", 1), ("yes", 2)], &nobody),
        "active active active"
    );
    assert_eq!(
        run(&[("ok", 0); 6], &nobody),
        "active active active active active rapport"
    );
    // Without a name or a date, the phase does not reach discovery.
    assert_eq!(
        run(&[(ask, 0); 6], &nobody),
        "active active rapport rapport rapport rapport"
    );
    assert_eq!(
        run(&[(ask, 0); 6], &known),
        "active active rapport rapport rapport discovery"
    );
    // After two days of silence the conversation was dormant; the text makes it active again.
    assert_eq!(
        run(&[(ask, 0), (ask, 1), (ask, 2), (ask, 51)], &nobody),
        "active active rapport active"
    );
    assert_eq!(
        run(&[(ask, 0), (ask, 1), (ask, 2), (ask, 49)], &nobody),
        "active active rapport rapport"
    );
}

#[test] // CONV-30: no change for a guest who must not be texted or has an open case
fn guards_hold_the_phase() {
    let mut session = Session::begun(at(0), None);
    session.enter(Phase::Active);
    let texts = ["where can we eat".to_owned()];
    session.take(&turn(&texts, true));
    session.take(&turn(&texts, true));
    let nobody = Profile::new(at(0));
    assert_eq!(advance(&session, &nobody, &step(1, None)), Phase::Rapport);
    assert_eq!(
        advance(
            &session,
            &nobody,
            &Step {
                reachable: false,
                ..step(1, None)
            }
        ),
        Phase::Active
    );
    assert_eq!(
        advance(
            &session,
            &nobody,
            &Step {
                escalated: true,
                ..step(1, None)
            }
        ),
        Phase::Active
    );
}

#[test] // SMS-26, DATA-24: the summary has whole names and facts only
fn the_account_names_what_was_discussed() {
    let mut summary = Summary::default();
    summary.note(&[row("grill", false), row("bar", false)]);
    summary.note(&[row("credit", true)]);
    summary.note(&[row("bar", false)]);
    assert_eq!(summary.last().map(|s| s.id.as_str()), Some("bar"));
    let known = guest("I'm Ana, a party of 4", at(0)).context(at(1));
    let told = tell(&summary, |_| true, &known).unwrap();
    assert!(
        told.starts_with("Talked about: The bar, The grill. Open offers: The credit. Known: "),
        "{told}"
    );
    assert!(
        told.contains("name Ana") && told.contains("party size 4") && told.ends_with('.'),
        "{told}"
    );
    // The summary leaves out a subject whose row the casino has removed.
    let told = tell(&summary, |subject| subject.id == "grill", &known).unwrap();
    assert!(
        told.starts_with("Talked about: The grill. Known: "),
        "{told}"
    );
    assert_eq!(tell(&summary, |_| false, &Default::default()), None);
}

fn exchanges() -> impl Strategy<Value = Vec<(String, String)>> {
    prop::collection::vec((".{0,80}", ".{0,300}"), 0..30)
}

#[test] // CONV-36
fn a_no_to_an_offer_is_counted_from() {
    let texts = |text: &str| vec![text.to_owned()];
    let mut session = Session::begun(at(0), None);
    let offer = texts("any deals?");
    session.take(&TurnSeen {
        offers: true,
        ..turn(&offer, true)
    });
    assert_eq!(
        session
            .counts
            .since_rejection(&texts("what time is dinner?"), false),
        None
    );
    assert_eq!(
        session.counts.since_rejection(&texts("no thanks"), true),
        Some(0)
    );
    session.take(&TurnSeen {
        rejects: true,
        ..turn(&texts("no thanks, not now"), true)
    });
    session.take(&TurnSeen {
        rejects: true,
        ..turn(&texts("no, wait"), true)
    });
    assert_eq!(
        session.counts.texts_since_rejection,
        Some(1),
        "nothing was offered in between"
    );
    let next = Session::begun(at(200), Some(&session));
    assert_eq!(
        next.counts.texts_since_rejection,
        Some(1),
        "the cool-down goes on"
    );
}

proptest! {
    #[test] // DATA-24, PROD-18
    fn a_window_is_the_newest_that_fits(
        all in exchanges(),
        exchanges in 0usize..12,
        characters in 0usize..2_000,
    ) {
        let seen = window(
            &all,
            Window {
                exchanges,
                characters,
            },
        );
        prop_assert!(all.ends_with(seen));
        prop_assert!(seen.len() <= exchanges);
        let sum: usize = seen
            .iter()
            .map(|(guest, host)| guest.chars().count() + host.chars().count())
            .sum();
        prop_assert!(sum <= characters || seen.len() == 1);
        prop_assert_eq!(seen.is_empty(), all.is_empty() || exchanges == 0);
        // The window is as large as possible: one more exchange would not have fitted.
        if seen.len() < exchanges.min(all.len()) {
            let next = &all[all.len() - seen.len() - 1];
            prop_assert!(sum + next.0.chars().count() + next.1.chars().count() > characters);
        }
    }

    #[test]
    fn the_account_is_short_and_holds_only_whole_names(names in prop::collection::vec(
        ("[A-Z][a-z ]{0,90}", any::<bool>()),
        0..20,
    )) {
        let rows = names.iter().enumerate().map(|(n, (name, offer))| Subject {
            id: n.to_string(),
            name: name.clone(),
            offer: *offer,
        });
        let mut summary = Summary::default();
        rows.for_each(|row| summary.note(&[row]));
        prop_assert!(summary.subjects.len() <= 8);
        let Some(told) = tell(&summary, |_| true, &Default::default()) else { return Ok(()) };
        prop_assert!(told.chars().count() <= MOST_CHARACTERS, "{}", told);
        for part in told.split(['.', ',', ':']).map(str::trim).filter(|part| !part.is_empty()) {
            let ours = ["Talked about", "Open offers", "Known"].contains(&part);
            prop_assert!(
                ours || summary.subjects.iter().any(|s| s.name.trim() == part),
                "{} in {}",
                part,
                told
            );
        }
    }

    #[test]
    fn a_session_reads_back_as_written(
        texts in prop::collection::vec(".{0,60}", 0..4),
        answered: bool,
        fallback: bool,
        news: bool,
    ) {
        let mut session = Session::begun(at(0), None);
        session.take(&TurnSeen {
            texts: &texts,
            answered,
            fallback,
            news,
            mood: Some(Mood::Cautious),
            ..TurnSeen::default()
        });
        let json = serde_json::to_value(&session).unwrap();
        prop_assert_eq!(serde_json::from_value::<Session>(json).unwrap(), session);
    }
}

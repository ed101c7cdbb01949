use proptest::prelude::*;

use super::*;

fn top(text: &str) -> Option<&'static str> {
    triggers(&Facts {
        text,
        ..Facts::default()
    })
    .first()
    .map(|t| t.reason)
}

#[test]
fn words_that_call_a_person_and_words_that_do_not() {
    let rows = [
        // CONV-42, SEC-33: a text and the reason of its case, if any
        ("I want to speak to someone", Some("asks_for_human")),
        ("Can I talk to a real person?", Some("asks_for_human")),
        ("let me speak with the manager", Some("asks_for_human")),
        ("human please", Some("asks_for_human")),
        ("quiero hablar con una persona", Some("asks_for_human")),
        ("Necesito hablar con el gerente", Some("asks_for_human")),
        ("are you a real person?", None),
        ("¿eres una persona real?", None),
        ("I don't want to talk to anyone", None),
        ("I'm only human", None),
        ("I want to file a complaint", Some("complaint")),
        ("This is unacceptable", Some("complaint")),
        ("tengo una queja", Some("complaint")),
        ("no complaints here", None),
        ("can't complain!", None),
        ("I was charged twice", Some("money_dispute")),
        ("me cobraron de más", Some("money_dispute")),
        ("what's your refund policy? I want a refund", None),
        (
            "I need a sign language interpreter",
            Some("medical_or_access_need"),
        ),
        (
            "need a fridge for my insulin",
            Some("medical_or_access_need"),
        ),
        ("I want my casino host", Some("vip_request")),
        ("I lost my rent money", Some("financial_distress")),
        ("you don't understand", None),
        ("What time is the buffet?", None),
        ("the steak was great", None),
        ("", None),
    ];
    for (text, wanted) in rows {
        assert_eq!(top(text), wanted, "{text}");
    }
}

#[test]
fn severities_and_deadlines() {
    // SEC-113
    let sla = [
        Severity::Sev0,
        Severity::Sev1,
        Severity::Sev2,
        Severity::Sev3,
    ]
    .map(|s| (sla(s).respond_minutes, sla(s).ack_seconds));
    assert_eq!(
        sla,
        [
            (Some(15), Some(450)),
            (Some(60), Some(1800)),
            (Some(240), Some(7200)),
            (None, None)
        ]
    );
    let at = |facts: Facts<'_>| triggers(&facts).first().map(|t| (t.reason, t.severity));
    let none = Facts::default();
    assert_eq!(
        at(Facts {
            grave: Some(Grave::BsaAml),
            ..none
        }),
        Some(("bsa_aml", Severity::Sev0))
    );
    assert_eq!(
        at(Facts {
            grave: Some(Grave::ResponsibleGaming),
            ..none
        }),
        Some(("responsible_gaming", Severity::Sev1))
    );
    let mood = Some((Mood::Negative, Confidence::percent(70)));
    assert_eq!(
        at(Facts { mood, ..none }),
        Some(("negative_sentiment", Severity::Sev1))
    );
    assert_eq!(
        at(Facts {
            mood: Some((Mood::Negative, Confidence::percent(69))),
            ..none
        }),
        None
    );
    assert_eq!(
        at(Facts {
            negative_in_row: 3,
            ..none
        }),
        Some(("negative_sentiment", Severity::Sev1))
    );
    assert_eq!(
        at(Facts {
            fallbacks_in_row: 2,
            ..none
        }),
        Some(("consecutive_fallbacks", Severity::Sev2))
    );
    assert_eq!(
        at(Facts {
            validation_failures_in_session: 2,
            ..none
        }),
        Some(("validation_failures", Severity::Sev2))
    );
    let circles = Circles {
        without_data: 5,
        ambiguous: 0,
    };
    assert_eq!(
        at(Facts { circles, ..none }),
        Some(("no_progress", Severity::Sev2))
    );
    let human = Facts {
        text: "I need a human",
        ..none
    };
    assert_eq!(at(human), Some(("asks_for_human", Severity::Sev2)));
    assert_eq!(
        at(Facts { vip: true, ..human }),
        Some(("asks_for_human", Severity::Sev1))
    );
    assert_eq!(
        at(Facts {
            recent_cases: 2,
            ..human
        }),
        Some(("asks_for_human", Severity::Sev1))
    );
    let again = Facts {
        text: "you don't understand",
        frustrated_in_row: 1,
        ..none
    };
    assert!(is_frustrated(again.text));
    assert_eq!(at(again), Some(("repeated_frustration", Severity::Sev2)));
}

#[test] // D28, SEC-104: the host is silent as long as a person is promised
fn the_pause_lasts_as_long_as_the_promise() {
    let zone = chrono_tz::America::New_York;
    for (at, respond, minutes) in [
        // 10:00 on a Monday: a person writes within 15 minutes.
        ("2026-11-23T15:00:00Z", Some(15), 30),
        ("2026-11-23T15:00:00Z", None, 30),
        // 11:00 on a Saturday: within four hours.
        ("2026-11-28T16:00:00Z", Some(240), 240),
        // 22:30 and 3:30: a person writes by 10:00.
        ("2026-11-24T03:30:00Z", Some(240), 690),
        ("2026-11-24T08:30:00Z", Some(240), 390),
        // 8:00: the case's own deadline of four hours is later than the promised 10:00.
        ("2026-11-24T13:00:00Z", Some(240), 240),
    ] {
        let now = at.parse().unwrap();
        let pause = case_pause(promise(now, zone, false), respond, now, zone);
        assert_eq!(pause.num_minutes(), minutes, "{at}");
    }
}

#[test]
fn nothing_is_promised_at_night_that_nobody_keeps() {
    // CONV-44, C-29: a moment and the promise made then
    let zone = chrono_tz::America::New_York;
    let rows = [
        ("2026-11-23T15:00:00Z", false, Promise::Shortly),
        ("2026-11-23T15:00:00Z", true, Promise::WithinHours),
        ("2026-11-22T15:00:00Z", false, Promise::WithinHours),
        ("2026-11-24T01:59:00Z", false, Promise::Shortly),
        ("2026-11-24T02:00:00Z", false, Promise::Tomorrow),
        ("2026-11-23T13:59:00Z", false, Promise::Tomorrow),
    ];
    for (at, holiday, wanted) in rows {
        assert_eq!(promise(at.parse().unwrap(), zone, holiday), wanted, "{at}");
    }
}

proptest! {
    #[test]
    fn reads_any_text(text in any::<String>()) {
        let found = triggers(&Facts { text: &text, ..Facts::default() });
        prop_assert!(found.is_sorted_by_key(|t| t.severity));
    }
}

#[test] // SEC-104: the host pauses only if a case takes over
fn only_some_cases_silence_the_host() {
    let takes = |facts: Facts<'_>| triggers(&facts).first().map(|t| (t.reason, t.takes_over));
    let none = Facts::default();
    let rows = [
        (
            Facts {
                text: "I want a manager",
                ..none
            },
            Some(("asks_for_human", true)),
        ),
        (
            Facts {
                text: "I want to file a complaint",
                ..none
            },
            Some(("complaint", true)),
        ),
        (
            Facts {
                text: "I need a sign language interpreter",
                ..none
            },
            Some(("medical_or_access_need", false)),
        ),
        (
            Facts {
                text: "do you have a vip host",
                ..none
            },
            Some(("vip_request", false)),
        ),
        (
            Facts {
                fallbacks_in_row: 2,
                ..none
            },
            Some(("consecutive_fallbacks", true)),
        ),
        (
            Facts {
                unanswered_in_row: 2,
                ..none
            },
            None,
        ),
        (
            Facts {
                unanswered_in_row: 3,
                ..none
            },
            Some(("unanswered", false)),
        ),
        (
            Facts {
                grave: Some(Grave::Safety),
                ..none
            },
            Some(("guest_safety", true)),
        ),
        (
            Facts {
                grave: Some(Grave::BsaAml),
                ..none
            },
            Some(("bsa_aml", false)),
        ),
    ];
    for (facts, wanted) in rows {
        assert_eq!(takes(facts), wanted, "{facts:?}");
    }
}

#[test] // PROD-19: the guest withdraws the request for a person
fn a_guest_may_think_again() {
    for (text, withdrawn) in [
        ("never mind, what restaurants do you have?", true),
        ("Olvídelo, ¿qué restaurantes tienen?", true),
        ("what restaurants do you have?", false),
        ("never mind the buffet, I want a manager", false),
    ] {
        assert_eq!(is_withdrawn(text), withdrawn, "{text}");
    }
}

#[test] // SEC-113, CONV-44: the promise or the severity's deadline, whichever is sooner
fn a_promise_binds() {
    let minutes = |severity: Severity| {
        [Promise::Shortly, Promise::WithinHours, Promise::Tomorrow]
            .map(|p| respond_minutes(severity, p))
    };
    assert_eq!(minutes(Severity::Sev0), [Some(15); 3]);
    assert_eq!(minutes(Severity::Sev1), [Some(15), Some(60), Some(60)]);
    assert_eq!(minutes(Severity::Sev2), [Some(15), Some(240), Some(240)]);
    assert_eq!(minutes(Severity::Sev3), [None; 3]);
}

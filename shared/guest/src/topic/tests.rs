use uuid::Uuid;

use super::*;
use crate::{
    Observation, Source, Value,
    profile::{Grant, GrantRef, Scope},
};

fn now() -> DateTime<Utc> {
    "2026-11-22T15:00:00Z".parse().unwrap()
}

fn situation(asked: &[Topic]) -> Situation<'_> {
    Situation {
        phase: Phase::Active,
        asked,
        guest_question_open: false,
        paused: false,
        offer_readiness: Confidence::ZERO,
    }
}

fn knows(known: &[(Key, Value)]) -> Profile {
    let mut profile = Profile::new(now());
    let grant = Grant {
        scope: Scope::Personalization,
        detail: String::new(),
        reference: GrantRef(Uuid::nil()),
        version: 1,
    };
    for (key, value) in known {
        let (key, value, grant) = (*key, value.clone(), grant.clone());
        let confidence = Confidence::ONE;
        profile.observe(Observation {
            key,
            value,
            confidence,
            source: Source::SelfReported,
            at: now(),
            grant,
            correction: false,
        });
    }
    profile
}

#[test]
fn by_priority_and_never_twice_in_a_row() {
    use Topic::*;
    // CONV-25, AGENT-56: topics by priority, never the same twice in a row
    let nobody = knows(&[]);
    let rows: &[(&[Topic], Next)] = &[
        (&[], Next::Ask(Name)),
        (&[Name], Next::Ask(VisitDate)),
        (&[Name, VisitDate], Next::Ask(Name)),
        (&[Name, VisitDate, Name], Next::Ask(VisitDate)),
        (&[Name, VisitDate, Name, VisitDate], Next::Ask(PartySize)),
    ];
    for (asked, wanted) in rows {
        assert_eq!(
            next(&nobody, &situation(asked), now()),
            *wanted,
            "{asked:?}"
        );
    }
    let named = knows(&[
        (Key::Name, Value::text("Maria")),
        (Key::PartySize, Value::Int(2)),
    ]);
    assert_eq!(
        next(&named, &situation(&[VisitDate]), now()),
        Next::Ask(Dining)
    );
}

#[test]
fn silence_has_reasons() {
    let nobody = knows(&[]);
    let s = situation(&[]);
    let nothing = |s| next(&nobody, &s, now());
    assert_eq!(
        nothing(Situation {
            guest_question_open: true,
            ..s
        }),
        Next::Nothing(Silence::GuestAsked)
    );
    assert_eq!(
        nothing(Situation { paused: true, ..s }),
        Next::Nothing(Silence::Paused)
    );
    assert_eq!(
        nothing(Situation {
            phase: Phase::PostVisit,
            ..s
        }),
        Next::Nothing(Silence::AfterVisit)
    );
}

#[test]
fn gaming_after_rapport_companions_never_and_offers_when_ready() {
    let most = knows(&[
        (Key::Name, Value::text("Maria")),
        (Key::VisitDate, Value::Date(now().date_naive())),
        (Key::PartySize, Value::Int(2)),
        (Key::Cuisine, Value::list(["steak"])),
        (Key::Interests, Value::list(["jazz"])),
        (Key::Occasion, Value::text("birthday")),
    ]);
    let s = situation(&[]);
    assert_eq!(next(&most, &s, now()), Next::Nothing(Silence::NothingLeft));
    assert_eq!(
        next(
            &most,
            &Situation {
                phase: Phase::Discovery,
                ..s
            },
            now()
        ),
        Next::Ask(Topic::Gaming)
    );
    // AGENT-54, CONV-28: above a readiness of 0.8, the next topic is an offer
    let ready = Situation {
        offer_readiness: Confidence::percent(85),
        ..s
    };
    assert_eq!(next(&most, &ready, now()), Next::OfferReady);
    assert_eq!(
        next(&knows(&[]), &ready, now()),
        Next::Ask(Topic::Name),
        "readiness without data"
    );
}

#[test]
fn dormant_guests_resume_with_the_next_field() {
    // CONV-32: a dormant conversation resumes with the next topic
    assert_eq!(resume(&knows(&[]), now()).next, Next::Ask(Topic::Name));
    let named = resume(&knows(&[(Key::Name, Value::text("Maria"))]), now());
    assert_eq!(
        (named.known, named.next),
        (vec![Topic::Name], Next::Ask(Topic::VisitDate))
    );
}

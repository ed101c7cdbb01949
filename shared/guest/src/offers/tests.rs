use chrono::TimeDelta;
use uuid::Uuid;

use super::*;
use crate::{
    Observation, Source, Value,
    profile::{Grant, GrantRef, Scope},
};

fn policy() -> Policy {
    Policy::parse(include_str!("../../../packs/casino/offers.toml")).unwrap()
}

fn now() -> DateTime<Utc> {
    "2026-11-22T15:00:00Z".parse().unwrap()
}

fn guest(known: &[(Key, Value)]) -> Profile {
    let mut profile = Profile::new(now());
    let grant = Grant {
        scope: Scope::Personalization,
        detail: String::new(),
        reference: GrantRef(Uuid::nil()),
        version: 1,
    };
    for (key, value) in known {
        profile.observe(Observation {
            key: *key,
            value: value.clone(),
            confidence: Confidence::ONE,
            source: Source::SelfReported,
            at: now(),
            grant: grant.clone(),
            correction: false,
        });
    }
    profile
}

fn all() -> Vec<(Key, Value)> {
    vec![
        (Key::Name, Value::text("Maria")),
        (Key::PartySize, Value::Int(2)),
        (Key::Cuisine, Value::list(["steak"])),
        (Key::Email, Value::text("m@x.com")),
        (Key::VisitDate, Value::Date(now().date_naive())),
        (Key::Interests, Value::list(["jazz"])),
        (Key::Occasion, Value::text("birthday")),
    ]
}

fn facts() -> Facts {
    Facts {
        phase: Phase::Offer,
        asked: false,
        suppressed: false,
        conversational_consent: true,
        marketing_consent: true,
        paused: false,
        self_excluded: false,
        responsible_gaming: false,
        readiness: Confidence::percent(60),
        guest_texts: 5,
        substantive_exchanges: 4,
        texts_since_rejection: None,
        offers_this_arc: 0,
        offers_today: 0,
        offers_this_month: 0,
        dollars_this_week: 0,
    }
}

fn decide(known: usize, facts: &Facts) -> Result<TierName, Refusal> {
    policy()
        .decide(&guest(&all()[..known]), facts, now())
        .map(|e| e.tier)
}

#[test]
fn the_ladder() {
    // CONV-35: thresholds are exclusive
    assert_eq!(decide(1, &facts()), Err(Refusal::Incomplete));
    assert_eq!(decide(2, &facts()), Ok(TierName::Dining));
    assert_eq!(
        decide(3, &facts()),
        Ok(TierName::Dining),
        "0.40 and no e-mail"
    );
    assert_eq!(decide(4, &facts()), Ok(TierName::Freeplay));
    assert_eq!(decide(5, &facts()), Ok(TierName::Hotel));
    assert_eq!(decide(7, &facts()), Ok(TierName::Vip));
    let vip = policy().decide(&guest(&all()), &facts(), now()).unwrap();
    assert!(vip.needs_approval, "C-27: a person decides");
}

#[test]
fn why_not() {
    let f = facts();
    let rows = [
        (
            Facts {
                suppressed: true,
                ..f
            },
            Refusal::Suppressed,
        ),
        (
            Facts {
                conversational_consent: false,
                ..f
            },
            Refusal::NoConsent,
        ),
        (
            Facts {
                self_excluded: true,
                ..f
            },
            Refusal::SelfExcluded,
        ),
        (Facts { paused: true, ..f }, Refusal::Paused),
        (
            Facts {
                marketing_consent: false,
                ..f
            },
            Refusal::NoMarketingConsent,
        ),
        (
            Facts {
                offers_this_arc: 1,
                ..f
            },
            Refusal::ArcCap,
        ),
        (
            Facts {
                offers_today: 1,
                ..f
            },
            Refusal::DailyCap,
        ),
        (
            Facts {
                offers_this_month: 4,
                ..f
            },
            Refusal::MonthlyCap,
        ),
        (
            Facts {
                texts_since_rejection: Some(4),
                ..f
            },
            Refusal::JustRejected,
        ),
        (
            Facts {
                substantive_exchanges: 2,
                ..f
            },
            Refusal::TooFewExchanges,
        ),
        (
            Facts {
                readiness: Confidence::percent(30),
                ..f
            },
            Refusal::NotReady,
        ),
        (
            Facts {
                phase: Phase::Active,
                ..f
            },
            Refusal::WrongPhase,
        ),
        (
            Facts {
                dollars_this_week: 45,
                phase: Phase::Discovery,
                ..f
            },
            Refusal::WeeklyValue,
        ),
    ];
    for (facts, wanted) in rows {
        assert_eq!(decide(7, &facts), Err(wanted));
    }
    let mut leaving = guest(&all());
    leaving.meta.lifecycle = crate::profile::Lifecycle::PendingDeletion;
    assert_eq!(
        policy().decide(&leaving, &f, now()),
        Err(Refusal::DeletionPending)
    );
}

#[test]
fn a_guest_who_asks_needs_no_phase_readiness_or_marketing_consent() {
    // C-8: a request needs no phase, readiness or marketing consent
    let asked = Facts {
        asked: true,
        marketing_consent: false,
        phase: Phase::Active,
        readiness: Confidence::ZERO,
        ..facts()
    };
    assert_eq!(decide(4, &asked), Ok(TierName::Freeplay));
    assert!(policy().hands_to_comp(&asked) && !policy().hands_to_comp(&facts()));
}

#[test]
fn no_gaming_offer_after_a_sign_of_problem_gambling() {
    // The guest gets the next lower tier, which is not for gambling.
    assert_eq!(
        decide(
            4,
            &Facts {
                responsible_gaming: true,
                ..facts()
            }
        ),
        Ok(TierName::Dining)
    );
}

#[test]
fn what_was_said_long_ago_is_not_enough() {
    let later = now() + TimeDelta::days(6 * 365);
    assert_eq!(
        policy().decide(&guest(&all()), &facts(), later),
        Err(Refusal::Incomplete)
    );
}

#[test] // D18: the tiers are the pack's
fn a_trade_without_tiers_makes_no_offer() {
    let none = Policy {
        tier: Vec::new(),
        ..policy()
    };
    assert_eq!(
        none.decide(&guest(&all()), &facts(), now()),
        Err(Refusal::NoTier)
    );
    let problem = Policy::parse("per_day = 1").unwrap_err().to_string();
    assert!(problem.contains("missing field"), "{problem}");
}

#[test] // CONV-36
fn a_short_no_rejects_an_offer_and_a_question_does_not() {
    let rejects = |text: &str| policy().is_any_rejection(&[text.to_owned()]);
    for text in ["no thanks", "no me interesa", "no thanks, not now"] {
        assert!(rejects(text), "{text}");
    }
    for text in [
        "what time is dinner?",
        "no, wait, when is dinner?",
        "yes please",
    ] {
        assert!(!rejects(text), "{text}");
    }
}

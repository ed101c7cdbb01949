use proptest::prelude::*;

use super::*;

fn facts() -> Facts {
    Facts {
        event: Event::GuestText,
        reachable: true,
        escalated: false,
        exchanges_in_phase: 0,
        substantive_in_phase: 0,
        fields: 0,
        preference_topics: 0,
        has_name_or_date: false,
        rapport: Confidence::ZERO,
        offer_readiness: Confidence::ZERO,
        hours_in_phase: 0,
        hours_since_guest: Some(0),
        visit: Visit::Unknown,
        hours_since_post_visit_text: None,
        next_visit_interest: false,
    }
}

#[test]
fn the_table_of_the_specification() {
    use Phase::*;
    let p = Confidence::percent;
    let timer = Facts {
        event: Event::Timer,
        ..facts()
    };
    let silent = Facts {
        hours_since_guest: Some(48),
        hours_in_phase: 48,
        ..timer
    };
    let rows = [
        // CONV-30: phases advance by goals
        (PreVisit, facts(), Active),
        (
            PreVisit,
            Facts {
                reachable: false,
                ..facts()
            },
            PreVisit,
        ),
        (
            Active,
            Facts {
                substantive_in_phase: 1,
                ..facts()
            },
            Active,
        ),
        (
            Active,
            Facts {
                substantive_in_phase: 2,
                ..facts()
            },
            Rapport,
        ),
        (
            Active,
            Facts {
                substantive_in_phase: 2,
                escalated: true,
                ..facts()
            },
            Active,
        ),
        (
            Rapport,
            Facts {
                rapport: p(61),
                has_name_or_date: true,
                ..facts()
            },
            Discovery,
        ),
        (
            Rapport,
            Facts {
                rapport: p(60),
                has_name_or_date: true,
                ..facts()
            },
            Rapport,
        ),
        (
            Rapport,
            Facts {
                rapport: p(90),
                ..facts()
            },
            Rapport,
        ),
        (
            Discovery,
            Facts {
                preference_topics: 3,
                offer_readiness: p(51),
                ..facts()
            },
            Offer,
        ),
        (
            Discovery,
            Facts {
                preference_topics: 3,
                offer_readiness: p(50),
                ..facts()
            },
            Discovery,
        ),
        (
            Offer,
            Facts {
                visit: Visit::Over(24),
                ..facts()
            },
            PostVisit,
        ),
        (
            Offer,
            Facts {
                visit: Visit::Over(23),
                ..facts()
            },
            Offer,
        ),
        (
            PostVisit,
            Facts {
                next_visit_interest: true,
                ..facts()
            },
            PreVisit,
        ),
        (Dormant, facts(), Active),
        // CONV-30: phases advance by time limits
        (
            Active,
            Facts {
                exchanges_in_phase: 5,
                ..facts()
            },
            Rapport,
        ),
        (
            Rapport,
            Facts {
                exchanges_in_phase: 3,
                has_name_or_date: true,
                ..facts()
            },
            Discovery,
        ),
        (
            Discovery,
            Facts {
                exchanges_in_phase: 7,
                fields: 1,
                offer_readiness: p(60),
                ..facts()
            },
            Offer,
        ),
        (
            Discovery,
            Facts {
                exchanges_in_phase: 7,
                fields: 1,
                ..facts()
            },
            Discovery,
        ),
        (
            Offer,
            Facts {
                hours_in_phase: 336,
                ..timer
            },
            PostVisit,
        ),
        (
            Offer,
            Facts {
                hours_in_phase: 336,
                visit: Visit::Ahead,
                ..timer
            },
            Offer,
        ),
        (
            PostVisit,
            Facts {
                hours_since_post_visit_text: Some(168),
                ..timer
            },
            PreVisit,
        ),
        (
            PostVisit,
            Facts {
                hours_in_phase: 720,
                ..timer
            },
            PreVisit,
        ),
        (
            Dormant,
            Facts {
                event: Event::Reengagement,
                hours_in_phase: 168,
                ..facts()
            },
            Active,
        ),
        (
            Dormant,
            Facts {
                event: Event::Reengagement,
                hours_in_phase: 167,
                ..facts()
            },
            Dormant,
        ),
        // C-26: silence makes a phase dormant, except while a visit is awaited
        (Active, silent, Dormant),
        (
            Discovery,
            Facts {
                hours_since_guest: Some(47),
                ..silent
            },
            Discovery,
        ),
        (
            PreVisit,
            Facts {
                hours_since_guest: None,
                ..silent
            },
            PreVisit,
        ),
        (Offer, silent, Dormant),
        (
            Offer,
            Facts {
                visit: Visit::Ahead,
                ..silent
            },
            Offer,
        ),
        (PostVisit, silent, PostVisit),
        (Dormant, silent, Dormant),
    ];
    for (n, (from, facts, to)) in rows.into_iter().enumerate() {
        assert_eq!(from.next(&facts), to, "row {n}: {from:?}");
    }
}

#[test]
fn quality_of_texts() {
    for text in [
        "ok",
        "Yes!",
        "sure thanks",
        "sí, gracias",
        "Sounds good",
        "hola",
    ] {
        assert_eq!(quality(text), Quality::Minimal, "{text}");
    }
    for text in ["we love steak", "somos 4", "What time does it open?", "4"] {
        assert_eq!(quality(text), Quality::Substantive, "{text}");
    }
    for text in ["", "👍", "...!"] {
        assert_eq!(quality(text), Quality::None, "{text}");
    }
}

#[test]
fn five_turns_without_data_call_a_person() {
    // PROD-19, CONV-33: after five turns without news, a person takes over
    let lost = TurnFacts {
        news: false,
        answered: false,
        ambiguous: false,
    };
    let mut circles = Circles::default();
    let rescues: Vec<_> = (0..5)
        .map(|_| {
            circles = circles.after(lost);
            circles.rescue()
        })
        .collect();
    assert_eq!(
        rescues,
        [
            Rescue::None,
            Rescue::None,
            Rescue::Menu,
            Rescue::Menu,
            Rescue::Human
        ]
    );
    assert_eq!(
        circles.after(TurnFacts { news: true, ..lost }).rescue(),
        Rescue::None
    );
    assert_eq!(
        Circles::default()
            .after(TurnFacts {
                answered: true,
                ..lost
            })
            .without_data,
        0
    );
    assert_eq!(
        Circles {
            without_data: 0,
            ambiguous: 4
        }
        .after(TurnFacts {
            ambiguous: true,
            ..lost
        })
        .rescue(),
        Rescue::Human
    );
}

proptest! {
    #[test]
    fn never_two_steps_and_never_an_unreachable_guest(
        from in 0..7usize, exchanges in 0..20u32, hours in 0..2000u32, topics in 0..6u32,
        named in any::<bool>(), text in any::<bool>(),
    ) {
        let from = Phase::ALL[from];
        let event = if text { Event::GuestText } else { Event::Timer };
        let f = Facts {
            event,
            exchanges_in_phase: exchanges,
            hours_in_phase: hours,
            hours_since_guest: Some(hours),
            preference_topics: topics,
            has_name_or_date: named,
            ..facts()
        };
        prop_assert_eq!(
            from.next(&Facts {
                reachable: false,
                ..f
            }),
            from
        );
        let to = from.next(&f);
        if text { prop_assert!(to != Phase::Dormant || from == Phase::Dormant); }
    }
}

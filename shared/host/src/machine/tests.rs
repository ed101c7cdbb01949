use proptest::prelude::*;

use super::*;

fn manifest() -> Manifest {
    Manifest::parse(
        r#"
default_agent = "host"
[agents.host]
title = "Host"
hands_to = ["dining", "comp"]
[agents.dining]
title = "Dining"
subjects = ["restaurant"]
hands_to = ["host", "comp"]
[agents.comp]
title = "Comp"
hands_to = ["host"]
offers = true
"#,
    )
    .unwrap()
}

fn routed(subject: Subject, domain: &str, confidence: f64) -> Event {
    Event::Routed(Route {
        subject,
        domain: Some(domain.to_owned()),
        confidence,
    })
}

fn retry() -> Event {
    Event::Judged(Verdict::Retry("names a competitor".to_owned()))
}

/// Plays the events and returns the path and the last action.
fn play(events: Vec<Event>) -> (String, Action) {
    let manifest = manifest();
    let mut turn = Turn::new(&manifest, true);
    let last = events
        .into_iter()
        .map(|event| turn.next(event))
        .last()
        .unwrap_or_else(|| turn.first());
    (turn.path().join(" "), last)
}

#[test] // AGENT-9, AGENT-11, AGENT-13, AGENT-18, AGENT-22, AGENT-51, AGENT-58, AGENT-59, AGENT-64
fn the_table_of_transitions() {
    // AGENT-8, AGENT-52, AGENT-65, RAG-5, WID-12
    use Event::{HandsTo, Judged, NotJudged, Planned, SpeechFailed, Spoke};
    let default = || {
        Event::Routed(Route {
            subject: Subject::Domain,
            domain: None,
            confidence: 1.0,
        })
    };
    let domain = || routed(Subject::Domain, "restaurant", 0.92);
    let pass = || Judged(Verdict::Pass);
    for (events, path, ending) in [
        (
            vec![routed(Subject::Greeting, "", 0.05)],
            "router greeting",
            Ending::Greeting,
        ),
        (
            vec![routed(Subject::OffTopic, "", 0.9)],
            "router off_topic",
            Ending::OffTopic,
        ),
        (
            vec![routed(Subject::Domain, "dining", 0.29)],
            "router off_topic",
            Ending::OffTopic,
        ),
        (
            vec![
                routed(Subject::Domain, "dining", 0.3),
                Planned(None),
                Spoke,
                pass(),
            ],
            "router planner dining validator reply",
            Ending::Reply,
        ),
        (
            vec![domain(), Planned(None), Spoke, pass()],
            "router planner dining validator reply",
            Ending::Reply,
        ),
        (
            vec![default(), Planned(None), Spoke, pass()],
            "router planner host validator reply",
            Ending::Reply,
        ),
        (
            vec![
                default(),
                Planned(None),
                HandsTo("dining".into()),
                Spoke,
                retry(),
                Spoke,
                pass(),
            ],
            "router planner host dining validator dining validator reply",
            Ending::Reply,
        ),
        (
            vec![domain(), Planned(None), Spoke, retry(), Spoke, retry()],
            "router planner dining validator dining validator fallback",
            Ending::Fallback(Reason::Refused),
        ),
        (
            vec![
                domain(),
                Planned(None),
                Spoke,
                Judged(Verdict::Fail("win".into())),
            ],
            "router planner dining validator fallback",
            Ending::Fallback(Reason::Refused),
        ),
        (
            vec![domain(), Planned(None), SpeechFailed],
            "router planner dining fallback",
            Ending::Fallback(Reason::Model),
        ),
        (
            vec![domain(), Planned(None), Spoke, NotJudged { clean: true }],
            "router planner dining validator reply",
            Ending::Reply,
        ),
        (
            vec![domain(), Planned(None), Spoke, NotJudged { clean: false }],
            "router planner dining validator fallback",
            Ending::Fallback(Reason::ValidatorDown),
        ),
        (
            vec![
                domain(),
                Planned(None),
                Spoke,
                retry(),
                Spoke,
                NotJudged { clean: true },
            ],
            "router planner dining validator dining validator fallback",
            Ending::Fallback(Reason::ValidatorDown),
        ),
        (
            vec![
                domain(),
                Planned(None),
                HandsTo("comp".into()),
                Spoke,
                NotJudged { clean: true },
            ],
            "router planner dining comp validator fallback",
            Ending::Fallback(Reason::ValidatorDown),
        ),
        (
            vec![domain(), Spoke],
            "router planner fallback",
            Ending::Fallback(Reason::OutOfOrder),
        ),
    ] {
        assert_eq!(
            play(events),
            (path.to_owned(), Action::End(ending)),
            "{path}"
        );
    }
}

#[test] // AGENT-11: an unreadable, unsure or harmful route gives way to the offline host's
fn a_route_that_is_not_sure_gives_way() {
    let route = |subject, domain: &str, confidence| Route {
        subject,
        domain: Some(domain.to_owned()),
        confidence,
    };
    let own = || route(Subject::Domain, "own", 1.0);
    for (model, answers, wins) in [
        (None, true, "own"),
        (None, false, "own"),
        (Some(route(Subject::Domain, "dining", 0.9)), true, "dining"),
        (Some(route(Subject::Domain, "dining", 0.1)), true, "own"),
        (Some(route(Subject::Domain, "dining", 0.0)), false, "own"),
        (Some(route(Subject::Greeting, "hi", 0.0)), false, "hi"),
        (Some(route(Subject::Greeting, "hi", 1.0)), true, "own"),
        (Some(route(Subject::OffTopic, "off", 0.9)), false, "off"),
        (Some(route(Subject::OffTopic, "off", 0.9)), true, "own"),
        (Some(route(Subject::OffTopic, "off", 0.1)), false, "own"),
    ] {
        let told = format!("{model:?} {answers}");
        let chosen = Route::or_own(model, own(), answers, 0.3);
        assert_eq!(chosen.domain.as_deref(), Some(wins), "{told}");
    }
}

#[test] // AGENT-14, C-2: no ping-pong, and no handoff against the matrix
fn handoffs_are_capped() {
    let hands = |to: &str| Event::HandsTo(to.to_owned());
    let start = || vec![routed(Subject::Domain, "host", 1.0), Event::Planned(None)];
    let (path, last) = play(
        [
            start(),
            vec![hands("dining"), hands("host"), hands("dining")],
        ]
        .concat(),
    );
    assert_eq!(path, "router planner host dining host host");
    assert!(matches!(last, Action::Speak { agent, feedback: Some(_) } if agent == "host"));
    let (_, last) = play([start(), vec![hands("nobody")]].concat());
    assert!(matches!(last, Action::Speak { agent, feedback: Some(_) } if agent == "host"));
}

#[test] // AGENT-17, AGENT-78: nothing of one turn is in the next
fn a_new_turn_knows_nothing() {
    let manifest = manifest();
    let mut turn = Turn::new(&manifest, false);
    for event in [
        routed(Subject::Domain, "dining", 0.9),
        Event::Planned(None),
        Event::Spoke,
        retry(),
    ] {
        turn.next(event);
    }
    assert_eq!((turn.retries(), turn.agent()), (1, "dining"));
    let next = Turn::new(&manifest, false);
    assert_eq!(
        (
            next.retries(),
            next.handoffs(),
            next.agent(),
            next.plan(),
            next.route()
        ),
        (0, 0, "host", None, None)
    );
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        3 => (0.0..1.0).prop_map(|confidence| routed(Subject::Domain, "restaurant", confidence)),
        3 => Just(Event::Planned(None)),
        4 => Just(Event::Spoke),
        4 => prop::sample::select(vec![
            "host",
            "dining",
            "comp",
            "nobody",
        ]).prop_map(|to| Event::HandsTo(to.to_owned())),
        1 => Just(Event::Judged(Verdict::Pass)),
        4 => Just(retry()),
        1 => Just(Event::NotJudged { clean: true }),
    ]
}

proptest! {
    #[test] // AGENT-14, AGENT-67
    fn every_turn_ends_within_its_budget(events in prop::collection::vec(any_event(), 40)) {
        let manifest = manifest();
        let mut turn = Turn::new(&manifest, true);
        let mut ends = 0;
        for event in events {
            if let Action::End(_) = turn.next(event) {
                ends += 1;
                break;
            }
        }
        prop_assert_eq!(ends, 1);
        prop_assert!(
            turn.handoffs() <= manifest.limits.handoffs
                && turn.retries() <= manifest.limits.retries
        );
        prop_assert!(turn.path().len() <= manifest.limits.steps as usize + 1);
    }
}

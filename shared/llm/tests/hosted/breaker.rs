//! The breaker around a model, shared by several processes.

use std::{error::Error as _, sync::Arc, time::Duration};

use serde_json::json;
use seven_cache::{BreakerState, Transition};
use seven_llm::{
    chat::{ChatModel, ChatRequest, Error},
    guarded::{RetryPolicy, Settings},
};
use seven_testkit::models::{Format, Play};

use crate::house::{BOTH, House, ask, quick};

const COOLDOWN: Duration = Duration::from_millis(90);

fn without_retries() -> Settings {
    Settings {
        retry: RetryPolicy {
            retries: 0,
            ..RetryPolicy::default()
        },
        ..quick()
    }
}

#[tokio::test] // AGENT-62, AGENT-68, PROD-10, PROD-12
async fn five_exhausted_calls_open_it_for_the_whole_fleet() {
    let house = House::open("breaker-fleet").await;
    for format in BOTH {
        house.models.clear();
        house.models.otherwise(Play::status(503));
        let settings = Settings {
            breaker_cooldown_ms: 30_000,
            ..quick()
        };
        let ((one, heard), (other, _)) = (
            house.guarded(format, settings),
            house.guarded(format, settings),
        );
        let before = house.models.count();
        for model in [&one, &other, &one, &other] {
            assert!(matches!(
                model.chat(&ask("hello")).await,
                Err(Error::Unavailable { .. })
            ));
        }
        // The call that opens the breaker gets the same error as later calls, with the cause as its
        // source.
        let error = one.chat(&ask("hello")).await.unwrap_err();
        assert!(
            matches!(error, Error::Open { .. }) && error.source().is_some(),
            "{error:?}"
        );
        assert_eq!(
            house.models.count() - before,
            5 * 4,
            "a sequence of retries is one failure"
        );
        for model in [&one, &other] {
            let error = model.chat(&ask("hello")).await.unwrap_err();
            assert!(
                matches!(&error, Error::Open { source: None, .. }),
                "{error:?}"
            );
        }
        assert_eq!(house.models.count() - before, 5 * 4, "no call while open");
        assert_eq!(
            heard.moves.lock().unwrap().as_slice(),
            [Transition::Opened { failures: 5 }]
        );
        assert_eq!(heard.attempts.lock().unwrap().last(), Some(&0));
    }
}

#[tokio::test] // AGENT-69, C-13, C-17, AGENT-70
async fn of_a_crowd_one_probes_and_two_good_probes_close() {
    let house = House::open("breaker-probe").await;
    house.models.otherwise(Play::status(500));
    let (model, heard) = house.guarded(Format::Gemini, without_retries());
    for _ in 0..5 {
        model.chat(&ask("hello")).await.unwrap_err();
    }
    tokio::time::sleep(COOLDOWN).await;
    // The first probe must take longer than the requests of the whole crowd. When it succeeds, the
    // breaker allows a second probe.
    house
        .models
        .otherwise(Play::text("Back.").after(Duration::from_millis(700)));
    let before = house.models.count();
    let mut crowd = tokio::task::JoinSet::new();
    for _ in 0..3 {
        let process = Arc::new(house.guarded(Format::Gemini, without_retries()).0);
        assert_eq!(
            process.breaker().state().await,
            BreakerState::HalfOpen,
            "connected"
        );
        for _ in 0..4 {
            let process = Arc::clone(&process);
            crowd.spawn(async move { process.chat(&ask("hello")).await });
        }
    }
    let outcomes = crowd.join_all().await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    assert!(
        outcomes
            .iter()
            .filter_map(|o| o.as_ref().err())
            .all(|error| matches!(error, Error::Open { .. }))
    );
    assert_eq!(
        (house.models.count() - before, house.models.most_at_once()),
        (1, 1)
    );
    assert_eq!(model.breaker().state().await, BreakerState::HalfOpen);
    model.chat(&ask("hello")).await.unwrap();
    assert_eq!(model.breaker().state().await, BreakerState::Closed);
    let moves = heard.moves.lock().unwrap().clone();
    assert_eq!(
        moves,
        [Transition::Opened { failures: 5 }, Transition::Closed]
    );
}

#[tokio::test] // AGENT-69
async fn a_failed_probe_opens_it_again() {
    let house = House::open("breaker-again").await;
    house.models.otherwise(Play::status(500));
    let (model, heard) = house.guarded(Format::OpenAi, without_retries());
    for _ in 0..5 {
        model.chat(&ask("hello")).await.unwrap_err();
    }
    tokio::time::sleep(COOLDOWN).await;
    let error = model.chat(&ask("hello")).await.unwrap_err();
    assert!(
        matches!(
            error,
            Error::Open {
                source: Some(_),
                ..
            }
        ),
        "{error:?}"
    );
    let moves = heard.moves.lock().unwrap().clone();
    assert_eq!(
        moves,
        [
            Transition::Opened { failures: 5 },
            Transition::HalfOpened,
            Transition::Reopened
        ]
    );
}

#[tokio::test] // AGENT-62
async fn useless_answers_count_and_blocked_or_bad_requests_do_not() {
    let house = House::open("breaker-counts").await;
    let strict = ChatRequest {
        output_schema: Some(json!({ "type": "object" })),
        ..ask("hello")
    };
    let (model, heard) = house.guarded(Format::Gemini, without_retries());
    for play in [Play::blocked(), Play::status(400), Play::prompt_blocked()] {
        house.models.otherwise(play);
        for _ in 0..6 {
            model.chat(&strict).await.unwrap_err();
        }
    }
    assert_eq!(model.breaker().state().await, BreakerState::Closed);
    house.models.otherwise(Play::text("not JSON"));
    for _ in 0..5 {
        model.chat(&strict).await.unwrap_err();
    }
    assert_eq!(
        heard.moves.lock().unwrap().as_slice(),
        [Transition::Opened { failures: 5 }]
    );
}

#[tokio::test] // issue 4.2: a breaker for each (provider, model)
async fn one_providers_breaker_leaves_the_other_alone() {
    let house = House::open("breaker-names").await;
    house.models.when(
        |request| request.format == Format::Gemini,
        Play::status(503),
    );
    house.models.otherwise(Play::text("Here."));
    let (gemini, _) = house.guarded(Format::Gemini, without_retries());
    let (openai, _) = house.guarded(Format::OpenAi, without_retries());
    for _ in 0..6 {
        gemini.chat(&ask("hello")).await.unwrap_err();
    }
    assert_eq!(gemini.breaker().name(), "llm/gemini/gemini-2.5-flash");
    assert_eq!(openai.chat(&ask("hello")).await.unwrap().text, "Here.");
}

#[tokio::test] // PROD-4
async fn without_redis_calls_go_on_and_the_breaker_works_here() {
    let house = House::open("breaker-alone").await;
    house.redis.kill().unwrap();
    let (model, _) = house.guarded(Format::OpenAi, without_retries());
    house.models.then(Play::text("Here."));
    assert_eq!(model.chat(&ask("hello")).await.unwrap().text, "Here.");
    house.models.otherwise(Play::status(500));
    for _ in 0..5 {
        model.chat(&ask("hello")).await.unwrap_err();
    }
    let before = house.models.count();
    assert!(matches!(
        model.chat(&ask("hello")).await,
        Err(Error::Open { .. })
    ));
    assert_eq!(house.models.count(), before);
}

#[tokio::test]
async fn a_caller_that_goes_away_during_a_probe_blocks_nobody_for_long() {
    let house = House::open("breaker-gone").await;
    house.models.otherwise(Play::status(500));
    let (model, _) = house.guarded(Format::Gemini, without_retries());
    for _ in 0..5 {
        model.chat(&ask("hello")).await.unwrap_err();
    }
    tokio::time::sleep(COOLDOWN).await;
    house
        .models
        .otherwise(Play::text("late").after(Duration::from_secs(20)));
    let probe = tokio::time::timeout(Duration::from_millis(80), model.chat(&ask("hello"))).await;
    assert!(probe.is_err(), "the caller gave up");
    // The breaker reserves its only probe for the call's deadline plus a margin. Until then other
    // calls fail at once.
    let Err(Error::Open { retry_in, .. }) = model.chat(&ask("hello")).await else {
        panic!("open")
    };
    assert!(retry_in <= Duration::from_secs(1));
}

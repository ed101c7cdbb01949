//! The number of requests that the guard makes, and the errors after which it makes no retry.

use std::time::Duration;

use serde_json::json;
use seven_llm::{
    chat::{ChatModel, ChatRequest, Error},
    guarded::{NanoUsd, RetryPolicy, Settings},
};
use seven_testkit::models::{Format, Play};
use tokio::time::Instant;

use crate::house::{BOTH, House, ask, quick};

#[tokio::test] // PROD-13
async fn three_retries_and_no_more() {
    let house = House::open("retries-count").await;
    for format in BOTH {
        for play in [
            Play::status(429),
            Play::status(500),
            Play::status(503),
            Play::text("x").cut(),
        ] {
            let before = house.models.count();
            house.models.clear();
            house.models.otherwise(play);
            let (model, heard) = house.guarded(
                format,
                Settings {
                    breaker_failures: 100,
                    ..quick()
                },
            );
            let error = model.chat(&ask("hello")).await.unwrap_err();
            assert!(error.repeats_in_call(), "the last error is told: {error}");
            assert_eq!(house.models.count() - before, 4);
            assert_eq!(
                (
                    *heard.retries.lock().unwrap(),
                    heard.attempts.lock().unwrap().as_slice()
                ),
                (3, &[4][..])
            );
        }
    }
}

#[tokio::test] // PROD-13
async fn a_provider_that_comes_back_answers() {
    let house = House::open("retries-back").await;
    for format in BOTH {
        house.models.then(Play::status(503));
        house.models.then(Play::status(429));
        house.models.then(Play::text("Here."));
        let (model, heard) = house.guarded(format, quick());
        assert_eq!(model.chat(&ask("hello")).await.unwrap().text, "Here.");
        assert_eq!(*heard.retries.lock().unwrap(), 2);
    }
}

#[tokio::test] // PROD-14, AGENT-61
async fn what_must_not_be_repeated_is_asked_once() {
    let house = House::open("retries-never").await;
    let strict = ChatRequest {
        output_schema: Some(json!({ "type": "object" })),
        ..ask("hello")
    };
    for format in BOTH {
        for play in [
            Play::status(400),
            Play::status(401),
            Play::status(403),
            Play::blocked(),
            Play::prompt_blocked(),
            Play::text("not JSON"),
            Play::text("x").truncated(),
        ] {
            house.models.otherwise(Play::json(&json!({})));
            let (model, _) = house.guarded(
                format,
                Settings {
                    breaker_failures: 100,
                    ..quick()
                },
            );
            // Once the format is known, a call makes one request, even if the answer is unusable.
            model.chat(&strict).await.unwrap();
            let before = house.models.count();
            house.models.then(play);
            model.chat(&strict).await.unwrap_err();
            assert_eq!(house.models.count() - before, 1);
        }
    }
}

#[tokio::test] // PROD-13
async fn the_provider_is_given_the_time_it_asks_for() {
    let house = House::open("retries-after").await;
    for (format, busy) in [
        (Format::OpenAi, Play::status(429).retry_after("0.09")),
        (Format::Gemini, Play::gemini_rate_limit("0.09s")),
    ] {
        house.models.then(busy);
        house.models.then(Play::text("Here."));
        let (model, _) = house.guarded(format, quick());
        let started = Instant::now();
        model.chat(&ask("hello")).await.unwrap();
        assert!(started.elapsed() >= Duration::from_millis(90));
    }
}

#[tokio::test] // issue 4.2
async fn the_deadline_stands_over_everything() {
    let house = House::open("retries-deadline").await;
    let request = ChatRequest {
        deadline: Duration::from_millis(300),
        ..ask("hello")
    };
    // A wait that would exceed the deadline is not started.
    house.models.then(Play::status(429).retry_after("60"));
    let (model, _) = house.guarded(Format::OpenAi, quick());
    let started = Instant::now();
    assert!(matches!(
        model.chat(&request).await,
        Err(Error::RateLimited { .. })
    ));
    assert!(started.elapsed() < Duration::from_millis(250));
    // Neither a slow answer nor retries may exceed the deadline.
    house
        .models
        .then(Play::status(500).after(Duration::from_millis(150)));
    house
        .models
        .otherwise(Play::text("late").after(Duration::from_secs(20)));
    let started = Instant::now();
    assert!(matches!(
        model.chat(&request).await,
        Err(Error::Timeout { .. })
    ));
    assert!(
        started.elapsed() < Duration::from_millis(900),
        "{:?}",
        started.elapsed()
    );
}

#[tokio::test] // PROD-15
async fn one_call_may_not_use_up_the_whole_deadline() {
    let house = House::open("retries-slow").await;
    house
        .models
        .otherwise(Play::text("late").after(Duration::from_secs(20)));
    let (model, _) = house.guarded(
        Format::Gemini,
        Settings {
            call_timeout_ms: 60,
            ..quick()
        },
    );
    let started = Instant::now();
    assert!(matches!(
        model.chat(&ask("hello")).await,
        Err(Error::Timeout { .. })
    ));
    assert!(started.elapsed() < Duration::from_secs(2));
    assert_eq!(
        house.models.count(),
        1,
        "a call that was too slow is not repeated"
    );
}

#[tokio::test] // issue 4.2
async fn our_own_limit_delays_and_then_refuses() {
    let house = House::open("retries-limit").await;
    house.models.otherwise(Play::text("Here."));
    let limit = toml::from_str("per_minute = 1200\nburst = 1").unwrap();
    let (model, _) = house.guarded(Format::OpenAi, Settings { limit, ..quick() });
    let started = Instant::now();
    for _ in 0..3 {
        model.chat(&ask("hello")).await.unwrap();
    }
    assert!(
        started.elapsed() >= Duration::from_millis(90),
        "50 ms between two"
    );
    let hasty = ChatRequest {
        deadline: Duration::from_millis(20),
        ..ask("hello")
    };
    let before = house.models.count();
    let outcome = model.chat(&hasty).await;
    assert!(
        matches!(
            outcome,
            Err(Error::Throttled { .. } | Error::Timeout { .. })
        ),
        "{outcome:?}"
    );
    assert_eq!(house.models.count(), before);
}

#[tokio::test] // OBS-42
async fn every_billed_token_is_on_the_bill() {
    let house = House::open("retries-bill").await;
    for format in BOTH {
        let (model, heard) = house.guarded(format, quick());
        house.models.then(Play::status(503));
        house.models.then(Play::text("Here.").tokens(1_000, 100));
        let reply = model.chat(&ask("hello")).await.unwrap();
        // 1000 tokens at $0.30 and 100 tokens at $2.50, each per million.
        assert_eq!(reply.cost, NanoUsd(550_000));
        let strict = ChatRequest {
            output_schema: Some(json!({ "type": "object" })),
            ..ask("hello")
        };
        house.models.then(Play::text("not JSON").tokens(1_000, 100));
        model.chat(&strict).await.unwrap_err();
        assert_eq!(
            heard.costs.lock().unwrap().as_slice(),
            [NanoUsd(550_000); 2],
            "a useless answer costs the same"
        );
    }
    assert_eq!(RetryPolicy::default().retries, 3);
}

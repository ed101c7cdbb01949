//! Each fault that the test double simulates becomes one typed error. The error says whether asking
//! again may help.

use std::{error::Error as _, time::Duration};

use serde_json::json;
use seven_llm::chat::{ChatRequest, Defect, Error, Fault, Retry, ToolSpec};
use seven_testkit::models::{Format, Play};

use crate::house::{BOTH, House, ask};

/// Has the test double answer as `play` says, asks it through a model without a guard, and returns
/// the error.
async fn fails(house: &House, format: Format, play: Play, request: &ChatRequest) -> Error {
    house.models.then(play);
    house.bare(format).chat(request).await.unwrap_err()
}

fn strict() -> ChatRequest {
    let schema = json!({
        "type": "object",
        "properties": { "reply": { "type": "string" } },
        "required": ["reply"],
    });
    ChatRequest {
        output_schema: Some(schema),
        ..ask("hello")
    }
}

#[tokio::test] // PROD-13, PROD-14
async fn statuses_say_what_may_be_repeated() {
    let house = House::open("faults-status").await;
    for format in BOTH {
        for status in [429, 500, 502, 503, 504] {
            let error = fails(&house, format, Play::status(status), &ask("hello")).await;
            assert!(
                error.repeats_in_call() && error.retry() == Retry::Backoff,
                "{status}: {error}"
            );
            assert_eq!(error.fault(), Fault::Provider);
        }
        for status in [400, 401, 403, 404, 413, 422] {
            let error = fails(&house, format, Play::status(status), &ask("hello")).await;
            assert!(
                !error.repeats_in_call() && error.retry() == Retry::Never,
                "{status}: {error}"
            );
            let everybody = matches!(status, 401 | 403 | 404);
            assert_eq!(error.fault() == Fault::Provider, everybody, "{status}");
        }
        let error = fails(
            &house,
            format,
            Play::status(429).retry_after("7"),
            &ask("hello"),
        )
        .await;
        assert_eq!(error.retry(), Retry::After(Duration::from_secs(7)));
    }
    let error = fails(
        &house,
        Format::Gemini,
        Play::gemini_rate_limit("1.5s"),
        &ask("hello"),
    )
    .await;
    assert_eq!(error.retry(), Retry::After(Duration::from_millis(1_500)));
    let spent = json!({
        "error": { "code": "insufficient_quota", "type": "insufficient_quota", "message": "pay" },
    });
    let error = fails(
        &house,
        Format::OpenAi,
        Play::problem(429, spent),
        &ask("hello"),
    )
    .await;
    assert!(matches!(error, Error::QuotaSpent { .. }) && !error.repeats_in_call());
}

#[tokio::test] // PROD-14
async fn filters_are_never_repeated() {
    let house = House::open("faults-filter").await;
    for format in BOTH {
        for play in [Play::blocked(), Play::prompt_blocked()] {
            let error = fails(&house, format, play, &ask("hello")).await;
            assert!(matches!(error, Error::Blocked { .. }), "{format:?} {error}");
            assert_eq!(
                (error.retry(), error.fault()),
                (Retry::Never, Fault::Request)
            );
        }
    }
}

#[tokio::test] // PROD-15
async fn a_slow_answer_ends_at_the_deadline() {
    let house = House::open("faults-slow").await;
    for format in BOTH {
        let request = ChatRequest {
            deadline: Duration::from_millis(80),
            ..ask("hello")
        };
        let started = tokio::time::Instant::now();
        let error = fails(
            &house,
            format,
            Play::text("late").after(Duration::from_secs(20)),
            &request,
        )
        .await;
        assert!(matches!(error, Error::Timeout { .. }), "{error}");
        assert!(started.elapsed() < Duration::from_secs(2));
    }
}

#[tokio::test] // issue 4.2
async fn lost_connections_are_not_unreadable_answers() {
    let house = House::open("faults-cut").await;
    for format in BOTH {
        for play in [
            Play::text("hello").cut(),
            Play::text("a longer text than that").cut_body(),
        ] {
            let error = fails(&house, format, play, &ask("hello")).await;
            assert!(
                matches!(error, Error::Connection { .. }) && error.repeats_in_call(),
                "{error:?}"
            );
            assert!(error.source().is_some());
        }
    }
    let nobody = House::open("faults-nobody").await;
    let model = nobody.bare(Format::Gemini);
    drop(nobody.models);
    tokio::task::yield_now().await;
    let outcome = model.chat(&ask("hello")).await;
    assert!(
        matches!(
            outcome,
            Err(Error::Connection { .. } | Error::Timeout { .. })
        ),
        "{outcome:?}"
    );
}

#[tokio::test] // issue 4.2
async fn bad_answers_say_what_is_wrong_with_them() {
    let house = House::open("faults-answers").await;
    let parameters = json!({ "type": "object", "properties": { "q": { "type": "string" } } });
    let tools = vec![ToolSpec {
        name: "search".into(),
        description: "Search".into(),
        parameters,
    }];
    let offered = ChatRequest {
        tools,
        ..ask("hello")
    };
    for format in BOTH {
        let cases = [
            (
                Play::text("hello").truncated(),
                ask("hello"),
                Defect::Truncated,
            ),
            (Play::text("{\"reply\": \"Su"), strict(), Defect::Truncated),
            (
                Play::cut_text("{\"reply\": \"Su"),
                strict(),
                Defect::TokenLimit,
            ),
            (Play::text("Sure."), strict(), Defect::NotJson),
            (
                Play::json(&json!({ "reply": 1 })),
                strict(),
                Defect::Schema {
                    at: "$.reply".into(),
                    rule: "type",
                },
            ),
            (
                Play::json(&json!({})),
                strict(),
                Defect::Schema {
                    at: "$.reply".into(),
                    rule: "required",
                },
            ),
            (Play::text(""), ask("hello"), Defect::Empty),
            (
                Play::raw("<html>busy</html>"),
                ask("hello"),
                Defect::Unreadable("it is not JSON"),
            ),
        ];
        for (play, request, expected) in cases {
            match fails(&house, format, play, &request).await {
                Error::Answer { defect, .. } => assert_eq!(defect, expected, "{format:?}"),
                other => panic!("{format:?} {expected:?}: {other:?}"),
            }
        }
        let error = fails(
            &house,
            format,
            Play::raw_call("search", "{\"q\": GUEST-WORDS"),
            &offered,
        )
        .await;
        assert!(
            matches!(
                &error,
                Error::Answer {
                    defect: Defect::ToolArguments { .. },
                    ..
                }
            ),
            "{error:?}"
        );
        assert_eq!(
            (error.retry(), error.fault(), error.repeats_in_call()),
            (Retry::Backoff, Fault::Answer, false)
        );
        assert!(!format!("{error} {error:?}").contains("GUEST-WORDS"));
    }
}

#[tokio::test] // OBS: no guest text
async fn what_a_provider_quotes_is_not_repeated() {
    let house = House::open("faults-quotes").await;
    let body = json!({
        "error": {
            "message": "bad prompt: GUEST-WORDS",
            "status": "INVALID_ARGUMENT",
            "code": "x y",
        },
    });
    for format in BOTH {
        let error = fails(
            &house,
            format,
            Play::problem(400, body.clone()),
            &ask("GUEST-WORDS"),
        )
        .await;
        assert!(
            !format!("{error} {error:?}").contains("GUEST-WORDS"),
            "{error:?}"
        );
    }
}

//! Answers with a schema: the client finds a format that the server accepts, and uses it for later
//! calls.

use serde_json::json;
use seven_llm::chat::{ChatModel as _, ChatRequest, Defect, Error, Usage};
use seven_testkit::models::{Models, Play};

use crate::house::{House, ask};

fn route() -> ChatRequest {
    let schema = json!({
        "type": "object",
        "properties": { "subject": { "type": "string" } },
        "required": ["subject"],
    });
    ChatRequest {
        output_schema: Some(schema),
        ..ask("hello")
    }
}

/// Returns the form of each request so far.
fn forms(models: &Models) -> Vec<String> {
    let form = |body: &serde_json::Value| {
        let by_format = body
            .pointer("/response_format/type")
            .and_then(|form| form.as_str());
        let by_tool = body.get("tool_choice").map(|_| "tool");
        by_format.or(by_tool).unwrap_or("text").to_owned()
    };
    models
        .requests()
        .iter()
        .map(|request| form(&request.body))
        .collect()
}

#[tokio::test] // D11: llama.cpp refuses json_schema with 500, others with 400 or 422
async fn the_first_form_that_a_server_takes_is_kept() {
    let answer = Play::json(&json!({ "subject": "domain" }));
    let all = ["json_schema", "json_object", "tool", "text"];
    for (taken, status) in [(0, 500), (1, 500), (1, 422), (2, 400), (3, 500)] {
        let house = House::open("forms-taken").await;
        house.models.takes_only(&all[taken..=taken], status);
        let model = house.openai();
        assert_eq!(model.format(), None);
        for _ in 0..2 {
            let answer = if all[taken] == "tool" {
                Play::call("reply", json!({ "subject": "domain" }))
            } else {
                answer.clone()
            };
            house.models.then(answer);
            let reply = model.chat(&route()).await.unwrap();
            assert_eq!(reply.json(), Some(json!({ "subject": "domain" })));
            assert!(reply.tool_calls.is_empty());
        }
        let mut wanted: Vec<&str> = all[..=taken].to_vec();
        wanted.push(all[taken]);
        assert_eq!(forms(&house.models), wanted, "{status}");
        assert_eq!(model.format(), Some(all[taken]));
    }
}

#[tokio::test] // D11: a server that takes a form and does not keep to it
async fn an_ignored_form_is_left_for_one_that_works() {
    let house = House::open("forms-ignored").await;
    house
        .models
        .takes_only(&["json_schema", "json_object"], 400);
    let model = house.openai();
    house
        .models
        .then(Play::text("A guest says hello.").tokens(10, 5));
    house
        .models
        .then(Play::text("Here: {\"subject\": \"domain\"}").tokens(10, 5));
    let reply = model.chat(&route()).await.unwrap();
    assert_eq!(reply.json(), Some(json!({ "subject": "domain" })));
    let both = Usage {
        input_tokens: 20,
        output_tokens: 10,
    };
    assert_eq!(reply.usage, both, "the unreadable answer was paid for");
    assert_eq!(model.format(), Some("json_object"));

    // Once a format has worked, an unreadable answer is the model's fault, not the format's.
    house.models.then(Play::text("Hello to you."));
    let before = house.models.count();
    let error = model.chat(&route()).await.unwrap_err();
    assert!(
        matches!(
            error,
            Error::Answer {
                defect: Defect::NotJson,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(house.models.count(), before + 1);
}

#[tokio::test] // D11: a model that never keeps to a schema costs four calls once, then one
async fn a_hopeless_model_is_asked_once_per_call() {
    let house = House::open("forms-hopeless").await;
    house
        .models
        .otherwise(Play::text("Let me tell you about pools."));
    let model = house.openai();
    for calls in [4, 5, 6] {
        let error = model.chat(&route()).await.unwrap_err();
        assert!(matches!(error, Error::Answer { .. }), "{error}");
        assert_eq!(house.models.count(), calls);
    }
}

#[tokio::test] // PROD-13: a server that fails for another reason is not asked in four forms for ever
async fn an_outage_of_a_known_server_is_no_matter_of_form() {
    let house = House::open("forms-outage").await;
    let model = house.openai();
    house
        .models
        .then(Play::json(&json!({ "subject": "domain" })));
    model.chat(&route()).await.unwrap();
    house.models.otherwise(Play::status(500));
    let error = model.chat(&route()).await.unwrap_err();
    assert!(
        matches!(error, Error::Unavailable { status: 500, .. }),
        "{error}"
    );
    assert_eq!(house.models.count(), 2);
}

#[tokio::test] // SEC-37: reasoning models
async fn reasoning_reaches_nobody() {
    let house = House::open("forms-thoughts").await;
    let model = house.openai();
    house
        .models
        .then(Play::text("<think>They want the pool.</think>It is open."));
    assert_eq!(model.chat(&ask("pool?")).await.unwrap().text, "It is open.");
}

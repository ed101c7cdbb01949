//! Both wire formats carry a whole exchange, and neither prints keys or guests' words.

use serde_json::json;
use seven_llm::chat::{ChatRequest, Finish, Message, ToolResult, ToolSpec, Usage};
use seven_testkit::models::{Format, Play};

use crate::house::{BOTH, House, KEY, ask};

fn tools() -> Vec<ToolSpec> {
    let parameters = json!({
        "type": "object",
        "properties": { "query": { "type": "string" } },
        "required": ["query"],
    });
    vec![ToolSpec {
        name: "search_dining".into(),
        description: "Restaurants".into(),
        parameters,
    }]
}

#[tokio::test] // issue 4.2
async fn a_question_is_answered_over_two_tool_calls() {
    let house = House::open("wire-tools").await;
    for format in BOTH {
        let model = house.bare(format);
        let (steak, thai) = (json!({ "query": "steak" }), json!({ "query": "thai" }));
        house.models.then(
            Play::calls(&[("search_dining", steak), ("search_dining", thai)]).tokens(200, 40),
        );
        house
            .models
            .then(Play::text("Rye has steak, Lotus is Thai."));
        let mut request = ChatRequest {
            tools: tools(),
            ..ask("steak or thai?")
        };
        let reply = model.chat(&request).await.unwrap();
        assert_eq!(
            (reply.finish, reply.tool_calls.len()),
            (Finish::ToolCalls, 2)
        );
        assert_eq!(
            reply.usage,
            Usage {
                input_tokens: 200,
                output_tokens: 40
            },
            "{format:?}"
        );
        assert_eq!(reply.tool_calls[1].arguments, json!({ "query": "thai" }));
        let result = |n: usize, rows| ToolResult {
            call_id: reply.tool_calls[n].id.clone(),
            name: reply.tool_calls[n].name.clone(),
            content: json!({ "rows": [rows] }),
        };
        let results = vec![result(0, "Rye"), result(1, "Lotus")];
        request.messages.push(Message::AssistantCalls {
            text: reply.text.clone(),
            calls: reply.tool_calls.clone(),
        });
        request.messages.push(Message::ToolResults(results));
        let reply = model.chat(&request).await.unwrap();
        assert_eq!(
            (reply.finish, reply.text.as_str()),
            (Finish::Stop, "Rye has steak, Lotus is Thai.")
        );
        let last = house.models.requests().pop().unwrap();
        assert_eq!(last.tool_results.len(), 2);
        assert!(last.tool_results[1].contains("Lotus"));
    }
}

#[tokio::test] // issue 4.2
async fn a_schema_is_kept_with_and_without_tools() {
    let house = House::open("wire-schema").await;
    let schema = json!({
        "type": "object",
        "properties": { "status": { "type": "string", "enum": ["PASS", "RETRY", "FAIL"] } },
        "required": ["status"],
        "additionalProperties": false,
    });
    house
        .models
        .otherwise(Play::json(&json!({ "status": "PASS" })));
    let plain = ChatRequest {
        output_schema: Some(schema),
        ..ask("check")
    };
    let with_tools = ChatRequest {
        tools: tools(),
        ..plain.clone()
    };
    let three = house.gemini("gemini-3-flash");
    for model in [
        &*house.bare(Format::Gemini),
        &*house.bare(Format::OpenAi),
        &three,
    ] {
        for request in [&plain, &with_tools] {
            let reply = model.chat(request).await.unwrap();
            assert_eq!(reply.json(), Some(json!({ "status": "PASS" })));
        }
    }
}

#[tokio::test] // DEP: secrets; OBS: no guest text
async fn the_key_travels_in_a_header_and_nothing_prints_it_or_the_guest() {
    let house = House::open("wire-secrets").await;
    house.models.otherwise(Play::text("GUEST-WORDS back"));
    for format in BOTH {
        let model = house.bare(format);
        let request = ask("GUEST-WORDS");
        let reply = model.chat(&request).await.unwrap();
        let seen = house.models.requests().pop().unwrap();
        assert_eq!(seen.key.as_deref(), Some(KEY));
        assert!(!seen.path.contains("key"), "{}", seen.path);
        let (guarded, _) = house.guarded(format, crate::house::quick());
        let printed = format!("{request:?} {reply:?} {guarded:?}");
        assert!(
            !printed.contains("GUEST-WORDS") && !printed.contains(KEY),
            "{printed}"
        );
    }
    assert!(!format!("{:?}", house.gemini("gemini-2.5-flash")).contains(KEY));
}

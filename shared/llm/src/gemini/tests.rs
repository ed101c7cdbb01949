use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Dialect, read, write};
use crate::chat::{
    ChatRequest, Defect, Error, Finish, Message, ToolCall, ToolResult, ToolSpec, Usage,
};

fn request() -> ChatRequest {
    ChatRequest {
        system: "You are Seven.".into(),
        messages: vec![Message::User("steak?".into())],
        tools: vec![],
        output_schema: None,
        temperature: Some(0.5),
        max_output_tokens: Some(300),
        deadline: Duration::from_secs(1),
    }
}

fn search() -> ToolSpec {
    ToolSpec {
        name: "search_dining".into(),
        description: "Restaurants".into(),
        parameters: json!({ "type": "object", "properties": { "cuisine": { "type": "string" } } }),
    }
}

fn answer(parts: &Value, finish: &str) -> Vec<u8> {
    let usage = json!({
        "promptTokenCount": 10,
        "candidatesTokenCount": 3,
        "thoughtsTokenCount": 4,
        "totalTokenCount": 17,
    });
    json!({
        "candidates": [{ "content": { "role": "model", "parts": parts }, "finishReason": finish }],
        "usageMetadata": usage,
    })
    .to_string()
    .into_bytes()
}

fn read(request: &ChatRequest, body: &[u8]) -> Result<crate::chat::ChatReply, Error> {
    read::reply("gemini/test", request, body)
}

fn defect(request: &ChatRequest, body: &[u8]) -> Defect {
    match read(request, body) {
        Err(Error::Answer { defect, .. }) => defect,
        other => panic!("{other:?}"),
    }
}

#[test] // issue 4.2
fn a_plain_request_has_the_real_shape() {
    let body = write::body(
        &request(),
        Dialect {
            thinking_budget: Some(0),
            ..Dialect::default()
        },
    );
    let expected = json!({
        "systemInstruction": { "parts": [{ "text": "You are Seven." }] },
        "contents": [{ "role": "user", "parts": [{ "text": "steak?" }] }],
        "generationConfig": {
            "temperature": 0.5,
            "maxOutputTokens": 300,
            "thinkingConfig": { "thinkingBudget": 0 },
        },
    });
    assert_eq!(body, expected);
}

#[test] // issue 4.2
fn tool_calls_go_back_with_their_ids_and_signatures() {
    let call = |id: &str, signature: Option<&str>| ToolCall {
        id: id.into(),
        name: "search_dining".into(),
        arguments: json!({ "cuisine": "steak" }),
        signature: signature.map(str::to_owned),
    };
    let result = |id: &str, content| ToolResult {
        call_id: id.into(),
        name: "search_dining".into(),
        content,
    };
    let mut request = request();
    request.tools = vec![
        search(),
        ToolSpec {
            parameters: json!({ "type": "object" }),
            ..search()
        },
    ];
    let calls = vec![call("f1", Some("s1")), call(&ToolCall::own_id(1), None)];
    request.messages.push(Message::AssistantCalls {
        text: "Let me look.".into(),
        calls,
    });
    request.messages.push(Message::ToolResults(vec![
        result("f1", json!({ "rows": [] })),
        result(&ToolCall::own_id(1), json!("none")),
    ]));
    let body = write::body(&request, Dialect::default());
    let args = json!({ "cuisine": "steak" });
    assert_eq!(
        body["contents"][1],
        json!({ "role": "model", "parts": [
            { "text": "Let me look." },
            {
                "functionCall": { "id": "f1", "name": "search_dining", "args": args },
                "thoughtSignature": "s1",
            },
            { "functionCall": { "name": "search_dining", "args": args } },
        ]})
    );
    assert_eq!(
        body["contents"][2],
        json!({ "role": "user", "parts": [
            { "functionResponse": {
                "id": "f1",
                "name": "search_dining",
                "response": { "rows": [] },
            } },
            { "functionResponse": { "name": "search_dining", "response": { "result": "none" } } },
        ]})
    );
    let declarations = &body["tools"][0]["functionDeclarations"];
    assert_eq!(declarations[0]["parametersJsonSchema"], search().parameters);
    assert_eq!(
        declarations[1].get("parametersJsonSchema"),
        None,
        "an empty object schema is refused there"
    );
}

#[test] // issue 4.2
fn the_schema_is_sent_where_it_is_taken_and_in_words_where_tools_forbid_it() {
    let schema = json!({ "type": "object", "required": ["reply"] });
    let mut request = ChatRequest {
        output_schema: Some(schema.clone()),
        ..request()
    };
    let config = &write::body(&request, Dialect::default())["generationConfig"];
    assert_eq!(
        (&config["responseMimeType"], &config["responseJsonSchema"]),
        (&json!("application/json"), &schema)
    );
    request.tools = vec![search()];
    let body = write::body(&request, Dialect::default());
    assert_eq!(body["generationConfig"].get("responseMimeType"), None);
    assert!(
        body["systemInstruction"]["parts"][0]["text"]
            .as_str()
            .unwrap()
            .ends_with(&schema.to_string())
    );
    let body = write::body(
        &request,
        Dialect {
            schema_beside_tools: true,
            ..Dialect::default()
        },
    );
    assert_eq!(body["generationConfig"]["responseJsonSchema"], schema);
}

#[test] // issue 4.2
fn texts_thoughts_and_calls_are_told_apart() {
    let parts = json!([
        { "text": "hmm", "thought": true },
        { "text": "Try " },
        { "text": "Rye.", "thoughtSignature": "x" },
    ]);
    let reply = read(&request(), &answer(&parts, "STOP")).unwrap();
    assert_eq!(
        (reply.text.as_str(), reply.finish),
        ("Try Rye.", Finish::Stop)
    );
    assert_eq!(
        reply.usage,
        Usage {
            input_tokens: 10,
            output_tokens: 7
        },
        "thinking is billed"
    );

    let call = json!([
        {
            "functionCall": { "name": "search_dining", "args": { "cuisine": "thai" } },
            "thoughtSignature": "s",
        },
        { "functionCall": { "id": "f2", "name": "search_dining" } },
    ]);
    let reply = read(&request(), &answer(&call, "STOP")).unwrap();
    assert_eq!(reply.finish, Finish::ToolCalls);
    assert_eq!(reply.tool_calls[0].arguments, json!({ "cuisine": "thai" }));
    assert_eq!(reply.tool_calls[0].signature.as_deref(), Some("s"));
    assert!(ToolCall::is_own_id(&reply.tool_calls[0].id));
    assert_eq!(
        (
            reply.tool_calls[1].id.as_str(),
            &reply.tool_calls[1].arguments
        ),
        ("f2", &json!({}))
    );
}

#[test] // PROD-14
fn filters_are_errors_of_their_own() {
    for finish in [
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
    ] {
        let error = read(&request(), &answer(&json!([{ "text": "half" }]), finish)).unwrap_err();
        assert!(
            matches!(&error, Error::Blocked { reason, .. } if reason == finish),
            "{error:?}"
        );
        assert_eq!(error.usage().output_tokens, 7, "billed all the same");
    }
    let prompt = json!({ "promptFeedback": { "blockReason": "SAFETY" } }).to_string();
    assert!(matches!(
        read(&request(), prompt.as_bytes()),
        Err(Error::Blocked { .. })
    ));
}

#[test] // issue 4.2
fn unusable_answers_are_typed() {
    let schema = json!({
        "type": "object",
        "properties": { "reply": { "type": "string" } },
        "required": ["reply"],
    });
    let strict = ChatRequest {
        output_schema: Some(schema),
        ..request()
    };
    let text = |text: &str, finish| answer(&json!([{ "text": text }]), finish);
    assert_eq!(
        defect(&request(), b"{\"candidates\": [{\"con"),
        Defect::Truncated
    );
    assert_eq!(
        defect(&request(), b"<html>"),
        Defect::Unreadable("it is not JSON")
    );
    assert!(matches!(defect(&request(), b"{}"), Defect::Unreadable(_)));
    assert!(matches!(
        defect(&request(), b"{\"candidates\": 3}"),
        Defect::Unreadable(_)
    ));
    assert_eq!(defect(&request(), &text("  ", "STOP")), Defect::Empty);
    assert_eq!(
        defect(&request(), &answer(&json!([]), "MAX_TOKENS")),
        Defect::TokenLimit
    );
    assert!(matches!(
        defect(&request(), &text("x", "SOMETHING_NEW")),
        Defect::Unreadable(_)
    ));
    assert!(matches!(
        defect(&request(), &answer(&json!([]), "MALFORMED_FUNCTION_CALL")),
        Defect::ToolArguments { .. }
    ));
    assert_eq!(
        defect(&strict, &text("{\"reply\": \"Sure", "STOP")),
        Defect::Truncated
    );
    assert_eq!(
        defect(&strict, &text("{\"reply\": \"Sure", "MAX_TOKENS")),
        Defect::TokenLimit
    );
    assert_eq!(defect(&strict, &text("Sure!", "STOP")), Defect::NotJson);
    assert_eq!(
        defect(&strict, &text("{\"reply\": 3}", "STOP")),
        Defect::Schema {
            at: "$.reply".into(),
            rule: "type"
        }
    );
    assert_eq!(
        read(&request(), &text("half a se", "MAX_TOKENS"))
            .unwrap()
            .finish,
        Finish::Length
    );
    let offered = ChatRequest {
        tools: vec![search()],
        ..request()
    };
    let bad = |name: &str| {
        answer(
            &json!([{ "functionCall": { "name": name, "args": "steak" } }]),
            "STOP",
        )
    };
    assert_eq!(
        defect(&offered, &bad("search_dining")),
        Defect::ToolArguments {
            nth: 0,
            tool: Some("search_dining".into())
        }
    );
    assert_eq!(
        defect(&offered, &bad("my card is 4111")),
        Defect::ToolArguments { nth: 0, tool: None }
    );
}

#[test] // PROD-13
fn the_delay_of_a_429_is_read_from_its_body() {
    let details = json!([{
        "@type": "type.googleapis.com/google.rpc.RetryInfo",
        "retryDelay": "45.837906927s",
    }]);
    let problem =
        read::problem(&json!({ "error": { "status": "RESOURCE_EXHAUSTED", "details": details } }));
    assert_eq!(
        (problem.code.as_str(), problem.spent),
        ("RESOURCE_EXHAUSTED", false)
    );
    assert_eq!(problem.wait.map(|wait| wait.as_millis()), Some(45_837));
    let quota = json!([{ "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [{ "quotaId": "GenerateRequestsPerDayPerProjectPerModel" }] }]);
    assert!(
        read::problem(&json!({ "error": { "status": "RESOURCE_EXHAUSTED", "details": quota } }))
            .spent
    );
    let prompt = read::problem(&json!({ "error": { "status": "my card is 4111 1111!" } }));
    assert_eq!(prompt.code, "mycardis41111111");
    let key = json!([{
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "API_KEY_INVALID",
    }]);
    assert_eq!(
        read::problem(&json!([{ "error": { "details": key } }])).code,
        "API_KEY_INVALID"
    );
}

fn any_json() -> impl Strategy<Value = Value> {
    let names = prop::sample::select(vec![
        "candidates",
        "content",
        "parts",
        "text",
        "functionCall",
        "name",
        "args",
        "finishReason",
        "promptFeedback",
        "blockReason",
        "usageMetadata",
        "promptTokenCount",
        "error",
        "details",
        "@type",
        "retryDelay",
        "violations",
        "status",
    ]);
    let words = prop::sample::select(vec![
        "STOP",
        "MAX_TOKENS",
        "SAFETY",
        "-1s",
        "1e400s",
        "NaNs",
        "RetryInfo",
        "{",
        "ñ",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        words.prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(names.clone().prop_map(str::to_owned), inner, 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test] // issue 4.2
    fn reading_never_panics(
        body in any_json(),
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        cut in 0usize..400,
    ) {
        let schema = json!({ "type": "object", "required": ["a"] });
        for request in [
            request(),
            ChatRequest {
                output_schema: Some(schema),
                tools: vec![search()],
                ..request()
            },
        ] {
            drop(read(&request, body.to_string().as_bytes()));
            drop(read(&request, &bytes));
            let parts = json!([
                { "text": body.to_string() },
                { "functionCall": { "name": "x", "args": body } },
            ]);
            let whole = answer(&parts, "STOP");
            drop(read(&request, &whole[..cut.min(whole.len())]));
            drop(read(&request, &whole));
        }
        drop(read::problem(&body));
        drop(read::problem(&json!({ "error": body })));
    }
}

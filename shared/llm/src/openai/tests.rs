use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{TokenLimit, format::Format, read, write};
use crate::chat::{
    ChatReply, ChatRequest, Defect, Error, Finish, Message, ToolCall, ToolResult, ToolSpec, Usage,
};

fn request() -> ChatRequest {
    ChatRequest {
        system: "You are Seven.".into(),
        messages: vec![Message::User("steak?".into())],
        tools: vec![],
        output_schema: None,
        temperature: None,
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

fn answer(message: &Value, finish: &str) -> Vec<u8> {
    let usage = json!({ "prompt_tokens": 10, "completion_tokens": 7, "total_tokens": 17 });
    json!({
        "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
        "usage": usage,
    })
    .to_string()
    .into_bytes()
}

fn call(arguments: &Value) -> Value {
    let function = json!({ "name": "search_dining", "arguments": arguments });
    json!({
        "role": "assistant",
        "content": null,
        "tool_calls": [{ "id": "c1", "type": "function", "function": function }],
    })
}

fn read(request: &ChatRequest, body: &[u8]) -> Result<ChatReply, Error> {
    read::reply("openai/test", request, Format::JsonSchema, body)
}

fn defect(request: &ChatRequest, body: &[u8]) -> Defect {
    match read(request, body) {
        Err(Error::Answer { defect, .. }) => defect,
        other => panic!("{other:?}"),
    }
}

#[test] // issue 4.2
fn a_request_has_the_real_shape() {
    let mut request = request();
    request.tools = vec![search()];
    let arguments = json!({ "cuisine": "steak" });
    let calls = vec![ToolCall {
        id: "c1".into(),
        name: "search_dining".into(),
        arguments,
        signature: None,
    }];
    request.messages.push(Message::AssistantCalls {
        text: String::new(),
        calls,
    });
    let result = |content| ToolResult {
        call_id: "c1".into(),
        name: "search_dining".into(),
        content,
    };
    request.messages.push(Message::ToolResults(vec![
        result(json!({ "rows": [] })),
        result(json!("none")),
    ]));
    request
        .messages
        .push(Message::Assistant("None, sorry.".into()));
    let body = write::body(
        &request,
        "gpt-x",
        TokenLimit::MaxCompletionTokens,
        Format::JsonSchema,
    );
    let function = json!({ "name": "search_dining", "arguments": "{\"cuisine\":\"steak\"}" });
    let expected = json!({
        "model": "gpt-x",
        "messages": [
            { "role": "system", "content": "You are Seven." },
            { "role": "user", "content": "steak?" },
            {
                "role": "assistant",
                "content": null,
                "tool_calls": [{ "id": "c1", "type": "function", "function": function }],
            },
            { "role": "tool", "tool_call_id": "c1", "content": "{\"rows\":[]}" },
            { "role": "tool", "tool_call_id": "c1", "content": "none" },
            { "role": "assistant", "content": "None, sorry." },
        ],
        "tools": [{ "type": "function", "function": {
            "name": "search_dining", "description": "Restaurants",
            "parameters": search().parameters,
        }}],
        "max_completion_tokens": 300,
    });
    assert_eq!(body, expected);
    assert_eq!(
        write::body(&request, "local", TokenLimit::MaxTokens, Format::JsonSchema)["max_tokens"],
        json!(300)
    );
}

#[test] // issue 4.2
fn strict_schemas_are_asked_for_where_they_can_be_had() {
    let cases = [
        (
            json!({
                "type": "object",
                "properties": { "a": { "type": "string" } },
                "required": ["a"],
                "additionalProperties": false,
            }),
            true,
        ),
        (
            json!({
                "type": "object",
                "properties": { "a": { "type": "string" } },
                "required": [],
                "additionalProperties": false,
            }),
            false,
        ),
        (
            json!({
                "type": "object",
                "properties": { "a": { "type": "string" } },
                "required": ["a"],
            }),
            false,
        ),
        (json!({ "type": "object" }), false),
    ];
    for (schema, strict) in cases {
        let request = ChatRequest {
            output_schema: Some(schema.clone()),
            ..request()
        };
        let format = &write::body(&request, "m", TokenLimit::MaxTokens, Format::JsonSchema)["response_format"];
        let expected = json!({ "name": "reply", "schema": schema, "strict": strict });
        assert_eq!(
            format,
            &json!({ "type": "json_schema", "json_schema": expected })
        );
    }
}

#[test] // issue 4.2
fn texts_and_calls_are_read() {
    let reply = read(
        &request(),
        &answer(
            &json!({ "role": "assistant", "content": "Try Rye." }),
            "stop",
        ),
    )
    .unwrap();
    assert_eq!(
        (reply.text.as_str(), reply.finish),
        ("Try Rye.", Finish::Stop)
    );
    assert_eq!(
        reply.usage,
        Usage {
            input_tokens: 10,
            output_tokens: 7
        }
    );
    for (arguments, read_as) in [
        (
            json!("{\"cuisine\": \"thai\"}"),
            json!({ "cuisine": "thai" }),
        ),
        (json!({ "cuisine": "thai" }), json!({ "cuisine": "thai" })),
        (json!(""), json!({})),
        (Value::Null, json!({})),
    ] {
        let reply = read(&request(), &answer(&call(&arguments), "tool_calls")).unwrap();
        assert_eq!(
            (reply.finish, &reply.tool_calls[0].arguments),
            (Finish::ToolCalls, &read_as)
        );
    }
    let stopped = read(&request(), &answer(&call(&json!("{}")), "stop")).unwrap();
    assert_eq!(stopped.finish, Finish::ToolCalls, "some servers say stop");
}

#[test] // issue 4.2, PROD-14
fn unusable_answers_are_typed() {
    let said = |text: &str| json!({ "role": "assistant", "content": text });
    let schema = json!({ "type": "object", "required": ["reply"] });
    let strict = ChatRequest {
        output_schema: Some(schema),
        ..request()
    };
    let offered = ChatRequest {
        tools: vec![search()],
        ..request()
    };
    assert_eq!(defect(&request(), b"{\"choices\": ["), Defect::Truncated);
    assert!(matches!(
        defect(&request(), b"{\"choices\": []}"),
        Defect::Unreadable(_)
    ));
    assert_eq!(
        defect(&request(), &answer(&said(""), "stop")),
        Defect::Empty
    );
    assert_eq!(
        defect(&request(), &answer(&said(""), "length")),
        Defect::TokenLimit
    );
    assert_eq!(
        defect(&strict, &answer(&said("{}"), "stop")),
        Defect::Schema {
            at: "$.reply".into(),
            rule: "required"
        }
    );
    assert_eq!(
        defect(&strict, &answer(&said("{\"reply\":"), "stop")),
        Defect::Truncated
    );
    for arguments in ["{\"cuisine\": ", "steak", "[1]", "3"] {
        let expected = Defect::ToolArguments {
            nth: 0,
            tool: Some("search_dining".into()),
        };
        assert_eq!(
            defect(&offered, &answer(&call(&json!(arguments)), "tool_calls")),
            expected
        );
    }
    assert_eq!(
        defect(&offered, &answer(&call(&json!("{\"cui")), "length")),
        Defect::TokenLimit
    );
    let refusal = json!({ "role": "assistant", "content": null, "refusal": "I can't" });
    for body in [
        answer(&said("x"), "content_filter"),
        answer(&refusal, "stop"),
    ] {
        assert!(matches!(
            read(&request(), &body),
            Err(Error::Blocked { .. })
        ));
    }
}

#[test] // PROD-14
fn problems_keep_codes_only() {
    let problem = |code: &str| {
        read::problem(&json!({ "error": { "message": "guest said X", "type": "t", "code": code } }))
    };
    assert!(problem("insufficient_quota").spent);
    assert!(problem("content_policy_violation").blocked);
    assert_eq!(problem("invalid_api_key").code, "invalid_api_key");
    assert_eq!(
        read::problem(&json!({ "error": { "message": "guest said X", "type": "bad" } })).code,
        "bad"
    );
    assert_eq!(read::problem(&json!("x")).code, "unknown");
}

proptest! {
    #[test] // issue 4.2
    fn reading_never_panics(
        text in ".*",
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        cut in 0usize..400,
    ) {
        for request in [
            request(),
            ChatRequest {
                output_schema: Some(json!({ "type": "array" })),
                tools: vec![search()],
                ..request()
            },
        ] {
            drop(read(&request, &bytes));
            drop(read(&request, text.as_bytes()));
            for finish in ["stop", "length", "tool_calls", &text] {
                let whole = answer(&call(&json!(text)), finish);
                drop(read(&request, &whole));
                drop(read(&request, &whole[..cut.min(whole.len())]));
                drop(read(&request, &answer(&json!({ "content": text, "refusal": text }), finish)));
            }
        }
        drop(read::problem(&json!({ "error": { "code": text } })));
    }
}

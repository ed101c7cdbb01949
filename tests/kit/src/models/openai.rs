//! OpenAI's wire format: reads `chat/completions`, writes choices, and refuses what OpenAI refuses.

use serde_json::{Value, json};

use super::{
    answered::{Answered, strings},
    play::{Answer, Play},
    script::{Format, Received},
};

pub(super) fn read(path: &str, key: Option<String>, body: Value) -> Received {
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let text = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
    let results = messages
        .iter()
        .rev()
        .take_while(|message| message["role"] == "tool");
    let mut tool_results: Vec<_> = results.map(text).collect();
    tool_results.reverse();
    Received {
        format: Format::OpenAi,
        model: body["model"].as_str().unwrap_or_default().to_owned(),
        path: path.to_owned(),
        key,
        last_text: messages
            .iter()
            .rev()
            .find(|message| message["role"] == "user")
            .map(text)
            .unwrap_or_default(),
        tool_results,
        tools: strings(&body["tools"], "/function/name"),
        embedded: Vec::new(),
        body,
    }
}

/// Returns the form in which the request demands an answer that fits a JSON Schema; `None` if the
/// request does not demand this.
pub(super) fn form(request: &Received) -> Option<&'static str> {
    if request.body.get("tool_choice").is_some() {
        return Some("tool");
    }
    match request.body.pointer("/response_format/type")?.as_str() {
        Some("json_schema") => Some("json_schema"),
        Some("json_object") => Some("json_object"),
        _ => Some("unknown"),
    }
}

pub(super) fn objection(request: &Received) -> Option<String> {
    let body = &request.body;
    let messages = body["messages"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    if messages.is_empty() || request.model.is_empty() {
        return Some("you must provide a model and messages".into());
    }
    if body["max_tokens"].is_u64() && request.model.starts_with("gpt-5") {
        return Some(
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.".into(),
        );
    }
    if body
        .get("response_format")
        .is_some_and(|format| !is_format(format))
    {
        return Some("Invalid value for response_format".into());
    }
    let mut open: Vec<String> = Vec::new();
    for message in messages {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            match open.iter().position(|one| one == id) {
                Some(at) => drop(open.remove(at)),
                None => {
                    return Some(
                        "messages with role 'tool' must be a response to a preceding 'tool_calls'"
                            .into(),
                    );
                }
            }
            continue;
        }
        if !open.is_empty() {
            return Some(
                "an assistant message with 'tool_calls' must be followed by tool messages".into(),
            );
        }
        open = strings(&message["tool_calls"], "/id");
    }
    (!open.is_empty())
        .then(|| "an assistant message with 'tool_calls' must be followed by tool messages".into())
}

fn is_format(format: &Value) -> bool {
    format["type"] == "json_schema"
        && format["json_schema"]["name"].is_string()
        && format["json_schema"]["schema"].is_object()
}

pub(super) fn answer(request: &Received, nth: usize, play: &Play) -> Answered {
    let said = |text: &str| json!({ "role": "assistant", "content": text });
    let calls =
        |calls: Vec<Value>| json!({ "role": "assistant", "content": null, "tool_calls": calls });
    let (message, finish) = match &play.answer {
        Answer::Text(text) => (said(text), "stop"),
        Answer::Cut(text) => (said(text), "length"),
        Answer::EchoToolResults => (said(&request.tool_results.join("\n")), "stop"),
        Answer::Calls(all) => {
            let all = all
                .iter()
                .enumerate()
                .map(|(n, (name, arguments))| call(nth, n, name, &arguments.to_string()));
            (calls(all.collect()), "tool_calls")
        }
        Answer::RawCall(name, raw) => (calls(vec![call(nth, 0, name, raw)]), "tool_calls"),
        Answer::Blocked => (said(""), "content_filter"),
        Answer::PromptBlocked => {
            let error = json!({
                "message": "scripted",
                "type": "invalid_request_error",
                "code": "content_policy_violation",
            });
            return (400, json!({ "error": error }).to_string());
        }
        Answer::Status(status, Some(body)) => return (*status, body.to_string()),
        Answer::Status(status, None) => return (*status, problem(*status, "scripted").to_string()),
        Answer::Raw(body) => return (200, body.clone()),
        Answer::Vectors(_) => return (400, problem(400, "this call embeds nothing").to_string()),
    };
    let (input, output) = play.tokens;
    let body = json!({
        "id": format!("chatcmpl-{nth}"),
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": request.model,
        "choices": [{ "index": 0, "message": message, "logprobs": null, "finish_reason": finish }],
        "usage": {
            "prompt_tokens": input,
            "completion_tokens": output,
            "total_tokens": input + output,
        },
    });
    (200, body.to_string())
}

fn call(nth: usize, n: usize, name: &str, arguments: &str) -> Value {
    json!({
        "id": format!("call_{nth}_{n}"),
        "type": "function",
        "function": { "name": name, "arguments": arguments },
    })
}

/// Returns the body of the answer with which llama-cpp-python refuses an unknown form. The status
/// of that answer is 500.
pub(super) fn refused_form() -> Value {
    let message = "1 validation error:\n  {'type': 'literal_error', 'loc': ('body', \
                   'response_format', 'type'), 'msg': \"Input should be 'text' or 'json_object'\"}";
    let kind = "internal_server_error";
    json!({ "error": { "message": message, "type": kind, "param": null, "code": null } })
}

pub(super) fn problem(code: u16, message: &str) -> Value {
    let (kind, reason) = match code {
        401 => ("invalid_request_error", "invalid_api_key"),
        429 => ("requests", "rate_limit_exceeded"),
        500..=599 => ("server_error", "server_error"),
        _ => ("invalid_request_error", "invalid_request"),
    };
    json!({ "error": { "message": message, "type": kind, "param": null, "code": reason } })
}

//! Gemini's wire format: reads `generateContent`, writes candidates, and refuses what Gemini
//! refuses.

use serde_json::{Value, json};

use super::{
    answered::{Answered, strings},
    play::{Answer, Play},
    script::{Format, Received},
};

const KNOWN_FIELDS: &[&str] = &[
    "contents",
    "systemInstruction",
    "tools",
    "toolConfig",
    "safetySettings",
    "generationConfig",
    "cachedContent",
    "labels",
];

pub(super) fn read(model: &str, path: &str, key: Option<String>, body: Value) -> Received {
    let contents = body["contents"].as_array().cloned().unwrap_or_default();
    let last_text = contents
        .iter()
        .rev()
        .filter(|content| content["role"] == "user")
        .map(|content| strings(&content["parts"], "/text").concat())
        .find(|text| !text.is_empty());
    let parts = contents
        .last()
        .and_then(|content| content["parts"].as_array().cloned())
        .unwrap_or_default();
    let responses = parts
        .iter()
        .filter_map(|part| part.pointer("/functionResponse/response"));
    Received {
        format: Format::Gemini,
        model: model.to_owned(),
        path: path.to_owned(),
        key,
        last_text: last_text.unwrap_or_default(),
        tool_results: responses
            .map(|response| {
                response["result"]
                    .as_str()
                    .map_or_else(|| response.to_string(), str::to_owned)
            })
            .collect(),
        tools: strings(
            body.pointer("/tools/0/functionDeclarations")
                .unwrap_or(&Value::Null),
            "/name",
        ),
        embedded: Vec::new(),
        body,
    }
}

pub(super) fn objection(request: &Received) -> Option<String> {
    let body = &request.body;
    if request.key.as_deref().unwrap_or_default().is_empty() {
        return Some("Method doesn't allow unregistered callers".into());
    }
    if let Some(unknown) = body
        .as_object()?
        .keys()
        .find(|name| !KNOWN_FIELDS.contains(&name.as_str()))
    {
        return Some(format!(
            "Invalid JSON payload received. Unknown name \"{unknown}\""
        ));
    }
    let contents = body["contents"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    if contents.is_empty() {
        return Some("contents is not specified".into());
    }
    if contents
        .iter()
        .any(|content| content["role"] != "user" && content["role"] != "model")
    {
        return Some("Please use a valid role: user, model.".into());
    }
    let json =
        body.pointer("/generationConfig/responseMimeType") == Some(&json!("application/json"));
    if json && !request.tools.is_empty() && !request.model.starts_with("gemini-3") {
        return Some(
            "Function calling with a response mime type: 'application/json' is unsupported".into(),
        );
    }
    let parts = || {
        contents
            .iter()
            .flat_map(|content| content["parts"].as_array().into_iter().flatten())
    };
    let (calls, responses) = (of(parts(), "functionCall"), of(parts(), "functionResponse"));
    if calls
        .iter()
        .any(|call| call["thoughtSignature"].as_str().is_none())
    {
        return Some("Function call is missing a thought_signature in functionCall parts.".into());
    }
    (calls.len() != responses.len()).then(|| {
        "the number of function response parts must equal the number of function call parts".into()
    })
}

fn of<'a>(parts: impl Iterator<Item = &'a Value>, kind: &str) -> Vec<&'a Value> {
    parts.filter(|part| part.get(kind).is_some()).collect()
}

pub(super) fn answer(request: &Received, nth: usize, play: &Play) -> Answered {
    let (parts, finish) = match &play.answer {
        Answer::Text(text) => (json!([{ "text": text }]), "STOP"),
        Answer::Cut(text) => (json!([{ "text": text }]), "MAX_TOKENS"),
        Answer::EchoToolResults => (json!([{ "text": request.tool_results.join("\n") }]), "STOP"),
        Answer::Calls(calls) => (
            calls
                .iter()
                .enumerate()
                .map(|(n, (name, arguments))| call(nth, n, name, arguments))
                .collect(),
            "STOP",
        ),
        Answer::RawCall(..) => (Value::Null, "MALFORMED_FUNCTION_CALL"),
        Answer::Blocked => (Value::Null, "SAFETY"),
        Answer::PromptBlocked => {
            let body = json!({
                "promptFeedback": { "blockReason": "PROHIBITED_CONTENT" },
                "usageMetadata": usage(play),
            });
            return (200, body.to_string());
        }
        Answer::Status(status, Some(body)) => return (*status, body.to_string()),
        Answer::Status(status, None) => return (*status, problem(*status, "scripted").to_string()),
        Answer::Raw(body) => return (200, body.clone()),
        Answer::Vectors(_) => return (400, problem(400, "this call embeds nothing").to_string()),
    };
    let content = if parts.is_null() {
        json!({})
    } else {
        json!({ "role": "model", "parts": parts })
    };
    let candidate = json!({ "content": content, "finishReason": finish, "index": 0 });
    let body = json!({
        "candidates": [candidate],
        "usageMetadata": usage(play),
        "modelVersion": request.model,
        "responseId": format!("response-{nth}"),
    });
    (200, body.to_string())
}

fn call(nth: usize, n: usize, name: &str, arguments: &Value) -> Value {
    let function = json!({ "name": name, "args": arguments });
    json!({ "functionCall": function, "thoughtSignature": format!("signature-{nth}-{n}") })
}

fn usage(play: &Play) -> Value {
    let (input, output) = play.tokens;
    // Counts a quarter of the output as thinking, so that a test notices a client that forgets to
    // add the thinking tokens.
    let thoughts = output / 4;
    json!({
        "promptTokenCount": input,
        "candidatesTokenCount": output - thoughts,
        "thoughtsTokenCount": thoughts,
        "totalTokenCount": input + output,
    })
}

pub(super) fn problem(code: u16, message: &str) -> Value {
    let status = match code {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        _ => "INTERNAL",
    };
    json!({ "error": { "code": code, "message": message, "status": status } })
}

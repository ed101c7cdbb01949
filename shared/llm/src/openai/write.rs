//! Writes the body of a request to `chat/completions`.

use serde_json::{Map, Value, json};

use super::{TokenLimit, format::Format};
use crate::chat::{ChatRequest, Message, ToolCall};

pub(super) fn body(
    request: &ChatRequest,
    model: &str,
    token_limit: TokenLimit,
    format: Format,
) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), json!(model));
    let system = (!request.system.is_empty())
        .then(|| json!({ "role": "system", "content": request.system }));
    body.insert(
        "messages".into(),
        system
            .into_iter()
            .chain(request.messages.iter().flat_map(messages))
            .collect(),
    );
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            let function = json!({
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            });
            json!({ "type": "function", "function": function })
        });
        body.insert("tools".into(), tools.collect());
    }
    if let Some(schema) = &request.output_schema {
        format.ask(&mut body, schema);
    }
    if let Some(temperature) = request.temperature {
        body.insert("temperature".into(), json!(temperature));
    }
    if let Some(most) = request.max_output_tokens {
        let name = match token_limit {
            TokenLimit::MaxCompletionTokens => "max_completion_tokens",
            TokenLimit::MaxTokens => "max_tokens",
        };
        body.insert(name.into(), json!(most));
    }
    Value::Object(body)
}

/// Converts one entry of the conversation; each tool result becomes a separate message.
fn messages(message: &Message) -> Vec<Value> {
    match message {
        Message::User(text) => vec![json!({ "role": "user", "content": text })],
        Message::Assistant(text) => vec![json!({ "role": "assistant", "content": text })],
        Message::AssistantCalls { text, calls } => {
            let content = if text.is_empty() {
                Value::Null
            } else {
                json!(text)
            };
            let calls: Vec<_> = calls.iter().map(call).collect();
            vec![json!({ "role": "assistant", "content": content, "tool_calls": calls })]
        }
        Message::ToolResults(results) => results
            .iter()
            .map(|result| {
                let content = result
                    .content
                    .as_str()
                    .map_or_else(|| result.content.to_string(), str::to_owned);
                json!({ "role": "tool", "tool_call_id": result.call_id, "content": content })
            })
            .collect(),
    }
}

fn call(call: &ToolCall) -> Value {
    let function = json!({ "name": call.name, "arguments": call.arguments.to_string() });
    json!({ "id": call.id, "type": "function", "function": function })
}

/// Returns whether this schema may be sent in strict mode. In strict mode, the provider refuses
/// optional and additional properties with HTTP 400.
pub(super) fn is_strict(schema: &Value, depth: usize) -> bool {
    const DEEPEST: usize = 16;
    if depth > DEEPEST {
        return false;
    }
    let closed = match schema.get("properties").and_then(Value::as_object) {
        Some(known) => {
            let required = schema["required"]
                .as_array()
                .map(Vec::as_slice)
                .unwrap_or_default();
            schema["additionalProperties"] == json!(false)
                && known
                    .keys()
                    .all(|name| required.iter().any(|one| one == name.as_str()))
        }
        None => schema["type"] != "object",
    };
    closed
        && match schema {
            Value::Object(fields) => fields
                .iter()
                .filter(|(word, _)| *word != "enum")
                .all(|(_, s)| is_strict(s, depth + 1)),
            Value::Array(items) => items.iter().all(|item| is_strict(item, depth + 1)),
            _ => true,
        }
}

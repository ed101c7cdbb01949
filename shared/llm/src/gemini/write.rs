//! Writes the body of a request to `generateContent`.

use serde_json::{Map, Value, json};

use super::Dialect;
use crate::chat::{ChatRequest, Message, ToolCall, ToolResult, ToolSpec};

pub(super) fn body(request: &ChatRequest, dialect: Dialect) -> Value {
    let in_words = request.output_schema.is_some()
        && !request.tools.is_empty()
        && !dialect.schema_beside_tools;
    let mut body = Map::new();
    body.insert(
        "contents".into(),
        request.messages.iter().map(content).collect(),
    );
    let mut system = request.system.clone();
    if in_words && let Some(schema) = &request.output_schema {
        system.push_str(
            "\n\nOnce you need no more tools, answer with one JSON object and nothing else. Its JSON Schema:\n",
        );
        system.push_str(&schema.to_string());
    }
    if !system.is_empty() {
        body.insert(
            "systemInstruction".into(),
            json!({ "parts": [{ "text": system }] }),
        );
    }
    if !request.tools.is_empty() {
        let functions: Vec<_> = request.tools.iter().map(declaration).collect();
        body.insert(
            "tools".into(),
            json!([{ "functionDeclarations": functions }]),
        );
    }
    let config = generation(request, dialect, in_words);
    if !config.is_empty() {
        body.insert("generationConfig".into(), Value::Object(config));
    }
    Value::Object(body)
}

fn generation(
    request: &ChatRequest,
    dialect: Dialect,
    schema_in_words: bool,
) -> Map<String, Value> {
    let mut config = Map::new();
    if let Some(temperature) = request.temperature {
        config.insert("temperature".into(), json!(temperature));
    }
    if let Some(most) = request.max_output_tokens {
        config.insert("maxOutputTokens".into(), json!(most));
    }
    if let (Some(schema), false) = (&request.output_schema, schema_in_words) {
        config.insert("responseMimeType".into(), json!("application/json"));
        config.insert("responseJsonSchema".into(), schema.clone());
    }
    if let Some(budget) = dialect.thinking_budget {
        config.insert("thinkingConfig".into(), json!({ "thinkingBudget": budget }));
    }
    config
}

fn declaration(tool: &ToolSpec) -> Value {
    let mut declaration = json!({ "name": tool.name, "description": tool.description });
    // Gemini refuses an object schema without properties, so a tool without parameters is declared
    // without a schema.
    if tool
        .parameters
        .get("properties")
        .and_then(Value::as_object)
        .is_some_and(|known| !known.is_empty())
    {
        declaration["parametersJsonSchema"] = tool.parameters.clone();
    }
    declaration
}

fn content(message: &Message) -> Value {
    match message {
        Message::User(text) => json!({ "role": "user", "parts": [{ "text": text }] }),
        Message::Assistant(text) => json!({ "role": "model", "parts": [{ "text": text }] }),
        Message::AssistantCalls { text, calls } => {
            let text = (!text.is_empty()).then(|| json!({ "text": text }));
            json!({
                "role": "model",
                "parts": text.into_iter().chain(calls.iter().map(call)).collect::<Vec<_>>(),
            })
        }
        Message::ToolResults(results) => {
            json!({ "role": "user", "parts": results.iter().map(result).collect::<Vec<_>>() })
        }
    }
}

fn call(call: &ToolCall) -> Value {
    let mut function = json!({ "name": call.name, "args": call.arguments });
    if !ToolCall::is_own_id(&call.id) {
        function["id"] = json!(call.id);
    }
    let mut part = json!({ "functionCall": function });
    if let Some(signature) = &call.signature {
        part["thoughtSignature"] = json!(signature);
    }
    part
}

fn result(result: &ToolResult) -> Value {
    // Gemini accepts only an object here, so any other value is wrapped in one.
    let response = if result.content.is_object() {
        result.content.clone()
    } else {
        json!({ "result": result.content })
    };
    let mut function = json!({ "name": result.name, "response": response });
    if !ToolCall::is_own_id(&result.call_id) {
        function["id"] = json!(result.call_id);
    }
    json!({ "functionResponse": function })
}

//! Reads the body of an answer of `chat/completions`. Unknown fields are ignored; a null field
//! counts as absent.

use serde::Deserialize;
use serde_json::Value;

use super::format::Format;
use crate::{
    chat::{
        ChatReply, ChatRequest, Defect, Draft, Error, ToolCall, ToolSpec, Usage, without_thoughts,
    },
    http::{Problem, arguments, bad_arguments, parse, safe_code},
};

#[derive(Deserialize)]
struct Answer {
    choices: Option<Vec<Choice>>,
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Choice {
    message: Option<Reply>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Reply {
    content: Option<String>,
    /// Set instead of the content when the model declines.
    refusal: Option<String>,
    tool_calls: Option<Vec<Call>>,
}

#[derive(Deserialize)]
struct Call {
    id: Option<String>,
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    /// A string that contains JSON; some local servers send the JSON object itself.
    #[serde(default)]
    arguments: Value,
}

/// `completion_tokens` already includes the tokens spent on reasoning.
#[derive(Deserialize)]
struct Tokens {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

pub(super) fn reply(
    model: &str,
    request: &ChatRequest,
    format: Format,
    body: &[u8],
) -> Result<ChatReply, Error> {
    let answer: Answer = parse(model, body)?;
    let usage = answer.usage.map(Usage::from).unwrap_or_default();
    let blocked = |reason: &str| Error::Blocked {
        model: model.to_owned(),
        reason: reason.to_owned(),
        usage,
    };
    let fail = |defect| Error::Answer {
        model: model.to_owned(),
        defect,
        usage,
    };
    let choice = answer.choices.into_iter().flatten().next();
    let choice = choice.ok_or_else(|| fail(Defect::Unreadable("there is no choice")))?;
    let message = choice
        .message
        .ok_or_else(|| fail(Defect::Unreadable("there is no message")))?;
    let cut = match choice.finish_reason.as_deref() {
        Some("stop" | "tool_calls" | "function_call") => false,
        Some("length") => true,
        Some("content_filter") => return Err(blocked("content_filter")),
        Some(_) => return Err(fail(Defect::Unreadable("it stopped for an unknown reason"))),
        None => return Err(fail(Defect::Unreadable("it did not finish"))),
    };
    if message.refusal.is_some_and(|refusal| !refusal.is_empty()) {
        return Err(blocked("refusal"));
    }
    let mut text = without_thoughts(&message.content.unwrap_or_default()).to_owned();
    // If the token limit cut the answer, unreadable arguments are reported as `Defect::TokenLimit`.
    let mut tool_calls = match collect(&request.tools, message.tool_calls.unwrap_or_default()) {
        Err(_) if cut => return Err(fail(Defect::TokenLimit)),
        calls => calls.map_err(fail)?,
    };
    if request.output_schema.is_some()
        && format == Format::Tool
        && let Some(call) = tool_calls.pop()
    {
        tool_calls.clear();
        text = call.arguments.to_string();
    }
    Draft {
        text,
        tool_calls,
        usage,
        cut,
    }
    .finish(model, request)
}

fn collect(offered: &[ToolSpec], calls: Vec<Call>) -> Result<Vec<ToolCall>, Defect> {
    let read = |(nth, call): (usize, Call)| {
        let Function {
            name,
            arguments: raw,
        } = call.function;
        let value = match raw {
            Value::String(text) if text.trim().is_empty() => Value::Null,
            Value::String(text) => {
                serde_json::from_str(&text).map_err(|_| bad_arguments(nth, &name, offered))?
            }
            other => other,
        };
        let arguments = arguments(nth, &name, offered, value)?;
        let id = call
            .id
            .filter(|id| !id.is_empty())
            .unwrap_or_else(|| ToolCall::own_id(nth));
        Ok(ToolCall {
            id,
            name,
            arguments,
            signature: None,
        })
    };
    calls.into_iter().enumerate().map(read).collect()
}

impl From<Tokens> for Usage {
    fn from(tokens: Tokens) -> Self {
        Self {
            input_tokens: tokens.prompt_tokens.unwrap_or_default(),
            output_tokens: tokens.completion_tokens.unwrap_or_default(),
        }
    }
}

/// Reads `{"error": {"message", "type", "param", "code"}}`, except the message, which may quote the
/// prompt.
pub(crate) fn problem(body: &Value) -> Problem {
    let error = &body["error"];
    let code = error["code"]
        .as_str()
        .or(error["type"].as_str())
        .unwrap_or("unknown");
    Problem {
        code: safe_code(code),
        wait: None,
        spent: code == "insufficient_quota",
        blocked: matches!(code, "content_filter" | "content_policy_violation"),
    }
}

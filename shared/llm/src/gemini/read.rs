//! Reads the body of an answer of `generateContent`. Unknown fields are ignored; a null field
//! counts as absent.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::{
    chat::{ChatReply, ChatRequest, Defect, Draft, Error, ToolCall, Usage},
    http::{Problem, arguments, parse, safe_code},
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    candidates: Option<Vec<Candidate>>,
    prompt_feedback: Option<PromptFeedback>,
    usage_metadata: Option<UsageMetadata>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    content: Option<Content>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Content {
    parts: Option<Vec<Part>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    text: Option<String>,
    /// True if this part summarises the model's thinking and is not part of the answer.
    thought: Option<bool>,
    thought_signature: Option<String>,
    function_call: Option<FunctionCall>,
}

#[derive(Deserialize)]
struct FunctionCall {
    id: Option<String>,
    name: String,
    #[serde(default)]
    args: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PromptFeedback {
    block_reason: Option<String>,
}

/// Thinking tokens are billed as output tokens, but Gemini counts them in a separate field.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UsageMetadata {
    prompt_token_count: Option<u64>,
    tool_use_prompt_token_count: Option<u64>,
    candidates_token_count: Option<u64>,
    thoughts_token_count: Option<u64>,
}

pub(super) fn reply(model: &str, request: &ChatRequest, body: &[u8]) -> Result<ChatReply, Error> {
    let answer: Answer = parse(model, body)?;
    let usage = answer.usage_metadata.map(Usage::from).unwrap_or_default();
    let blocked = |reason: &str| Error::Blocked {
        model: model.to_owned(),
        reason: safe_code(reason),
        usage,
    };
    let fail = |defect| Error::Answer {
        model: model.to_owned(),
        defect,
        usage,
    };
    if let Some(reason) = answer
        .prompt_feedback
        .and_then(|feedback| feedback.block_reason)
    {
        return Err(blocked(&reason));
    }
    let candidate = answer.candidates.into_iter().flatten().next();
    let candidate = candidate.ok_or_else(|| fail(Defect::Unreadable("there is no candidate")))?;
    let cut = match candidate.finish_reason.as_deref() {
        Some("STOP") => false,
        Some("MAX_TOKENS") => true,
        Some("MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS") => {
            return Err(fail(Defect::ToolArguments { nth: 0, tool: None }));
        }
        Some(reason) if is_block(reason) => return Err(blocked(reason)),
        Some(_) => return Err(fail(Defect::Unreadable("it stopped for an unknown reason"))),
        None => return Err(fail(Defect::Unreadable("it did not finish"))),
    };
    let parts = candidate
        .content
        .and_then(|content| content.parts)
        .unwrap_or_default();
    let (text, tool_calls) = collect(request, parts).map_err(fail)?;
    Draft {
        text,
        tool_calls,
        usage,
        cut,
    }
    .finish(model, request)
}

fn is_block(reason: &str) -> bool {
    matches!(
        reason,
        "SAFETY"
            | "RECITATION"
            | "LANGUAGE"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "IMAGE_SAFETY"
    )
}

fn collect(request: &ChatRequest, parts: Vec<Part>) -> Result<(String, Vec<ToolCall>), Defect> {
    let (mut text, mut calls) = (String::new(), Vec::new());
    for part in parts {
        if part.thought == Some(true) {
            continue;
        }
        text.push_str(part.text.as_deref().unwrap_or_default());
        if let Some(call) = part.function_call {
            let nth = calls.len();
            let arguments = arguments(nth, &call.name, &request.tools, call.args)?;
            let id = call
                .id
                .filter(|id| !id.is_empty())
                .unwrap_or_else(|| ToolCall::own_id(nth));
            calls.push(ToolCall {
                id,
                name: call.name,
                arguments,
                signature: part.thought_signature,
            });
        }
    }
    Ok((text, calls))
}

impl From<UsageMetadata> for Usage {
    fn from(counts: UsageMetadata) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| {
            a.unwrap_or_default().saturating_add(b.unwrap_or_default())
        };
        Self {
            input_tokens: sum(
                counts.prompt_token_count,
                counts.tool_use_prompt_token_count,
            ),
            output_tokens: sum(counts.candidates_token_count, counts.thoughts_token_count),
        }
    }
}

/// Reads `{"error": {"code", "status", "details": [{"@type", ...}]}}`. After a 429, `details`
/// contains the time to wait; no header does.
pub(crate) fn problem(body: &Value) -> Problem {
    // Some gateways wrap the object in a list.
    let error = body
        .get(0)
        .unwrap_or(body)
        .get("error")
        .unwrap_or(&Value::Null);
    let details = error["details"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let of_type = |end: &str| {
        details
            .iter()
            .find(|d| d["@type"].as_str().is_some_and(|kind| kind.ends_with(end)))
    };
    let reason = of_type("ErrorInfo").and_then(|info| info["reason"].as_str());
    let wait = of_type("RetryInfo").and_then(|info| seconds(info["retryDelay"].as_str()?));
    let quotas = of_type("QuotaFailure").and_then(|failure| failure["violations"].as_array());
    let daily = |quota: &Value| {
        quota["quotaId"]
            .as_str()
            .is_some_and(|id| id.contains("PerDay"))
    };
    Problem {
        code: safe_code(reason.or(error["status"].as_str()).unwrap_or("unknown")),
        wait,
        spent: quotas.is_some_and(|quotas| quotas.iter().any(daily)),
        blocked: false,
    }
}

/// Parses a duration such as "45.837906927s".
fn seconds(duration: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(duration.strip_suffix('s')?.parse().ok()?).ok()
}

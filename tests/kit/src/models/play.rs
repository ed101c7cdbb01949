//! Scripted answers of the models' double.

use std::time::Duration;

use serde_json::{Value, json};

/// One scripted answer, with its fault, delay, token counts and headers.
#[derive(Debug, Clone)]
pub struct Play {
    pub(super) answer: Answer,
    pub(super) fault: Fault,
    pub(super) delay: Duration,
    pub(super) tokens: (u64, u64),
    pub(super) headers: Vec<(&'static str, String)>,
}

#[derive(Debug, Clone)]
pub(super) enum Answer {
    Text(String),
    /// A text that the token limit cut off.
    Cut(String),
    Calls(Vec<(String, Value)>),
    /// A tool call with this name and these raw arguments, which may be invalid JSON.
    RawCall(String, String),
    /// Answers with the text of the newest tool results, like a model that obeys instructions in
    /// them.
    EchoToolResults,
    /// The content filter stopped the answer.
    Blocked,
    /// The content filter stopped the prompt.
    PromptBlocked,
    Status(u16, Option<Value>),
    /// Any body, with status 200.
    Raw(String),
    /// Answers with one vector for each text to embed; the function computes it.
    Vectors(fn(&str) -> Vec<f32>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    /// The connection ends before the first byte of the answer.
    CutConnection,
    /// The connection ends in the middle of the body.
    CutBody,
    /// The body's JSON ends too early; the HTTP answer is complete.
    TruncatedJson,
}

impl Play {
    /// Answers with a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(Answer::Text(text.into()))
    }

    /// Answers with this JSON as a text, like a model whose answer must fit a JSON Schema. The JSON
    /// may violate the schema.
    #[must_use]
    pub fn json(value: &Value) -> Self {
        Self::text(value.to_string())
    }

    /// Answers with a text that the token limit cut off.
    pub fn cut_text(text: impl Into<String>) -> Self {
        Self::of(Answer::Cut(text.into()))
    }

    /// Answers with one tool call.
    pub fn call(name: impl Into<String>, arguments: Value) -> Self {
        Self::of(Answer::Calls(vec![(name.into(), arguments)]))
    }

    /// Answers with several tool calls at once.
    #[must_use]
    pub fn calls(calls: &[(&str, Value)]) -> Self {
        Self::of(Answer::Calls(
            calls
                .iter()
                .map(|(name, arguments)| ((*name).to_owned(), arguments.clone()))
                .collect(),
        ))
    }

    /// Answers with a tool call whose arguments are invalid JSON. In Gemini's format the call is
    /// left out and reported as malformed.
    pub fn raw_call(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self::of(Answer::RawCall(name.into(), arguments.into()))
    }

    /// Answers with the newest tool results, like a model that obeys an injected instruction.
    #[must_use]
    pub fn echo_tool_results() -> Self {
        Self::of(Answer::EchoToolResults)
    }

    /// Reports that the provider's content filter stopped the answer.
    #[must_use]
    pub fn blocked() -> Self {
        Self::of(Answer::Blocked)
    }

    /// Reports that the provider's content filter stopped the prompt.
    #[must_use]
    pub fn prompt_blocked() -> Self {
        Self::of(Answer::PromptBlocked)
    }

    /// Answers with this error status and the body that the provider sends with it.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self::of(Answer::Status(status, None))
    }

    /// Answers with this error status and this body.
    #[must_use]
    pub fn problem(status: u16, body: Value) -> Self {
        Self::of(Answer::Status(status, Some(body)))
    }

    /// Answers 429 as Gemini does, with the delay before a retry in the body, such as `0.05s`.
    #[must_use]
    pub fn gemini_rate_limit(delay: &str) -> Self {
        let info =
            json!({ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay });
        let error = json!({
            "code": 429,
            "status": "RESOURCE_EXHAUSTED",
            "message": "quota",
            "details": [info],
        });
        Self::problem(429, json!({ "error": error }))
    }

    /// Answers 200 with any body.
    pub fn raw(body: impl Into<String>) -> Self {
        Self::of(Answer::Raw(body.into()))
    }

    /// Answers with one vector for each text to embed; `vector` computes it from the text.
    #[must_use]
    pub fn vectors(vector: fn(&str) -> Vec<f32>) -> Self {
        Self::of(Answer::Vectors(vector))
    }

    /// Delays the answer.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Reports these counts of input and output tokens.
    #[must_use]
    pub fn tokens(mut self, input: u64, output: u64) -> Self {
        self.tokens = (input, output);
        self
    }

    /// Adds a `retry-after` header.
    pub fn retry_after(mut self, value: impl Into<String>) -> Self {
        self.headers.push(("retry-after", value.into()));
        self
    }

    /// Ends the connection instead of answering.
    #[must_use]
    pub fn cut(mut self) -> Self {
        self.fault = Fault::CutConnection;
        self
    }

    /// Ends the connection in the middle of the body.
    #[must_use]
    pub fn cut_body(mut self) -> Self {
        self.fault = Fault::CutBody;
        self
    }

    /// Sends a complete HTTP answer whose JSON ends too early.
    #[must_use]
    pub fn truncated(mut self) -> Self {
        self.fault = Fault::TruncatedJson;
        self
    }

    fn of(answer: Answer) -> Self {
        Self {
            answer,
            fault: Fault::None,
            delay: Duration::ZERO,
            tokens: (100, 20),
            headers: Vec::new(),
        }
    }
}

//! Answers that the double gives to requests.

use std::time::Duration;

use serde_json::{Value, json};

/// One scripted answer, with what goes wrong about it.
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
    /// The token limit cut the text.
    Cut(String),
    Calls(Vec<(String, Value)>),
    /// A call whose arguments are this very text.
    RawCall(String, String),
    /// The model obeys its tools: it says what the newest tool results say.
    EchoToolResults,
    /// The content filter stopped the answer.
    Blocked,
    /// The content filter stopped the prompt.
    PromptBlocked,
    Status(u16, Option<Value>),
    /// Any 200 body.
    Raw(String),
    /// The vectors of the texts asked for.
    Vectors(fn(&str) -> Vec<f32>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    /// The connection ends before a byte of the answer.
    CutConnection,
    /// The connection ends in the middle of the body.
    CutBody,
    /// The body's JSON ends too early; the HTTP answer is complete.
    TruncatedJson,
}

impl Play {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(Answer::Text(text.into()))
    }

    /// A text that is this JSON, as a model that was given a schema answers; violate the schema at will.
    #[must_use]
    pub fn json(value: &Value) -> Self {
        Self::text(value.to_string())
    }

    /// A text that the token limit cut.
    pub fn cut_text(text: impl Into<String>) -> Self {
        Self::of(Answer::Cut(text.into()))
    }

    /// One tool call.
    pub fn call(name: impl Into<String>, arguments: Value) -> Self {
        Self::of(Answer::Calls(vec![(name.into(), arguments)]))
    }

    /// Several tool calls at once.
    #[must_use]
    pub fn calls(calls: &[(&str, Value)]) -> Self {
        Self::of(Answer::Calls(calls.iter().map(|(name, arguments)| ((*name).to_owned(), arguments.clone())).collect()))
    }

    /// A tool call whose arguments are no JSON. Gemini reports such calls as malformed and drops them.
    pub fn raw_call(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self::of(Answer::RawCall(name.into(), arguments.into()))
    }

    /// Says what the newest tool results say: a model that fell for an injected instruction.
    #[must_use]
    pub fn echo_tool_results() -> Self {
        Self::of(Answer::EchoToolResults)
    }

    /// The provider's filter stops the answer.
    #[must_use]
    pub fn blocked() -> Self {
        Self::of(Answer::Blocked)
    }

    /// The provider's filter stops the prompt.
    #[must_use]
    pub fn prompt_blocked() -> Self {
        Self::of(Answer::PromptBlocked)
    }

    /// An error with the body that the provider sends with it.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self::of(Answer::Status(status, None))
    }

    /// An error with this body.
    #[must_use]
    pub fn problem(status: u16, body: Value) -> Self {
        Self::of(Answer::Status(status, Some(body)))
    }

    /// Gemini's 429, whose delay is in the body: "0.05s".
    #[must_use]
    pub fn gemini_rate_limit(delay: &str) -> Self {
        let info = json!({ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay });
        let error = json!({ "code": 429, "status": "RESOURCE_EXHAUSTED", "message": "quota", "details": [info] });
        Self::problem(429, json!({ "error": error }))
    }

    /// A 200 with any body.
    pub fn raw(body: impl Into<String>) -> Self {
        Self::of(Answer::Raw(body.into()))
    }

    /// One vector for each text that is to be embedded, worked out from it.
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

    /// Counts these input and output tokens.
    #[must_use]
    pub fn tokens(mut self, input: u64, output: u64) -> Self {
        self.tokens = (input, output);
        self
    }

    /// The header of that name.
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

    /// Sends a complete answer whose JSON is not.
    #[must_use]
    pub fn truncated(mut self) -> Self {
        self.fault = Fault::TruncatedJson;
        self
    }

    fn of(answer: Answer) -> Self {
        Self { answer, fault: Fault::None, delay: Duration::ZERO, tokens: (100, 20), headers: Vec::new() }
    }
}

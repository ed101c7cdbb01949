//! One exchange with a hosted model, independent of any provider's wire format: request, reply,
//! errors.
//!
//! [`ChatModel`] is implemented by `Gemini`, `OpenAi`, and `Guarded`, which wraps either. `Debug`
//! prints sizes and errors print positions, so that no text of guests or models reaches a log.

mod debug;
mod error;
mod lenient;
pub mod schema;

use std::{future::Future, pin::Pin, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::error::{Defect, Error, Fault};
pub(crate) use self::lenient::without_thoughts;
use crate::guarded::NanoUsd;
pub use crate::{Retry, ToolSpec, Usage};

/// A boxed future, so that models can be kept as `Arc<dyn ChatModel>`.
pub type Chatting<'a> = Pin<Box<dyn Future<Output = Result<ChatReply, Error>> + Send + 'a>>;

/// A hosted model.
pub trait ChatModel: Send + Sync {
    /// Returns provider and model, such as "gemini/gemini-2.5-flash". Telemetry and the name of the
    /// circuit breaker use it.
    fn name(&self) -> &str;

    /// Makes one call, which ends by the request's deadline. Dropping the future cancels the call.
    fn chat<'a>(&'a self, request: &'a ChatRequest) -> Chatting<'a>;

    /// Returns the form in which the server is asked for answers that fit a schema; `None` until a
    /// call has found one that works.
    fn format(&self) -> Option<&'static str> {
        None
    }

    /// Returns the cost of these tokens. Callers need it for failed calls, which are billed but
    /// have no reply that states the cost.
    fn cost(&self, _usage: Usage) -> NanoUsd {
        NanoUsd::default()
    }
}

/// A request to a model.
#[derive(Clone)]
pub struct ChatRequest {
    /// The system instructions; may be empty.
    pub system: String,
    /// The conversation, oldest first; the last entry is the one to answer.
    pub messages: Vec<Message>,
    /// Tools the model may call.
    pub tools: Vec<ToolSpec>,
    /// A JSON Schema for the final text; a reply that violates it is an error.
    pub output_schema: Option<Value>,
    /// `None` uses the provider's default; some models accept no other temperature.
    pub temperature: Option<f32>,
    pub max_output_tokens: Option<u32>,
    /// Time limit for the whole request: waiting for the rate limiter, retries and the answer.
    pub deadline: Duration,
}

/// One entry of the conversation.
#[derive(Clone, PartialEq)]
pub enum Message {
    User(String),
    Assistant(String),
    /// The model's request for tools, possibly with text; sent back to the model unchanged.
    AssistantCalls {
        text: String,
        calls: Vec<ToolCall>,
    },
    /// The results of all calls in the previous entry.
    ToolResults(Vec<ToolResult>),
}

/// A model's request to run one tool.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id of the call; if the provider gave none, an id made by
    /// [`ToolCall::own_id`].
    pub id: String,
    pub name: String,
    /// Always a JSON object; not yet checked against the tool's schema.
    pub arguments: Value,
    /// Opaque state of the provider, which must be sent back with the call.
    pub signature: Option<String>,
}

/// The result of one tool call.
#[derive(Clone, PartialEq)]
pub struct ToolResult {
    pub call_id: String,
    pub name: String,
    pub content: Value,
}

/// A model's reply. A turn stores each reply, because it was paid for, and uses the stored reply if
/// the turn is retried (D4).
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct ChatReply {
    /// The final text; JSON that fits the schema if the request had one. It may be empty if there
    /// are tool calls.
    pub text: String,
    pub tool_calls: Vec<ToolCall>,
    pub usage: Usage,
    pub finish: Finish,
    /// The cost of the call; zero until [`crate::guarded::Guarded`] sets it.
    pub cost: NanoUsd,
}

/// Why the model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    Stop,
    /// The model waits for the results of its tool calls.
    ToolCalls,
    /// The token limit cut the text. With a schema this is an error instead, because cut JSON is
    /// useless.
    Length,
}

const OWN_ID: &str = "own-";

impl ToolCall {
    /// Makes an id for a tool call to which the provider gave none. `nth` is the position of the
    /// call in the reply, counted from 0.
    pub fn own_id(nth: usize) -> String {
        format!("{OWN_ID}{nth}")
    }

    /// Returns true for an id that [`ToolCall::own_id`] made, which the provider does not know.
    pub fn is_own_id(id: &str) -> bool {
        id.starts_with(OWN_ID)
    }
}

impl ChatReply {
    /// Parses the text as JSON; `None` if it is not JSON. The final text is JSON if the request had
    /// a schema.
    pub fn json(&self) -> Option<Value> {
        serde_json::from_str(&self.text).ok()
    }
}

/// A reply parsed from a provider's wire format, before [`Draft::finish`] checks it.
pub(crate) struct Draft {
    pub(crate) text: String,
    pub(crate) tool_calls: Vec<ToolCall>,
    pub(crate) usage: Usage,
    /// True if the token limit cut the answer.
    pub(crate) cut: bool,
}

impl Draft {
    /// Checks the reply against the request: it must not be empty, and a final text must fit the
    /// schema.
    pub(crate) fn finish(mut self, model: &str, request: &ChatRequest) -> Result<ChatReply, Error> {
        let fail = |defect| {
            Err(Error::Answer {
                model: model.to_owned(),
                defect,
                usage: self.usage,
            })
        };
        let finish = match (self.tool_calls.is_empty(), self.cut) {
            (false, false) => Finish::ToolCalls,
            // The token limit may have cut off arguments of the last tool call.
            (false, true) => return fail(Defect::TokenLimit),
            (true, true) => Finish::Length,
            (true, false) => Finish::Stop,
        };
        if finish == Finish::Length && (self.text.is_empty() || request.output_schema.is_some()) {
            return fail(Defect::TokenLimit);
        }
        if finish == Finish::Stop && self.text.trim().is_empty() {
            return fail(Defect::Empty);
        }
        if let (Finish::Stop, Some(schema)) = (finish, &request.output_schema) {
            match schema::read(schema, &self.text) {
                Ok(value) => self.text = value.to_string(),
                Err(defect) => return fail(defect),
            }
        }
        let Self {
            text,
            tool_calls,
            usage,
            cut: _,
        } = self;
        Ok(ChatReply {
            text,
            tool_calls,
            usage,
            finish,
            cost: NanoUsd::default(),
        })
    }
}

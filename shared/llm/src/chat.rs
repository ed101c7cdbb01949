//! One exchange with a hosted model, in no provider's words: what is asked, what comes back, what can go wrong.
//!
//! [`ChatModel`] is implemented by [`crate::gemini::Gemini`], [`crate::openai::OpenAi`] and, around either,
//! [`crate::guarded::Guarded`]. Nothing here prints what guests or models wrote: `Debug` gives sizes, errors give places.

mod debug;
mod error;
pub mod schema;

use std::{future::Future, pin::Pin, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::error::{Defect, Error, Fault};
use crate::guarded::NanoUsd;
pub use crate::{Retry, ToolSpec, Usage};

/// A boxed future, so that models can be kept as `Arc<dyn ChatModel>`.
pub type Chatting<'a> = Pin<Box<dyn Future<Output = Result<ChatReply, Error>> + Send + 'a>>;

/// A hosted model.
pub trait ChatModel: Send + Sync {
    /// Provider and model, for telemetry and as the breaker's name: "gemini/gemini-2.5-flash".
    fn name(&self) -> &str;

    /// One call. Ends by the request's deadline; dropping the future ends the call.
    fn chat<'a>(&'a self, request: &'a ChatRequest) -> Chatting<'a>;

    /// Returns the cost of these tokens: a failed call is billed too, but no reply states its cost.
    fn cost(&self, _usage: Usage) -> NanoUsd {
        NanoUsd::default()
    }
}

/// A request to a model.
#[derive(Clone)]
pub struct ChatRequest {
    /// Instructions; may be empty.
    pub system: String,
    /// The conversation, oldest first, ending with what has to be answered.
    pub messages: Vec<Message>,
    /// Tools the model may call.
    pub tools: Vec<ToolSpec>,
    /// A JSON Schema for the final text; replies that violate it are errors.
    pub output_schema: Option<Value>,
    /// None leaves it to the provider, which some models demand.
    pub temperature: Option<f32>,
    pub max_output_tokens: Option<u32>,
    /// For everything: waiting for a place, retries, and the answer.
    pub deadline: Duration,
}

/// One entry of the conversation.
#[derive(Clone, PartialEq)]
pub enum Message {
    User(String),
    Assistant(String),
    /// The model asked for tools, perhaps with some text; given back exactly as it came.
    AssistantCalls {
        text: String,
        calls: Vec<ToolCall>,
    },
    /// The results of all calls of the entry before.
    ToolResults(Vec<ToolResult>),
}

/// The model wants a tool.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's, or ours (see [`ToolCall::own_id`]) when it gave none.
    pub id: String,
    pub name: String,
    /// Always a JSON object; not yet checked against the tool's schema.
    pub arguments: Value,
    /// The provider's own state, opaque; it must come back with the call.
    pub signature: Option<String>,
}

/// The answer of a tool.
#[derive(Clone, PartialEq)]
pub struct ToolResult {
    pub call_id: String,
    pub name: String,
    pub content: Value,
}

/// The answer of a model; written as JSON where a turn keeps what it paid for (D4).
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct ChatReply {
    /// The final text; JSON that fits when a schema was asked for. May be empty beside tool calls.
    pub text: String,
    pub tool_calls: Vec<ToolCall>,
    pub usage: Usage,
    pub finish: Finish,
    /// The cost of the call; zero until [`crate::guarded::Guarded`] has priced it.
    pub cost: NanoUsd,
}

/// Why the model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    Stop,
    /// It waits for the results of its tool calls.
    ToolCalls,
    /// The token limit cut the text; only without a schema, where a cut text may still be of use.
    Length,
}

const OWN_ID: &str = "own-";

impl ToolCall {
    /// An id for the `nth` call of a reply whose provider gave none.
    pub fn own_id(nth: usize) -> String {
        format!("{OWN_ID}{nth}")
    }

    /// True for ids the provider does not know.
    pub fn is_own_id(id: &str) -> bool {
        id.starts_with(OWN_ID)
    }
}

impl ChatReply {
    /// The text as JSON, for replies with a schema.
    pub fn json(&self) -> Option<Value> {
        serde_json::from_str(&self.text).ok()
    }
}

/// The content either wire format has read from a body, before it is judged.
pub(crate) struct Draft {
    pub(crate) text: String,
    pub(crate) tool_calls: Vec<ToolCall>,
    pub(crate) usage: Usage,
    /// The token limit was reached.
    pub(crate) cut: bool,
}

impl Draft {
    /// Judges by the request: something must have come, and a final text must fit its schema.
    pub(crate) fn finish(self, model: &str, request: &ChatRequest) -> Result<ChatReply, Error> {
        let fail = |defect| Err(Error::Answer { model: model.to_owned(), defect, usage: self.usage });
        let finish = match (self.tool_calls.is_empty(), self.cut) {
            (false, false) => Finish::ToolCalls,
            // The last call may lack half of its arguments.
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
        if let (Finish::Stop, Some(schema)) = (finish, &request.output_schema)
            && let Err(defect) = schema::check(schema, &self.text)
        {
            return fail(defect);
        }
        let Self { text, tool_calls, usage, cut: _ } = self;
        Ok(ChatReply { text, tool_calls, usage, finish, cost: NanoUsd::default() })
    }
}

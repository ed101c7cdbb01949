//! `Debug` implementations that print no content, so that `{:?}` cannot write texts of guests,
//! models or tools to a log.

use std::fmt::{Debug, Formatter, Result};

use super::{ChatReply, ChatRequest, Message, ToolCall, ToolResult};

impl Debug for ChatRequest {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("ChatRequest")
            .field("system_bytes", &self.system.len())
            .field("messages", &self.messages)
            .field(
                "tools",
                &self.tools.iter().map(|tool| &tool.name).collect::<Vec<_>>(),
            )
            .field("output_schema", &self.output_schema.is_some())
            .field("temperature", &self.temperature)
            .field("max_output_tokens", &self.max_output_tokens)
            .field("deadline", &self.deadline)
            .finish()
    }
}

impl Debug for Message {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::User(text) => write!(f, "User({} bytes)", text.len()),
            Self::Assistant(text) => write!(f, "Assistant({} bytes)", text.len()),
            Self::AssistantCalls { text, calls } => {
                write!(
                    f,
                    "AssistantCalls({} bytes, {} calls)",
                    text.len(),
                    calls.len()
                )
            }
            Self::ToolResults(results) => write!(f, "ToolResults({})", results.len()),
        }
    }
}

impl Debug for ToolCall {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        // The model chooses the name, so it may contain a guest's words.
        f.debug_struct("ToolCall")
            .field("name_bytes", &self.name.len())
            .finish_non_exhaustive()
    }
}

impl Debug for ToolResult {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("ToolResult")
            .field("name_bytes", &self.name.len())
            .finish_non_exhaustive()
    }
}

impl Debug for ChatReply {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("ChatReply")
            .field("text_bytes", &self.text.len())
            .field("tool_calls", &self.tool_calls.len())
            .field("usage", &self.usage)
            .field("finish", &self.finish)
            .field("cost", &self.cost)
            .finish()
    }
}

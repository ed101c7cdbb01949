//! The ways in which servers of `chat/completions` accept a schema for the answer. Each server
//! accepts only some of them; the first that works is remembered for its model.

use std::sync::atomic::{AtomicU8, Ordering};

use serde_json::{Map, Value, json};

use super::write::is_strict;
use crate::chat::{Defect, Error};

/// The name of the answer's schema, and of the function in [`Format::Tool`].
pub(super) const NAME: &str = "reply";

/// A way to ask for an answer that fits a schema, in the order of preference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// `response_format` of the type `json_schema`: OpenAI, vLLM, newer Ollama.
    JsonSchema,
    /// `response_format` of the type `json_object` with a `schema`: llama.cpp.
    JsonObject,
    /// A function that the model must call, with the schema as its parameters.
    Tool,
    /// The schema in the instructions; the answer's text is searched for JSON.
    Text,
}

/// The format that works for a model's server, once a call has found it.
#[derive(Debug, Default)]
pub(super) struct Settled {
    /// The format's number, counted from 1; 0 until a format has worked.
    found: AtomicU8,
    /// How many formats, counted from the first, the server refused before it accepted one.
    refused: AtomicU8,
}

// === impl Format ===

impl Format {
    const ALL: [Self; 4] = [Self::JsonSchema, Self::JsonObject, Self::Tool, Self::Text];

    fn place(self) -> u8 {
        match self {
            Self::JsonSchema => 0,
            Self::JsonObject => 1,
            Self::Tool => 2,
            Self::Text => 3,
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::JsonSchema => "json_schema",
            Self::JsonObject => "json_object",
            Self::Tool => "tool",
            Self::Text => "text",
        }
    }

    /// Adds the schema to a request's body.
    pub(super) fn ask(self, body: &mut Map<String, Value>, schema: &Value) {
        match self {
            Self::JsonSchema => {
                let strict = is_strict(schema, 0);
                let schema = json!({ "name": NAME, "schema": schema, "strict": strict });
                let format = json!({ "type": "json_schema", "json_schema": schema });
                body.insert("response_format".into(), format);
            }
            Self::JsonObject => {
                let format = json!({ "type": "json_object", "schema": schema });
                body.insert("response_format".into(), format);
            }
            Self::Tool => {
                let function = json!({
                    "name": NAME,
                    "description": "Gives the answer.",
                    "parameters": schema,
                });
                let tool = json!({ "type": "function", "function": function });
                body.insert("tools".into(), json!([tool]));
                let choice = json!({ "type": "function", "function": { "name": NAME } });
                body.insert("tool_choice".into(), choice);
            }
            Self::Text => {
                let order = format!(
                    "Answer with one JSON object that fits this JSON Schema, and with nothing else:\n\
                     {schema}"
                );
                // Some chat templates allow only one system message, so the schema is appended to
                // it.
                match body.get_mut("messages").and_then(Value::as_array_mut) {
                    Some(messages)
                        if messages.first().is_some_and(|one| one["role"] == "system") =>
                    {
                        let system = messages[0]["content"].as_str().unwrap_or_default();
                        messages[0]["content"] = json!(format!("{system}\n\n{order}"));
                    }
                    Some(messages) => {
                        messages.insert(0, json!({ "role": "system", "content": order }));
                    }
                    None => {}
                }
            }
        }
    }

    /// Returns whether the format may have caused this error; another format may then help. It may
    /// have caused the error if the server refused the request, or if the answer does not fit the
    /// schema. Some local servers answer 500 to fields that they do not know.
    pub(super) fn may_be_at_fault(error: &Error) -> bool {
        match error {
            Error::Refused { status, .. } => matches!(status, 400 | 405 | 415 | 422),
            Error::Unavailable { status, .. } => matches!(status, 500 | 501),
            Error::Answer { defect, .. } => matches!(
                defect,
                Defect::NotJson
                    | Defect::Schema { .. }
                    | Defect::Empty
                    | Defect::Truncated
                    | Defect::TokenLimit
                    | Defect::ToolArguments { .. }
            ),
            _ => false,
        }
    }
}

// === impl Settled ===

impl Settled {
    pub(super) fn get(&self) -> Option<Format> {
        let nth = usize::from(self.found.load(Ordering::Relaxed)).checked_sub(1)?;
        Format::ALL.get(nth).copied()
    }

    pub(super) fn set(&self, format: Format) {
        self.found.store(format.place() + 1, Ordering::Relaxed);
    }

    /// Forgets the format, so that the next call tries the formats again.
    pub(super) fn forget(&self) {
        self.found.store(0, Ordering::Relaxed);
        self.refused.store(0, Ordering::Relaxed);
    }

    /// Records that the server accepted this format, whether or not the answer was usable. Earlier
    /// formats, which the server refused, are not tried again.
    pub(super) fn taken(&self, format: Format) {
        self.refused.store(format.place(), Ordering::Relaxed);
    }

    /// Returns the formats to try, in order, without those that the server refused.
    pub(super) fn candidates(&self) -> &'static [Format] {
        let refused = usize::from(self.refused.load(Ordering::Relaxed));
        Format::ALL.get(refused..).unwrap_or(&Format::ALL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // D11
    fn a_format_is_kept_until_it_is_forgotten() {
        let settled = Settled::default();
        for format in Format::ALL {
            settled.set(format);
            assert_eq!(settled.get(), Some(format));
        }
        settled.taken(Format::JsonObject);
        assert_eq!(settled.candidates(), &Format::ALL[1..]);
        settled.forget();
        assert_eq!(
            (settled.get(), settled.candidates()),
            (None, &Format::ALL[..])
        );
    }
}

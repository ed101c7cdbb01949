//! The events of a stream, and their JSON in each dialect.

use serde_json::{Map, Value, json};

/// The endpoint whose clients read the stream; it determines the format of the events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `POST /chat`: named events whose JSON repeats the name as `type`.
    Concierge,
    /// `POST /api/v1/chat/stream`: JSON with `type` and `content`.
    Widget,
    /// `POST /internal/chat/stream`: frames without an event name, whose JSON has a field `event`.
    Analytics,
}

/// The work that the host does before it can show an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The host reads the text.
    Reading,
    /// The host searches the casino's content.
    Searching,
    /// A person will answer.
    Waiting,
}

/// An event of a stream. It contains only text that has passed every check, never an unchecked
/// draft.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event<'a> {
    /// The first event, with the conversation's id.
    Metadata {
        thread: &'a str,
    },
    /// The status, with a description in the guest's language.
    Status {
        status: Status,
        words: &'a str,
    },
    /// The kind of question that an operator asked: `sql`, `rag` or `general`.
    RouteDecision {
        route: &'a str,
    },
    ToolStart {
        tool: &'a str,
    },
    /// A piece of the reply, which the client appends.
    Token {
        content: &'a str,
    },
    /// The whole reply, which replaces everything shown of it so far.
    Replace {
        content: &'a str,
    },
    /// Categories of the content on which the reply is based.
    Sources {
        sources: &'a [String],
    },
    /// A person takes over. Contains the notice for the guest, and the ticket's number.
    Escalation {
        content: &'a str,
        number: i64,
    },
    /// A problem, with its code and a message for the reader.
    Error {
        code: &'a str,
        message: &'a str,
    },
    /// The last event of an answer. Only the analytics dialect shows the number of tokens.
    Done {
        tokens: u64,
    },
    /// The server shuts down. The client reconnects and loses nothing.
    Bye,
}

// === impl Status ===

impl Status {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reading => "reading",
            Self::Searching => "searching",
            Self::Waiting => "waiting",
        }
    }
}

// === impl Event ===

impl Event<'_> {
    /// Returns the event's name and its JSON in a dialect; `None` if the dialect does not have the
    /// event.
    pub(crate) fn told(&self, dialect: Dialect) -> Option<(&'static str, Value)> {
        match dialect {
            Dialect::Concierge => self.concierge(),
            Dialect::Widget => self.widget(),
            Dialect::Analytics => self.analytics(),
        }
    }

    /// Returns name and JSON in the dialect [`Dialect::Concierge`] (WEB-10).
    fn concierge(&self) -> Option<(&'static str, Value)> {
        let (name, mut fields) = match *self {
            Self::Metadata { thread } => ("metadata", json!({ "thread_id": thread })),
            Self::Status { status, words } => (
                "status",
                json!({ "status": status.as_str(), "content": words }),
            ),
            Self::Token { content } => ("token", json!({ "content": content })),
            Self::Replace { content } => ("replace", json!({ "content": content })),
            Self::Sources { sources } => ("sources", json!({ "sources": sources })),
            Self::Escalation { content, number } => (
                "escalation",
                json!({ "content": content, "ticket": number }),
            ),
            Self::Error { code, message } => ("error", json!({ "code": code, "error": message })),
            Self::Done { .. } => ("done", json!({ "done": true })),
            Self::Bye => ("bye", json!({})),
            Self::RouteDecision { .. } | Self::ToolStart { .. } => return None,
        };
        fields["type"] = name.into();
        Some((name, fields))
    }

    /// Returns name and JSON in the dialect [`Dialect::Widget`] (WID-6). `content` is always a
    /// string, so that a client can append it without a check.
    fn widget(&self) -> Option<(&'static str, Value)> {
        let (name, content, more) = match *self {
            Self::Status { status, words } => {
                ("status", words, Some(("status", json!(status.as_str()))))
            }
            Self::Token { content } => ("token", content, None),
            Self::Replace { content } => ("replace", content, None),
            Self::Sources { sources } => ("sources", "", Some(("sources", json!(sources)))),
            Self::Escalation { content, number } => {
                ("escalation", content, Some(("ticket", json!(number))))
            }
            Self::Error { code, message } => ("error", message, Some(("code", json!(code)))),
            Self::Done { .. } => ("end", "", None),
            Self::Bye => ("bye", "", None),
            Self::Metadata { .. } | Self::RouteDecision { .. } | Self::ToolStart { .. } => {
                return None;
            }
        };
        let mut fields = Map::new();
        fields.insert("type".into(), name.into());
        fields.insert("content".into(), content.into());
        fields.extend(more.map(|(key, value)| (key.to_owned(), value)));
        Some((name, Value::Object(fields)))
    }

    /// Returns name and JSON in the dialect [`Dialect::Analytics`] (SQL-1).
    fn analytics(&self) -> Option<(&'static str, Value)> {
        let (name, mut fields) = match *self {
            Self::RouteDecision { route } => ("route_decision", json!({ "route": route })),
            Self::ToolStart { tool } => ("tool_start", json!({ "tool": tool })),
            Self::Token { content } => ("token", json!({ "channel": "final", "content": content })),
            Self::Error { code, message } => ("error", json!({ "code": code, "error": message })),
            Self::Done { tokens } => ("complete", json!({ "stats": { "tokens": tokens } })),
            Self::Bye => ("bye", json!({})),
            Self::Metadata { .. }
            | Self::Status { .. }
            | Self::Replace { .. }
            | Self::Sources { .. }
            | Self::Escalation { .. } => return None,
        };
        fields["type"] = name.into();
        fields["event"] = name.into();
        Some((name, fields))
    }
}

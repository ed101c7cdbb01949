//! The vocabulary of the streams, and how each dialect writes it.

use serde_json::{Map, Value, json};

/// The endpoint whose clients read the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `POST /chat`: named events whose JSON repeats the name as `type`.
    Concierge,
    /// `POST /api/v1/chat/stream`: JSON with `type` and `content`.
    Widget,
    /// `POST /internal/chat/stream`: frames of data alone, whose JSON has `event`.
    Analytics,
}

/// The work of the host while nothing can be shown yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The text is being read.
    Reading,
    /// The casino's content is being searched.
    Searching,
    /// A person will answer.
    Waiting,
}

/// An event of a stream. Texts are whole sentences that were checked already: nothing of a draft
/// ever stands in one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event<'a> {
    /// The first event: the conversation's id.
    Metadata {
        thread: &'a str,
    },
    /// The status and its words in the guest's language.
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
    /// A piece of the reply, to be appended.
    Token {
        content: &'a str,
    },
    /// The whole reply, in place of what was shown.
    Replace {
        content: &'a str,
    },
    /// Categories of the content that the reply is made from.
    Sources {
        sources: &'a [String],
    },
    /// A person takes over: the notice for the guest, and the ticket's number.
    Escalation {
        content: &'a str,
        number: i64,
    },
    /// A problem, by its code and in words for the reader.
    Error {
        code: &'a str,
        message: &'a str,
    },
    /// The last event of an answer. Only the analytics dialect tells the tokens.
    Done {
        tokens: u64,
    },
    /// The server ends: the client connects again and loses nothing.
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
    /// Returns the event's name and its JSON in a dialect; `None` for an event that the dialect does
    /// not have.
    pub(crate) fn told(&self, dialect: Dialect) -> Option<(&'static str, Value)> {
        match dialect {
            Dialect::Concierge => self.concierge(),
            Dialect::Widget => self.widget(),
            Dialect::Analytics => self.analytics(),
        }
    }

    /// WEB-10.
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

    /// WID-6. The content is a text always, so that a client appends it without looking.
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

    /// SQL-1.
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

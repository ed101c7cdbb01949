//! Writes the messages of a conversation as frames, starting where the client's last stream broke
//! off. This module does no I/O.

use seven_sse::{Cursor, Dialect, Event, frame, tokens};
use seven_store::web::{ReadFrom, WebMessage};

use crate::mutant;

/// The place in the conversation up to which a stream has written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    from: ReadFrom,
    /// Number of bytes of the message `from` that were written. The message's length plus one means
    /// that its sources were written, too.
    offset: usize,
}

impl Place {
    /// The place before the answer to the message that opened the stream.
    pub(crate) const ANSWER: Self = Self {
        from: ReadFrom::Answer,
        offset: 0,
    };

    /// Returns the place after the last frame that the client has.
    pub(crate) fn after(cursor: Cursor) -> Self {
        Self {
            from: ReadFrom::Seq(cursor.seq),
            offset: cursor.offset,
        }
    }

    /// Returns the id of the end of this message. It is the last event id of a client that has the
    /// conversation up to this message.
    pub(crate) fn behind(seq: i64, body: &str) -> String {
        let offset = body.len() + 1;
        Cursor { seq, offset }.to_string()
    }

    pub(crate) fn from(&self) -> ReadFrom {
        self.from
    }

    /// Returns the frames that the messages add, and moves the place to their end.
    pub(crate) fn write(&mut self, dialect: Dialect, messages: &[WebMessage]) -> String {
        let mut frames = String::new();
        let newest = if mutant::shows_newest() {
            1
        } else {
            messages.len()
        };
        let messages = &messages[messages.len().saturating_sub(newest)..];
        for message in messages {
            let written = match self.from {
                ReadFrom::Seq(seq) if message.seq < seq => continue,
                ReadFrom::Seq(seq) if message.seq == seq => self.offset,
                ReadFrom::Seq(_) | ReadFrom::Answer => 0,
            };
            frames.push_str(&of_message(dialect, message, written));
            *self = Self::after(end_of(message));
        }
        frames
    }
}

/// Returns the place after all frames of a message. The sources count as one more byte: a stream
/// that broke off before the sources then resumes with them.
fn end_of(message: &WebMessage) -> Cursor {
    Cursor {
        seq: message.seq,
        offset: message.body.len() + 1,
    }
}

/// Returns the frames of a message that are not yet written: tokens and sources. If the host did
/// not make the message from the casino's content, one frame holds the whole text.
fn of_message(dialect: Dialect, message: &WebMessage, written: usize) -> String {
    let WebMessage {
        seq, body, sources, ..
    } = message;
    let id = |offset| Some(Cursor { seq: *seq, offset });
    let all = end_of(message).offset;
    if written >= all {
        return String::new();
    }
    if !is_generated(message) {
        return frame(dialect, &Event::Replace { content: body }, id(all)).unwrap_or_default();
    }
    let words = tokens(body, written).filter_map(|token| {
        let content = token.content;
        frame(dialect, &Event::Token { content }, id(token.end))
    });
    let sources = frame(dialect, &Event::Sources { sources }, id(all));
    words.chain(sources).collect()
}

/// Returns whether the host made the message from the casino's content. All other messages
/// (greetings, fixed texts, fallbacks, texts of people) are shown whole (WEB-10).
pub(crate) fn is_generated(message: &WebMessage) -> bool {
    let is_turn = message.kind == TURN;
    is_turn && !message.sources.is_empty()
}

/// The `kind` of a message that a turn made.
const TURN: &str = "turn";

/// Returns the route of a message for the concierge's JSON (SUP-25): the turn's intent, or the name
/// of the fixed text.
pub(crate) fn route_of(message: &WebMessage) -> &str {
    match message.kind.as_str() {
        TURN => message.intent.as_deref().unwrap_or(TURN),
        kind => kind,
    }
}

#[cfg(test)]
#[path = "frames_tests.rs"]
mod tests;

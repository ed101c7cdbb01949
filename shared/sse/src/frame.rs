//! Encodes events as frames of a server-sent event stream.

use std::time::Duration;

use crate::{Cursor, Dialect, Event};

/// An SSE comment, which clients ignore. It tells proxies that the stream is alive.
pub const HEARTBEAT: &str = ": \n\n";

/// Returns the frame of an event; `None` if the dialect does not have the event. `id` is the place
/// at which the stream resumes after this event.
pub fn frame(dialect: Dialect, event: &Event<'_>, id: Option<Cursor>) -> Option<String> {
    let (name, mut fields) = event.told(dialect)?;
    // Sorts the keys, so that every build writes the same bytes. The order in which serde_json
    // keeps keys depends on the build's features.
    fields.sort_all_objects();
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    // JSON escapes line breaks, so the data is always one line.
    Some(match dialect {
        Dialect::Concierge | Dialect::Widget => {
            format!("{id}event: {name}\ndata: {fields}\n\n")
        }
        Dialect::Analytics => format!("{id}data: {fields}\n\n"),
    })
}

/// Returns the frame that tells a client how long to wait before it connects again.
pub fn retry(wait: Duration) -> String {
    format!("retry: {}\n\n", wait.as_millis())
}

//! Frames on the wire.

use std::time::Duration;

use crate::{Cursor, Dialect, Event};

/// A comment, which no client shows: proxies see that the stream lives.
pub const HEARTBEAT: &str = ": \n\n";

/// Returns the frame of an event, with the place at which a stream resumes after it; `None` for an
/// event that the dialect does not have.
pub fn frame(dialect: Dialect, event: &Event<'_>, id: Option<Cursor>) -> Option<String> {
    let (name, mut fields) = event.told(dialect)?;
    // The same bytes in every build, whichever order of keys serde_json keeps.
    fields.sort_all_objects();
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    // JSON writes line ends as escapes, so that the data is one line.
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

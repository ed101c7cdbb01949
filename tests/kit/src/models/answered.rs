//! The type of an answer, and a JSON look-up, for the modules of both wire formats.

use serde_json::Value;

/// Returns the string at `pointer` of each list item; items without such a string are skipped.
pub(super) fn strings(list: &Value, pointer: &str) -> Vec<String> {
    let items = list.as_array().map(Vec::as_slice).unwrap_or_default();
    items
        .iter()
        .filter_map(|item| item.pointer(pointer)?.as_str().map(str::to_owned))
        .collect()
}

/// HTTP status and body of an answer.
pub(super) type Answered = (u16, String);

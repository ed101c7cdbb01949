//! How a call of a model is answered.

use serde_json::Value;

/// Strings at `pointer` of every item of a list.
pub(super) fn strings(list: &Value, pointer: &str) -> Vec<String> {
    let items = list.as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(|item| item.pointer(pointer)?.as_str().map(str::to_owned)).collect()
}

/// Status and body of an answer.
pub(super) type Answered = (u16, String);

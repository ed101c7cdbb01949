//! Lists the fields in which two JSON documents differ, so that a person can see what would change.

use std::fmt;

use serde_json::Value;

/// A field that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Path of the field, such as `operational.timezone`.
    pub field: String,
    /// Value before the change; None if the field is new.
    pub before: Option<Value>,
    /// Value after the change; None if the field was removed.
    pub after: Option<Value>,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => write!(f, "~ {}: {before} -> {after}", self.field),
            (Some(before), None) => write!(f, "- {}: {before}", self.field),
            (None, Some(after)) => write!(f, "+ {}: {after}", self.field),
            (None, None) => f.write_str(&self.field),
        }
    }
}

/// Returns the fields that differ, ordered by path. A list counts as one field.
pub fn changes(before: &Value, after: &Value) -> Vec<Change> {
    let mut all = Vec::new();
    compare(String::new(), Some(before), Some(after), &mut all);
    all
}

fn compare(field: String, before: Option<&Value>, after: Option<&Value>, all: &mut Vec<Change>) {
    if let (Some(Value::Object(was)), Some(Value::Object(is))) = (before, after) {
        let names: std::collections::BTreeSet<_> = was.keys().chain(is.keys()).collect();
        for name in names {
            let path = if field.is_empty() {
                name.clone()
            } else {
                format!("{field}.{name}")
            };
            compare(path, was.get(name), is.get(name), all);
        }
    } else if before != after {
        all.push(Change {
            field,
            before: before.cloned(),
            after: after.cloned(),
        });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_field_that_differs_is_told_once() {
        let before = json!({
            "id": "a",
            "hours": { "open": 9, "close": 17 },
            "tags": ["x"],
            "old": true,
            "same": null,
        });
        let after = json!({
            "id": "a",
            "hours": { "open": 9, "close": 18 },
            "tags": ["x", "y"],
            "new": 1,
            "same": null,
        });
        let told: Vec<String> = changes(&before, &after)
            .iter()
            .map(ToString::to_string)
            .collect();
        let expected = [
            "~ hours.close: 17 -> 18",
            "+ new: 1",
            "- old: true",
            r#"~ tags: ["x"] -> ["x","y"]"#,
        ];
        assert_eq!(told, expected);
        assert_eq!(changes(&before, &before), []);
        assert_eq!(changes(&json!(1), &json!({})).len(), 1);
    }
}

//! Errors of tools, in the form in which the model gets them.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// An error, and what the model can do instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: &'static str,
    pub(crate) message: String,
    pub(crate) fix: String,
}

pub(crate) type Answer = Result<Value, Fault>;

impl Fault {
    pub(crate) fn new(
        kind: &'static str,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            message: message.into(),
            fix: fix.into(),
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({"error": {"kind": self.kind, "message": self.message, "fix": self.fix}})
    }
}

/// Parses a tool's arguments. `null` is treated as an empty object.
pub(crate) fn arguments<T: DeserializeOwned>(given: &Value) -> Result<T, Fault> {
    let empty = json!({});
    let given = if given.is_null() { &empty } else { given };
    T::deserialize(given).map_err(|error| {
        // The message may quote the arguments, which is safe because the model itself wrote them.
        let message: String = error.to_string().chars().take(200).collect();
        Fault::new(
            "bad_arguments",
            message,
            "call again with the arguments of the tool's schema",
        )
    })
}

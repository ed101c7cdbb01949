//! Finds the JSON in an answer that a model wrapped in other text: reasoning between `<think>`
//! tags, a code fence, a sentence before or after.

use serde_json::Value;

use super::Defect;

const THOUGHT: &str = "<think>";
const THOUGHT_ENDS: &str = "</think>";

/// Returns the text without the model's reasoning, which some servers leave in the answer. If there
/// is only an end tag, the text before it is reasoning. If there is only a start tag, the text
/// after it is reasoning.
pub(crate) fn without_thoughts(text: &str) -> &str {
    let rest = text
        .rsplit_once(THOUGHT_ENDS)
        .map_or(text, |(_, rest)| rest);
    rest.split(THOUGHT).next().unwrap_or_default().trim()
}

/// Returns the only JSON object in the text.
///
/// # Errors
/// [`Defect::Truncated`] if the last object does not end. [`Defect::NotJson`] if there is no
/// object, or if there are two different ones: nothing says which of them is the answer.
pub(crate) fn object(text: &str) -> Result<Value, Defect> {
    let (mut found, mut rest): (Option<Value>, &str) = (None, text);
    while let Some(start) = rest.find('{') {
        rest = &rest[start..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                rest = &rest[values.byte_offset()..];
                if found.as_ref().is_some_and(|other| *other != value) {
                    return Err(Defect::NotJson);
                }
                found = Some(value);
            }
            Some(Err(error)) if error.is_eof() => return Err(Defect::Truncated),
            _ => rest = &rest[1..],
        }
    }
    found.ok_or(Defect::NotJson)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test] // D11: answers as small and reasoning models write them
    fn one_object_is_found_in_what_surrounds_it() {
        for (text, found) in [
            (r#"{"a": 1}"#, Ok(json!({"a": 1}))),
            ("```json\n{\"a\": 1}\n```", Ok(json!({"a": 1}))),
            (
                "Sure! Here it is: {\"a\": 1} Hope that helps.",
                Ok(json!({"a": 1})),
            ),
            (r#"{"a": 1} {"a": 1}"#, Ok(json!({"a": 1}))),
            (r#"{"a": 1} or rather {"a": 2}"#, Err(Defect::NotJson)),
            (r#"{"a": {"b": "}"}}"#, Ok(json!({"a": {"b": "}"}}))),
            ("Use {braces} so: {\"a\": 1}", Ok(json!({"a": 1}))),
            (r#"{"a": "cut"#, Err(Defect::Truncated)),
            (r#"{"a": 1} {"a":"#, Err(Defect::Truncated)),
            ("[1]", Err(Defect::NotJson)),
            ("PASS", Err(Defect::NotJson)),
            ("", Err(Defect::NotJson)),
        ] {
            assert_eq!(object(text), found, "{text}");
        }
    }

    #[test] // SEC-37: reasoning is for nobody's eyes
    fn reasoning_is_left_out() {
        for (text, rest) in [
            ("Open till 9.", "Open till 9."),
            ("<think>They ask.</think>\nOpen till 9.", "Open till 9."),
            ("They ask.</think>Open till 9.", "Open till 9."),
            ("Open till 9. <think>Was that", "Open till 9."),
            ("<think>a</think>b<think>c</think>d", "d"),
            ("<think>only this", ""),
        ] {
            assert_eq!(without_thoughts(text), rest, "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(text in any::<String>()) {
            let _ = object(&text);
            let _ = without_thoughts(&text);
        }
    }
}

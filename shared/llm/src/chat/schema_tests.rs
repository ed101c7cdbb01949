use serde_json::json;

use super::violation;

#[test] // issue 4.2
fn each_rule_is_told_by_its_name_and_place() {
    let schema = json!({
        "type": "object",
        "properties": {
            "status": { "enum": ["PASS", "RETRY", "FAIL"] },
            "score": { "type": "number", "minimum": 0, "maximum": 1 },
            "party": { "type": ["integer", "null"] },
            "tags": {
                "type": "array",
                "items": { "type": "string", "maxLength": 3 },
                "maxItems": 2,
            },
            "when": { "$ref": "#/$defs/day" },
            "either": { "anyOf": [{ "type": "string" }, { "const": 7 }] },
        },
        "required": ["status"],
        "additionalProperties": false,
        "$defs": {
            "day": {
                "type": "object",
                "required": ["day"],
                "properties": { "day": { "type": "string" } },
            },
        },
    });
    let told =
        |value| violation(&schema, &value).map(|broken| format!("{} {}", broken.at, broken.rule));
    let fits = json!({
        "status": "PASS",
        "score": 1,
        "party": null,
        "tags": ["a"],
        "when": { "day": "x" },
        "either": 7,
    });
    assert_eq!(told(fits), None);
    for (value, expected) in [
        (json!([]), "$ type"),
        (json!({}), "$.status required"),
        (json!({ "status": "MAYBE" }), "$.status enum"),
        (json!({ "status": "PASS", "score": 1.5 }), "$.score maximum"),
        (json!({ "status": "PASS", "party": 2.5 }), "$.party type"),
        (
            json!({ "status": "PASS", "tags": ["a", "long"] }),
            "$.tags[1] maxLength",
        ),
        (
            json!({ "status": "PASS", "tags": ["a", "b", "c"] }),
            "$.tags maxItems",
        ),
        (
            json!({ "status": "PASS", "when": {} }),
            "$.when.day required",
        ),
        (json!({ "status": "PASS", "either": 8 }), "$.either anyOf"),
        (
            json!({ "status": "PASS", "my card is 4111": 1 }),
            "$ additionalProperties",
        ),
    ] {
        assert_eq!(told(value).as_deref(), Some(expected));
    }
}

#[test]
fn references_in_a_circle_end() {
    let schema = json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/a" } } });
    assert_eq!(
        violation(&schema, &json!(1)).map(|broken| broken.rule),
        Some("depth")
    );
    let lost = json!({ "$ref": "#/nowhere" });
    assert_eq!(
        violation(&lost, &json!(1)).map(|broken| broken.rule),
        Some("$ref")
    );
    let tree = json!({ "type": "object", "properties": { "next": { "$ref": "#" } } });
    assert_eq!(violation(&tree, &json!({ "next": { "next": {} } })), None);
}

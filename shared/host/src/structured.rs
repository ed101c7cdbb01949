//! Structured answers of router, planner and validator: the JSON Schema a model is given, and the
//! parsing of its answer.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Manifest, Plan, Route, Verdict, plan::Next};

impl Route {
    /// Returns the JSON Schema of the router's answer; `domain` must be one of the pack's agents.
    pub fn schema(manifest: &Manifest) -> Value {
        let agents: Vec<&String> = manifest.agents.keys().collect();
        json!({
            "type": "object",
            "properties": {
                "subject": {"type": "string", "enum": ["greeting", "off_topic", "domain"]},
                "domain": {"type": "string", "enum": agents},
                "confidence": {"type": "number"}
            },
            "required": ["subject"],
            "additionalProperties": false
        })
    }

    /// Parses the router's answer. Returns `None` if the text is not a route, or if its confidence
    /// is not between 0 and 1: small models sometimes write 10 or 95.
    pub fn parse(json: &str) -> Option<Self> {
        let route: Self = serde_json::from_str(json).ok()?;
        (0.0..=1.0).contains(&route.confidence).then_some(route)
    }
}

impl Plan {
    pub fn schema() -> Value {
        let topics: Vec<&str> = Next::words().collect();
        json!({
            "type": "object",
            "properties": {
                "next_topic": {"type": "string", "enum": topics},
                "extraction_targets": {"type": "array", "items": {"type": "string"}},
                "offer_readiness": {"type": "number"},
                "conversation_note": {"type": "string"},
                "sentiment": {
                    "type": "string",
                    "enum": ["positive", "neutral", "cautious", "negative"],
                },
                "reciprocity": {"type": "boolean"}
            },
            "required": ["next_topic", "offer_readiness", "sentiment"],
            "additionalProperties": false
        })
    }
}

#[derive(Deserialize)]
struct Judgement {
    status: Status,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    confidence: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Status {
    Pass,
    Retry,
    Fail,
}

impl Verdict {
    pub fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "status": {"type": "string", "enum": ["PASS", "RETRY", "FAIL"]},
                "reason": {"type": "string"},
                "confidence": {"type": "number", "minimum": 0, "maximum": 1}
            },
            "required": ["status"],
            "additionalProperties": false
        })
    }

    /// Returns the verdict, and the judge's confidence in the draft, from 0 to 1, if it gave one.
    /// Returns `None` if the text is not a verdict; the reply is then treated as not judged.
    pub fn parse(json: &str) -> Option<(Self, Option<f64>)> {
        let judged: Judgement = serde_json::from_str(json).ok()?;
        let verdict = match judged.status {
            Status::Pass => Self::Pass,
            Status::Retry => Self::Retry(judged.reason),
            Status::Fail => Self::Fail(judged.reason),
        };
        let given = judged.confidence;
        Some((verdict, given.filter(|given| (0.0..=1.0).contains(given))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // AGENT-57, AGENT-58, SEC-35, SEC-37, WID-12
    fn a_verdict_is_one_of_three() {
        for (json, verdict) in [
            (r#"{"status":"PASS"}"#, Some(Verdict::Pass)),
            (
                r#"{"status":"RETRY","reason":"too long"}"#,
                Some(Verdict::Retry("too long".into())),
            ),
            (
                r#"{"status":"FAIL","reason":""}"#,
                Some(Verdict::Fail(String::new())),
            ),
            (r#"{"status":"pass"}"#, None),
            (r#"{"status":"PASS""#, None),
            ("PASS", None),
        ] {
            let parsed = Verdict::parse(json).map(|(verdict, _)| verdict);
            assert_eq!(parsed, verdict, "{json}");
        }
        for (text, confidence) in [
            (",\"confidence\":0.69", Some(0.69)),
            ("", None),
            (",\"confidence\":7", None),
        ] {
            let parsed = Verdict::parse(&format!("{{\"status\":\"PASS\"{text}}}"));
            assert_eq!(parsed, Some((Verdict::Pass, confidence)), "{text}");
        }
    }

    #[test] // AGENT-8
    fn a_confidence_beyond_its_range_is_no_route() {
        let route = |confidence: &str| {
            Route::parse(&format!(
                r#"{{"subject": "domain", "confidence": {confidence}}}"#
            ))
        };
        assert!(route("0.4").is_some() && route("1").is_some());
        assert!(route("10").is_none() && route("-0.1").is_none());
    }

    #[test] // AGENT-49: what the schema names, the plan reads
    fn every_topic_of_the_schema_is_a_plan() {
        for topic in Plan::schema()["properties"]["next_topic"]["enum"]
            .as_array()
            .unwrap()
        {
            let json = json!({"next_topic": topic, "offer_readiness": 0.5, "sentiment": "neutral"});
            assert!(Plan::parse(&json.to_string()).is_ok(), "{topic}");
        }
    }
}

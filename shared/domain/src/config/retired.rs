//! Fields of the casino's document that nothing reads any more. This release accepts them with a
//! warning; the next one refuses them.

use serde::{Deserialize, Deserializer, de::IgnoredAny};

/// The value of a retired field: accepts any value and keeps none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retired;

/// The names of the retired fields, as paths in the document.
const NAMES: [&str; 13] = [
    "features.whisper_planner_enabled",
    "features.spanish_support_enabled",
    "prompts.greeting_template",
    "prompts.greeting_template_es",
    "rag",
    "limits.breaker_failures",
    "limits.breaker_window_seconds",
    "limits.breaker_cooldown_seconds",
    "operational.escalation_slack_channel",
    "operational.escalation_sms_number",
    "operations_contact",
    "experiments",
    "regulations.ai_disclosure_law",
];

impl<'de> Deserialize<'de> for Retired {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(from).map(|_| Self)
    }
}

/// Returns the retired fields that a document contains.
pub fn retired(document: &serde_json::Value) -> Vec<&'static str> {
    let is_there = |name: &&str| {
        document
            .pointer(&format!("/{}", name.replace('.', "/")))
            .is_some()
    };
    NAMES.into_iter().filter(is_there).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CasinoConfig;

    #[test] // DATA-37
    fn a_document_of_before_is_taken_and_loses_what_nobody_reads() {
        let before = serde_json::json!({
            "casino_id": "silver_birch",
            "features": {
                "whisper_planner_enabled": true,
                "spanish_support_enabled": false,
                "comp_agent_enabled": false,
            },
            "prompts": { "greeting_template": "hi", "greeting_template_es": null },
            "rag": { "top_k": 5, "min_relevance_score": 0.4 },
            "limits": {
                "breaker_failures": 5,
                "breaker_window_seconds": 60,
                "breaker_cooldown_seconds": 300,
            },
            "experiments": { "greeting": { "a": 0.5, "b": 0.5 } },
            "regulations": { "state": "CT", "ai_disclosure_law": null },
            "operational": {
                "timezone": "America/New_York", "telnyx_phone_number": "+18605550100",
                "contact_phone": "1-860-555-0199", "number_kind": "demo",
                "escalation_slack_channel": "#hosts", "escalation_sms_number": "+18605550198",
            },
            "operations_contact": { "email": "host-desk@example.com" },
        });
        assert_eq!(retired(&before), NAMES);
        let config: CasinoConfig = serde_json::from_value(before).unwrap();
        assert!(!config.features.comp_agent_enabled);
        let after = serde_json::to_value(&config).unwrap();
        assert!(retired(&after).is_empty(), "{after}");
    }
}

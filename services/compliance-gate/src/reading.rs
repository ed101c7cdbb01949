//! What a text means, told on its span.

use seven_compliance::{Decision, Verdict};
use seven_packs::Pack;
use seven_telemetry::trace;

use crate::handler::Text;

/// The reading of the text, with the names of what it hit on its span (OBS-2). Consent and guardrails are never sampled away (PROD-7, OBS-3).
pub(crate) fn judge(pack: &Pack, text: &Text) -> Decision {
    let mut step = trace::step("seven.node.compliance_gate", "");
    let decision = pack.guardrails().decide(&text.body);
    if step.is_recorded() {
        step.set("seven.verdict", decision.verdict.as_str());
        step.set("seven.message_length", text.body.chars().count());
        let hits: Vec<String> = decision.hits.iter().map(|hit| hit.pattern_id.clone()).collect();
        let first = decision.hits.first().map_or("none", |hit| hit.layer.as_str());
        step.set("seven.guardrail_triggered", first);
        step.set("seven.guardrail.hits", hits);
        if let Some(keyword) = &decision.keyword {
            step.tell("seven.keyword", &keyword.pattern_id);
        }
    }
    if matters(&decision) {
        trace::keep();
    }
    decision
}

/// A trace that is kept whatever is sampled.
pub(crate) fn matters(decision: &Decision) -> bool {
    decision.keyword.is_some() || !decision.hits.is_empty() || !matches!(decision.verdict, Verdict::Pass)
}

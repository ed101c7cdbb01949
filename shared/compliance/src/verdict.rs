//! The judgement of a text, as ingress, the gate and `seven gate check` use it.

use serde::Serialize;

use crate::{
    guardrails::{Guardrails, Hit},
    keywords::Keyword,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// An ordinary text, which goes to the agents.
    Pass,
    Keyword(Keyword),
    /// The most serious hit, which decides the answer; [`crate::Decision::hits`] has all of them.
    Guardrail(Hit),
}

impl Verdict {
    /// Returns `pass`, the keyword's intent, or the guardrail's layer.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Keyword(keyword) => keyword.intent.as_str(),
            Self::Guardrail(hit) => hit.layer.as_str(),
        }
    }
}

/// Returns the verdict of [`Guardrails::decide`] alone.
pub fn verdict(text: &str, guardrails: &Guardrails) -> Verdict {
    guardrails.decide(text).verdict
}

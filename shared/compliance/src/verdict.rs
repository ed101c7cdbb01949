//! The judgement of a text that ingress, gate and `seven gate check` share.

use serde::Serialize;

use crate::{
    guardrails::{Guardrails, Hit},
    keywords::Keyword,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// An ordinary text, for the agents.
    Pass,
    Keyword(Keyword),
    /// The most serious hit, which decides the answer; [`crate::Decision::hits`] has them all.
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

/// Returns only the verdict of [`Guardrails::decide`].
pub fn verdict(text: &str, guardrails: &Guardrails) -> Verdict {
    guardrails.decide(text).verdict
}

//! The one answer ingress, gate and `seven gate check` share on what a text is.

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
    /// The one to answer; [`crate::Decision::hits`] has them all.
    Guardrail(Hit),
}

impl Verdict {
    /// `pass`, the keyword's intent, or the guardrail's layer.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Keyword(keyword) => keyword.intent.as_str(),
            Self::Guardrail(hit) => hit.layer.as_str(),
        }
    }
}

/// [`Guardrails::decide`], for those who need no more.
pub fn verdict(text: &str, guardrails: &Guardrails) -> Verdict {
    guardrails.decide(text).verdict
}

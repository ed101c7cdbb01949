//! The one answer ingress, gate and `seven gate check` share on what a text is.

use serde::Serialize;

use crate::{
    guardrails::{Guardrails, Hit},
    keywords::{Keyword, classify},
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// An ordinary text, for the agents.
    Pass,
    Keyword(Keyword),
    /// The most serious of the hits; [`Guardrails::evaluate`] has them all.
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

/// A keyword stands before every guardrail: nothing may come between a guest and STOP (D7). A crisis text that also opts
/// out still has its hits in [`Guardrails::evaluate`]; the gate answers those first, then suppresses (C-21).
pub fn verdict(text: &str, guardrails: &Guardrails) -> Verdict {
    match classify(text) {
        Some(keyword) => Verdict::Keyword(keyword),
        None => guardrails.evaluate(text).into_iter().next().map_or(Verdict::Pass, Verdict::Guardrail),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::guardrails::{Layer, tests::Word};
    use proptest::prelude::*;

    #[test]
    fn names() {
        let none = Guardrails::default();
        for (text, expected) in [
            ("What time is dinner?", "pass"),
            ("", "pass"),
            ("STOP", "opt_out"),
            ("please stop texting me", "opt_out"),
            ("start", "opt_in"),
            ("Ayuda", "help"),
            ("Sí", "affirm"),
            ("privacy", "privacy"),
            ("DELETE", "delete"),
        ] {
            assert_eq!(verdict(text, &none).as_str(), expected, "{text:?}");
        }
    }

    #[test]
    fn stop_stands_before_every_guardrail() {
        // D7, C-21
        let rails = Guardrails::new(vec![Arc::new(Word("cash", Layer::BsaAml)), Arc::new(Word("die", Layer::Crisis))]);
        assert_eq!(verdict("I want to die, take cash", &rails).as_str(), "crisis");
        assert_eq!(verdict("cash only?", &rails).as_str(), "bsa_aml");
        assert_eq!(verdict("stop texting me, I want to die", &rails).as_str(), "opt_out");
        assert_eq!(rails.evaluate("stop texting me, I want to die")[0].layer, Layer::Crisis);
    }

    proptest! {
        #[test]
        fn total_on_any_text(text in any::<String>()) {
            let name = verdict(&text, &Guardrails::default()).as_str();
            prop_assert!(["pass", "opt_out", "opt_in", "help", "affirm", "privacy", "delete"].contains(&name));
        }
    }
}
